"""Definitions are counted once for a told set, and a few again at each turn."""

from __future__ import annotations

from tests.builders import MAIL, READ, TOOLS, tool
from toolkit.selectors.costs import costs
from toolkit.tool import definition_text


def test_where_nobody_counts_a_quarter_of_the_letters_stands_for_tokens() -> None:
    cost = costs(TOOLS, lambda name: 7 if name == READ.name else 0)
    assert cost.of([READ.name, MAIL.name]) == 7 + len(definition_text(MAIL)) // 4
    assert cost["mcp.gone.x"] == 0


def test_a_tool_is_counted_once_for_a_host_and_a_few_again_at_each_turn() -> None:
    many = tuple(tool(f"builtin.t{number:02}") for number in range(50))
    asked: list[str] = []
    count = 7

    def tokens(name: str) -> int:
        asked.append(name)
        return count

    for turns in range(3):
        assert costs(many, tokens).of([one.name for one in many]) == 350
        assert len(asked) == 50 + 8 * turns
    count = 8
    assert costs(many, tokens).of([one.name for one in many]) == 400
