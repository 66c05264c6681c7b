"""The fold: what becomes of every recorded call, and what searching for it costs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import (
    BRANCH,
    LOG,
    MAIL,
    READ,
    SELECTORS,
    call,
    event,
    fates,
    queries,
    replayed,
    said,
    session,
    tool,
    turn,
)
from tests.strategies import sessions
from toolkit import Catalog, Selection
from toolkit.errors import UnknownNameError
from toolkit.replaying import prepare, replay
from toolkit.replaying.trace import Trace
from toolkit.session import Event, Session

RANDOM = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def one_call(name: str = BRANCH.name, words: str = "create a branch", **more: Any) -> Session:
    return session(turn("please", said(words, call(name))), **more)


def test_a_declared_call_is_served_without_a_search() -> None:
    assert fates(replayed(one_call(), "all")) == [(BRANCH.name, "served")]
    assert queries(replayed(one_call(), "all")) == []


def test_a_searchable_call_gets_a_search_before_its_pass() -> None:
    search, recorded = replayed(one_call(), "lazy").passes()
    assert search.is_search and BRANCH.name in search.answer
    assert [(made.fate, made.tries) for made in recorded.calls] == [("searched", 1)]


def test_up_to_three_tries_each_cost_a_pass() -> None:
    said_before = turn("hello", said("zzz"))
    trace = replayed(session(said_before, turn("qqq", said("xxx", call(BRANCH.name)))), "lazy")
    assert queries(trace) == ["xxx", "qqq", "zzz"]
    assert fates(trace) == [(BRANCH.name, "missed")]
    assert [made.tries for one in trace.passes() for made in one.calls] == [3]


def test_trying_ends_with_the_first_answer_that_holds_the_tool() -> None:
    trace = replayed(session(turn("create a branch", said("xxx", call(BRANCH.name)))), "lazy")
    assert queries(trace) == ["xxx", "create a branch"]


def test_a_found_tool_is_not_searched_twice_in_a_turn() -> None:
    again = session(turn("create a branch", said("", call(BRANCH.name)), said("", call(BRANCH.name))))
    trace = replayed(again, "lazy")
    assert len(queries(trace)) == 1
    assert [fate for _, fate in fates(trace)] == ["searched", "searched"]


def test_a_found_tool_is_searched_again_in_the_next_turn() -> None:
    one = turn("create a branch", said("", call(BRANCH.name)))
    assert len(queries(replayed(session(one, one), "lazy"))) == 2


def test_an_answer_that_was_read_in_this_turn_is_not_asked_for_again() -> None:
    twice = turn("qqq", said("xxx", call(BRANCH.name)), said("", call(LOG.name)), said("show the log", call(LOG.name)))
    trace = replayed(session(twice, turn("qqq", said("", call(LOG.name)))), "lazy")
    assert queries(trace) == ["xxx", "qqq", "show the log", "qqq", "show the log"]
    assert [fate for _, fate in fates(trace)] == ["missed", "missed", "searched", "searched"]


@pytest.mark.parametrize("of", [event("compaction"), event("server_up", server="git"), event("policy", policy={})])
def test_a_query_is_asked_anew_after_a_compaction_or_a_change(of: Event) -> None:
    again = turn("qqq", said("", call(BRANCH.name)), said("", call(BRANCH.name), events=(of,)))
    assert queries(replayed(session(again), "lazy")) == ["qqq", "qqq"]


def test_a_tool_that_an_answer_held_beside_the_wanted_one_needs_no_search_either() -> None:
    trace = replayed(
        session(turn("create a branch and show the log", said("", call(BRANCH.name), call(LOG.name)))), "lazy"
    )
    assert len(queries(trace)) == 1
    assert [fate for _, fate in fates(trace)] == ["searched", "searched"]


def test_a_withheld_call_is_blocked_and_nothing_is_searched() -> None:
    trace = replayed(one_call(), "builtin-only")
    assert fates(trace) == [(BRANCH.name, "blocked")]
    assert queries(trace) == []


def test_a_call_to_a_tool_that_nobody_defines_is_blocked() -> None:
    assert fates(replayed(one_call("mcp.gone.nothing"), "all")) == [("mcp.gone.nothing", "blocked")]


def test_tools_around_the_recorded_ones_are_offered_and_can_be_found() -> None:
    around = Catalog([tool("mcp.sea.tide_table", "Tides of a harbour.")])
    recorded = session(turn("tide table of the harbour", said("", call("mcp.sea.tide_table"))))
    assert fates(replayed(recorded, "lazy", around)) == [("mcp.sea.tide_table", "searched")]
    assert fates(replayed(recorded, "lazy")) == [("mcp.sea.tide_table", "blocked")]


def test_a_defer_pattern_flags_what_it_matches() -> None:
    assert fates(replayed(one_call(), "deferred")) == [(BRANCH.name, "served")]
    assert fates(replayed(one_call(), "deferred", defer=("mcp.git.*",))) == [(BRANCH.name, "searched")]


def test_rule_s1_costs_no_selector_trip_and_a_selector_costs_one_a_turn() -> None:
    recorded = session(turn("a", said("x")), turn("b", said("y")))
    assert [one.selector_trips for one in replayed(recorded, "deferred").turns] == [0, 0]
    assert [one.selector_trips for one in replayed(recorded, "lazy").turns] == [1, 1]


def test_a_selector_that_raises_falls_back_to_rule_s1_and_says_why() -> None:
    def broken(visible: Any, host: Any) -> Any:
        raise ValueError("no idea")

    (only,) = replayed(one_call(), broken).turns
    assert "selector_failed" in only.notices
    assert "ValueError: no idea" in only.details[0]
    assert LOG.name in only.offer.searchable.by_name


def test_a_selector_never_sees_the_recorded_calls_of_its_turn() -> None:
    seen = []

    def watching(visible: Any, host: Any) -> Selection:
        seen.append((host.turn_input, [(one.input, one.calls) for one in host.earlier]))
        return Selection([one.name for one in visible])

    replayed(session(turn("a", said("", call(READ.name))), turn("b", said("", call(MAIL.name)))), watching)
    assert seen == [("a", []), ("b", [("a", (READ.name,))])]


def test_a_call_and_the_search_for_it_in_one_pass_count_once() -> None:
    recorded = session(turn("create a branch", said("", call(BRANCH.name), call(BRANCH.name))))
    trace = replayed(recorded, "lazy")
    assert [made.tries for one in trace.passes() for made in one.calls] == [1, 0]


def test_a_recorded_call_by_wire_name_is_the_tools_own_call() -> None:
    recorded = session(turn("create a branch", said("", call("mcp__git__create_branch"))))
    assert [fates(replayed(recorded, one))[0][1] for one in ("all", "oracle", "lazy")] == [
        "served",
        "served",
        "searched",
    ]


@RANDOM
@given(sessions(), st.sampled_from(SELECTORS))
def test_every_recorded_call_has_one_fate_and_searches_are_left_out(recorded: Session, selector: str) -> None:
    trace = replayed(recorded, selector)
    expected = [made.name for one in prepare(recorded).turns for step in one.passes for made in step.calls]
    assert [name for name, _ in fates(trace)] == expected
    for one in trace.turns:
        assert sum(one.fates.values()) == sum(len(step.calls) for step in one.passes)
        assert one.comparable == (one.passes != () and one.fates["missed"] + one.fates["blocked"] == 0)


@RANDOM
@given(sessions())
def test_the_oracle_serves_every_call_that_is_offered_and_never_searches(recorded: Session) -> None:
    oracle, everything = replayed(recorded, "oracle"), replayed(recorded, "all")
    assert queries(oracle) == []
    assert fates(oracle) == fates(everything)
    declared = [set(one.offer.declared.by_name) for one in oracle.turns]
    assert all(names <= set(made.called) for names, made in zip(declared, prepare(recorded).turns, strict=True))


@RANDOM
@given(sessions(), st.sampled_from(["lazy", "deferred", "all"]))
def test_a_search_pass_holds_no_calls_and_is_followed_by_the_pass_it_is_for(recorded: Session, selector: str) -> None:
    for one in replayed(recorded, selector).turns:
        for search, after in zip(one.passes, one.passes[1:], strict=False):
            assert not search.is_search or (search.calls == () and after.pass_no == search.pass_no)
        assert not one.passes or not one.passes[-1].is_search


def without_events(one: Any) -> Any:
    from dataclasses import replace

    return replace(one, events=(), passes=tuple(replace(step, events=()) for step in one.passes))


@RANDOM
@given(sessions(), sessions(), st.sampled_from(["all", "lazy", "deferred", "builtin-only"]), st.integers(0, 3))
def test_changing_later_turns_changes_no_earlier_decision(a: Session, b: Session, selector: str, keep: int) -> None:
    past = a.turns[:keep]
    later = tuple(map(without_events, b.turns))
    one = replayed(session(*past, *map(without_events, a.turns[keep:]), tools=a.catalog), selector)
    other = replayed(session(*past, *later, tools=a.catalog), selector)
    assert decisions(one)[:keep] == decisions(other)[: len(past)][:keep]


def decisions(trace: Trace) -> list[Any]:
    return [
        (list(one.offer.declared.by_name), list(one.offer.searchable.by_name), one.passes, one.notices)
        for one in trace.turns
    ]


def test_replaying_twice_gives_the_same_trace() -> None:
    recorded = one_call()
    assert decisions(replayed(recorded, "lazy")) == decisions(replayed(recorded, "lazy"))


def test_an_unknown_selector_fails_before_anything_runs() -> None:
    with pytest.raises(UnknownNameError, match="'lazy'"):
        replay(one_call(), "lazzy")


def test_the_face_replays_a_session() -> None:
    import toolkit

    assert toolkit.replay is replay
    assert toolkit.replay(one_call(), "all").system == "all"
    assert repr(replay(one_call(), "all")) == "Trace('s', all, 1 turns, 0 search trips, 1 served, 0 missed, 0 blocked)"
