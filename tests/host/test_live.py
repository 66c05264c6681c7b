"""Turns, steps and passes as a live host drives them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from toolkit.engine import Answer, HostView
from toolkit.host import Host
from toolkit.tool import SEARCH, Tool


def test_a_step_without_an_id_gets_one_that_the_turn_never_had() -> None:
    turn = Host([Tool("builtin.read")]).start_turn("look")
    first, second = turn.start_step(), turn.start_step()
    first.end()
    third = turn.start_step()
    assert len({first.id, second.id, third.id, third.start_step().id}) == 4


def test_a_selector_is_told_how_many_requests_an_earlier_turn_took_and_how_long_the_history_is() -> None:
    seen: list[HostView] = []

    def watch(visible: object, host: HostView) -> tuple[list[str], list[str]]:
        seen.append(host)
        return [], []

    host = Host([Tool("builtin.read")], watch)
    turn = host.start_turn("look")
    turn.start_pass()
    turn.start_step().start_pass()
    host.start_turn("again", 120)
    assert [view.history_tokens for view in seen] == [0, 0, 120]
    assert seen[-1].earlier[0].passes == 2


MANY = [Tool(f"mcp.m.t{number:02}", deferred=True) for number in range(30)]


def searched(answer: Callable[..., Any], limit: int = 5) -> tuple[Host, Any]:
    host = Host([Tool("builtin.read"), *MANY], retriever=answer)
    turn = host.start_turn("look")
    host.set_policy({"mcp.m.t00": "deny"})
    return host, turn.start_pass().search("anything", limit)


def boom(query: str, searchable: Any, declared: Any, limit: int) -> Answer:
    raise SystemExit(3)


@pytest.mark.parametrize(
    "answer",
    [
        lambda query, searchable, declared, limit: None,
        lambda query, searchable, declared, limit: Answer((("mcp.m.t01", "best"),)),  # type: ignore[arg-type]
        lambda query, searchable, declared, limit: Answer(None),  # type: ignore[arg-type]
        boom,
    ],
)
def test_q8_an_answer_that_is_none_is_a_failed_search_and_nothing_is_found(answer: Callable[..., Any]) -> None:
    host, verdict = searched(answer)
    assert verdict.code == "search_failed" and not host.state.spans[""].found


def test_q8_only_searchable_tools_visible_now_count_and_limit_of_them() -> None:
    names = ["mcp.m.t00", "builtin.read", SEARCH, "nowhere", *(tool.name for tool in MANY), "mcp.m.t01"]
    host, verdict = searched(lambda query, searchable, declared, limit: Answer(tuple((name, 1.0) for name in names)), 3)
    assert verdict.names == ("mcp.m.t01", "mcp.m.t02", "mcp.m.t03") == tuple(host.state.spans[""].found)


def test_a_searchers_notice_stands_once_in_the_next_turns() -> None:
    host, _ = searched(lambda query, searchable, declared, limit: Answer(notices=("semantic_unavailable",)))
    assert host.start_turn().notices == ("semantic_unavailable",) and host.start_turn().notices == ()


@pytest.mark.parametrize(
    ("tool", "left_out"),
    [
        (Tool("ui.show", source="builtin"), True),
        (Tool("ui_hide", source="builtin"), True),
        (Tool("tools_search", source="core"), True),
        (Tool("tools.search", source="builtin"), True),
        (Tool("ui.show"), False),
    ],
    ids=str,
)
def test_v5_a_tool_of_the_host_that_takes_a_core_name_is_left_out(tool: Tool, left_out: bool) -> None:
    notices = Host([tool]).start_turn().notices
    assert notices == ((f"reserved_name:{tool.name}",) if left_out else ())
