"""Recorded events act on a replay as `docs/semantics.md` says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, READ, call, event, fates, queries, replayed, said, session, tool, turn
from toolkit.session import Event, Session
from toolkit.tool import Catalog


def offered(recorded: Session, selector: str = "all") -> list[set[str]]:
    return [set(one.offer.declared.by_name) for one in replayed(recorded, selector).turns]


def between(*events: Event) -> Session:
    """Two turns that call the same git tool, with events at the second's boundary."""
    one = turn("create a branch", said("", call(BRANCH.name)))
    return session(one, turn("create a branch", said("", call(BRANCH.name)), events=events))


def amid(*events: Event) -> Session:
    """One turn of two passes that call the same git tool, with events before the second, and a turn after it."""
    passes = said("", call(BRANCH.name)), said("", call(BRANCH.name), events=events)
    return session(turn("create a branch", *passes), turn("again", said("", call(BRANCH.name))))


def kinds(recorded: Session, selector: str = "all") -> list[str]:
    return [fate for _, fate in fates(replayed(recorded, selector))]


def test_a_hide_takes_effect_at_the_boundary_h5() -> None:
    hide = event("hide", extension="a", patterns=["mcp.git.*"])
    assert kinds(between(hide)) == ["served", "blocked"]
    assert kinds(amid(hide)) == ["served", "served", "blocked"]


def test_a_show_lifts_the_own_hide_and_no_others_h3() -> None:
    hide = event("hide", extension="a", patterns=["mcp.git.*"])
    own, other = (event("show", extension=one, patterns=["mcp.git.*"]) for one in ("a", "b"))
    assert kinds(between(hide, own)) == ["served", "served"]
    assert kinds(between(hide, other)) == ["served", "blocked"]


def test_an_unloaded_extensions_hides_go_with_it_h7() -> None:
    hide = event("hide", extension="a", patterns=["mcp.git.*"])
    assert kinds(between(hide, event("unload", extension="a"))) == ["served", "served"]


def test_a_denial_counts_at_once_b3() -> None:
    deny = event("policy", policy={"mcp.git.*": "deny"})
    assert kinds(amid(deny)) == ["served", "blocked", "blocked"]
    assert BRANCH.name in offered(amid(deny))[0]
    assert BRANCH.name not in offered(amid(deny))[1]


def test_a_tool_that_needs_confirmation_is_served_v3() -> None:
    assert kinds(between(event("policy", policy={"*": "ask"}))) == ["served", "served"]


def test_a_scope_narrows_v2() -> None:
    assert kinds(between(event("scope", patterns=["builtin.*"]))) == ["served", "blocked"]
    assert kinds(between(event("scope", patterns=["builtin.*"]), event("scope", patterns=None))) == ["served", "served"]


def test_a_server_that_went_down_leaves_the_offer_at_the_boundary_b4() -> None:
    down = event("server_down", server="git")
    declared = offered(amid(down))
    assert BRANCH.name in declared[0] and BRANCH.name not in declared[1]


def test_a_searchable_tool_of_a_server_that_went_down_is_missed_b4() -> None:
    down = event("server_down", server="git")
    recorded = session(turn("create a branch", said("", call(BRANCH.name), events=(down,))))
    trace = replayed(recorded, "lazy")
    assert [fate for _, fate in fates(trace)] == ["missed"]
    assert all(BRANCH.name not in one.answer for one in trace.passes())


def test_a_server_that_is_back_serves_again() -> None:
    down, up = (event(kind, server="git") for kind in ("server_down", "server_up"))
    assert kinds(between(down, up)) == ["served", "served"]


def test_a_tool_that_is_added_later_is_not_there_before() -> None:
    first, second = offered(between(event("tools_changed", added=[BRANCH.name])))
    assert BRANCH.name not in first and BRANCH.name in second


def test_a_tool_that_is_added_with_its_definition_can_be_called() -> None:
    new = {"name": "mcp.git.blame", "description": "Who wrote it.", "input_schema": {"type": "object"}}
    one = turn("who wrote it", said("", call("mcp.git.blame")), events=(event("tools_changed", added=[new]),))
    assert fates(replayed(session(one), "all")) == [("mcp.git.blame", "served")]


def test_a_removed_tool_is_gone_and_its_neighbours_stay() -> None:
    first, second = offered(between(event("tools_changed", removed=[BRANCH.name])))
    assert first - second == {BRANCH.name}


def test_a_changed_definition_waits_for_the_boundary_b6() -> None:
    new = {"name": BRANCH.name, "description": "Another text.", "input_schema": {"type": "object"}}
    trace = replayed(amid(event("tools_changed", changed=[new])), "all")
    told = [one.offer.declared.by_name[BRANCH.name].description for one in trace.turns]
    assert told == [BRANCH.description, "Another text."]
    assert f"schema_changed_in_turn:{BRANCH.name}" in trace.turns[1].notices


BLAME = {"name": "mcp.git.blame", "description": "Who wrote it."}


@pytest.mark.parametrize(
    "brings",
    [
        {"added": [BRANCH.name, BLAME]},
        {"added": [BRANCH.name, {**BLAME, "deferred": False}]},
        {"source": "mcp:git", "tools": [{"name": BRANCH.name}, BLAME]},
        {"changed": [{"name": BRANCH.name, "description": "Another text."}, BLAME]},
    ],
)
def test_every_tool_of_a_deferred_server_is_deferred_whenever_it_comes_k2(brings: dict[str, Any]) -> None:
    recorded = between(event("tools_changed", **brings))
    offer = replayed(recorded, "deferred", defer=["mcp.git.*"]).turns[1].offer
    assert {BRANCH.name, "mcp.git.blame"} <= set(offer.searchable.by_name)
    assert {BRANCH.name, "mcp.git.blame"} <= set(replayed(recorded, "deferred").turns[1].offer.declared.by_name)


def test_a_host_that_defers_by_itself_defers_what_comes_later() -> None:
    recorded = between(event("tools_changed", added=[BLAME]))
    offer = replayed(recorded, "deferred", profile="codex-first").turns[1].offer
    assert BLAME["name"] in offer.declared.by_name, "too few tools"
    around = [tool(f"mcp.sea.t{n}") for n in range(100)]
    offer = replayed(recorded, "deferred", Catalog(around), profile="codex-first").turns[1].offer
    assert BLAME["name"] in offer.searchable.by_name


def test_a_compaction_undoes_no_search_q9() -> None:
    trace = replayed(amid(event("compaction")), "lazy")
    assert queries(trace)[0] == "create a branch"
    assert [fate for _, fate in fates(trace)][:2] == ["searched", "searched"]
    assert sum(one.is_search for one in trace.turns[0].passes) == 1


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (event("moved"), "unknown event 'moved'"),
        (event("hide", extension="a"), "missing required field `patterns`"),
        (event("hide", extension="a", patterns="mcp.*"), "Expected `array`, got `str`"),
        (event("policy", policy={"*": "perhaps"}), "Invalid enum value 'perhaps'"),
        (event("server_down"), "missing required field `server`"),
        (event("tools_changed", added=[{"description": "no name"}]), "missing required field `name`"),
        (event("tools_changed", added=[7]), "tools_changed"),
        (event("policy", policy=3), "policy"),
        (event("scope", patterns=5), "scope"),
        (event("server_down", server=["a"]), "server_down"),
    ],
)
def test_an_event_that_cannot_be_read_is_reported_and_the_replay_goes_on(bad: Event, says: str) -> None:
    told: list[tuple[str, str]] = []
    trace = replayed(between(bad), "all", report=lambda code, message: told.append((code, message)))
    assert [code for code, _ in told] == ["bad_event"]
    assert says in told[0][1]
    assert [fate for _, fate in fates(trace)] == ["served", "served"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "mcp.*", READ.name, LOG.name, "deny"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["name", "a", MAIL.name]), inner, max_size=2)
    ),
    max_leaves=4,
)
KEYS = st.sampled_from(["extension", "patterns", "policy", "of", "added", "removed", "changed", "server"])
TYPES = st.sampled_from(
    ["hide", "show", "unload", "policy", "scope", "tools_changed", "server_down", "server_up", "compaction", "?"]
)


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(TYPES, st.dictionaries(KEYS, JSON, max_size=4))
def test_no_event_body_whatever_it_holds_ends_a_replay(type: str, body: dict[str, Any]) -> None:
    trace = replayed(between(Event(type, {"type": type, **body})), "lazy", report=lambda code, message: None)
    assert len(trace.turns) == 2
