"""What is worked out of a told set is worked out once for a tuple, and never for a list, which may change."""

from __future__ import annotations

from typing import Any

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS, tool
from toolkit.selectors.told import Kept, costs, told
from toolkit.tool import Tool, definition_text


def test_the_same_tuple_is_looked_at_once_and_a_list_each_time() -> None:
    assert told(TOOLS) is told(TOOLS)
    assert told(list(TOOLS)) is not told(list(TOOLS))


def test_names_are_in_canonical_order_whatever_order_they_came_in() -> None:
    core = Tool("tools.search", source="core")
    expected = ("tools.search", READ.name, BRANCH.name, LOG.name, MAIL.name)
    assert told((*TOOLS[::-1], core)).names == told((core, *TOOLS)).names == expected


def test_tools_stand_by_source_without_core_tools() -> None:
    found = told((Tool("tools.search", source="core"), *TOOLS)).by_source
    assert found == {"builtin": (READ.name,), "mcp:git": (BRANCH.name, LOG.name), "mcp:mail": (MAIL.name,)}


def test_patterns_match_whole_names_each_once() -> None:
    assert told(TOOLS).matching(("mcp.git.*", "mcp.*_log", "nothing")) == (BRANCH.name, LOG.name)


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


def test_the_oldest_goes_first_and_what_is_kept_is_found_by_identity() -> None:
    made: list[Any] = []
    kept: Kept[int] = Kept(lambda one: made.append(one) or len(made), size=2)
    first, second, third = [1], [1], [3]
    assert [kept(first), kept(second), kept(first), kept(third), kept(first), kept(second)] == [1, 2, 1, 3, 1, 4]
