"""Hand-written expectations, each named after its rule of `docs/semantics.md`, for every engine in `ENGINES`.

An engine is `make(config, selectors, rank)` with `apply(event) -> outcome`; add yours to `ENGINES`. Expectations
keep to what the text says; doubtful readings are in `naive.py` (`READING`) and are not asserted here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from tests.engine.naive import SEARCH, Event, NaiveEngine, Outcome, Rank, Tool
from tests.engine.worlds import (
    ILLEGAL,
    SELECTORS,
    MakeEngine,
    Run,
    apply,
    check_invariants,
    check_replay,
    comparable,
    first_difference,
    play,
    runs,
    tool,
    word_rank,
)
from toolkit.testing.driver import Driver

ENGINES: list[tuple[str, MakeEngine]] = [("naive", NaiveEngine), ("reference", Driver)]
CASES = Path(__file__).resolve().parents[3] / "shared" / "cases" / "open_cases.jsonl"

READ = tool("builtin.read", "builtin")
WRITE = tool("builtin.write", "builtin")
OPEN = tool("mcp.sea.open", "mcp:sea", deferred=True)
LOG = tool("mcp.sea.log", "mcp:sea", deferred=True)
SHIP = tool("mcp.dock.ship", "mcp:dock")
PLUG = tool("ext.e.plug", "extension:e")
BAY = {"type": "object", "properties": {"bay": {"type": "integer"}, "mode": {"enum": ["slow"]}}, "required": ["bay"]}
ALL = [READ, WRITE, OPEN, LOG, SHIP, PLUG]


class Play:
    """A session in few words."""

    def __init__(
        self, make: MakeEngine, tools: list[Tool] | None = None, rank: Rank = word_rank, **config: Any
    ) -> None:
        plain: dict[str, Any] = {"scope": None, "policy": [], "selector": None, "ui": False, "same_pass": "refuse"}
        self.engine = make({"tools": ALL if tools is None else tools, **plain, **config}, SELECTORS, rank)

    def do(self, op: str, **more: Any) -> Outcome:
        return apply(self.engine, {"op": op, **more})

    def turn(self) -> Outcome:
        outcome = self.do("turn", input="")
        self.do("pass", step=None)
        return outcome

    def next_pass(self, step: str | None = None) -> None:
        self.do("pass", step=step)

    def step(self, name: str, parent: str | None = None, scope: list[str] | None = None) -> Outcome:
        outcome = self.do("step", id=name, parent=parent, scope=scope)
        self.next_pass(name)
        return outcome

    def hide(self, *patterns: str, by: str = "e") -> None:
        self.do("hide", extension=by, patterns=list(patterns))

    def show(self, *patterns: str, by: str = "e") -> None:
        self.do("show", extension=by, patterns=list(patterns))

    def scope(self, *patterns: str, of: str = "session") -> None:
        self.do("scope", of=of, patterns=list(patterns))

    def policy(self, *rules: tuple[str, str]) -> None:
        self.do("policy", policy=[list(rule) for rule in rules])

    def changed(self, source: str, *tools: Tool) -> None:
        self.do("tools_changed", source=source, tools=list(tools))

    def search(self, query: Any, step: str | None = None, **more: Any) -> Outcome:
        return self.do("search", step=step, query=query, **more)

    def call(self, name: str, step: str | None = None, **arguments: Any) -> str:
        outcome = self.do("call", step=step, name=name, arguments=arguments)
        return f"{outcome['verdict']}/{outcome['reads']}"

    def find(self, name: str, step: str | None = None) -> None:
        assert self.search(name, step, limit=1)["hits"] == [name]
        self.next_pass(step)


@pytest.fixture(params=[make for _, make in ENGINES], ids=[name for name, _ in ENGINES])
def make(request: pytest.FixtureRequest) -> MakeEngine:
    engine: MakeEngine = request.param
    return engine


def offered(outcome: Outcome) -> set[str]:
    return {*outcome["declared"], *outcome["searchable"]}


# --- 2 visible set ---


def test_v1_scope_and_policy_narrow(make: MakeEngine) -> None:
    play = Play(make, scope=["builtin.*", "mcp.sea.*"], policy=[["*.write", "deny"]])
    assert offered(play.turn()) == {"builtin.read", "mcp.sea.open", "mcp.sea.log", SEARCH}


def test_v1_search_needs_no_scope(make: MakeEngine) -> None:
    assert Play(make, scope=["mcp.sea.open"]).turn()["declared"] == [SEARCH]


def test_v2_a_role_only_narrows(make: MakeEngine) -> None:
    play = Play(make, scope=["builtin.read"])
    play.scope("builtin.*", of="role")
    assert offered(play.turn()) == {"builtin.read"}


def test_v3_ask_is_visible_and_asks_at_the_call(make: MakeEngine) -> None:
    play = Play(make, policy=[["builtin.read", "ask"]])
    assert "builtin.read" in play.turn()["declared"]
    assert play.call("builtin.read").startswith("ask/")


@pytest.mark.parametrize(
    ("pattern", "kept"),
    [
        ("mcp.*", {"mcp.a/b", "mcp.x"}),
        ("mcp.?", {"mcp.x"}),
        ("[mn]cp.x", {"mcp.x", "ncp.x"}),
        ("[!m]cp.x", {"ncp.x"}),
        ("MCP.*", set()),
        ("mcp", set()),
        ("a+b", {"a+b"}),
        ("*/b", {"mcp.a/b"}),
    ],
)
def test_v4_globs(make: MakeEngine, pattern: str, kept: set[str]) -> None:
    tools = [tool(name, "builtin") for name in ["mcp.a/b", "mcp.x", "ncp.x", "a+b", "aab"]]
    assert offered(Play(make, tools, scope=[pattern]).turn()) == kept


def test_v4_a_pattern_applies_to_later_tools_and_is_reported_once(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("mcp.late.*")
    assert play.turn()["notices"] == ["unmatched_pattern:mcp.late.*"]
    play.changed("mcp:late", tool("mcp.late.x", "mcp:late"))
    second = play.turn()
    assert "mcp.late.x" not in offered(second) and second["notices"] == []


@pytest.mark.parametrize("name", ["tools.search", "tools_search", "ui.show", "ui_hide"])
def test_v5_reserved_names(make: MakeEngine, name: str) -> None:
    outcome = Play(make, [READ, tool(name, "mcp:rogue")]).turn()
    assert outcome["declared"] == ["builtin.read"] and outcome["notices"] == [f"reserved_name:{name}"]


def test_v5_names_are_exact(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert [play.call(name) for name in ["Builtin.read", "builtin-read"]] == ["unknown_tool/unknown_tool"] * 2


def test_v6_a_call_by_wire_name(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert play.call("builtin__read") == "ok/ok"


def test_v7_builtin_first_then_code_point_then_listed(make: MakeEngine) -> None:
    tools = [tool("x", "mcp:b", description="b"), tool("x", "mcp:a", description="a1"),
             tool("x", "mcp:a", description="a2")]  # fmt: skip
    outcome = Play(make, tools).turn()
    assert "a1" in str(outcome["definitions"]["x"]) and outcome["notices"] == ["duplicate_name:x"]
    outcome = Play(make, [*tools, tool("x", "builtin", description="own")]).turn()
    assert "own" in str(outcome["definitions"]["x"])


def test_v7_the_holder_stays(make: MakeEngine) -> None:
    play = Play(make, [tool("x", "mcp:b", description="b")])
    play.turn()
    play.changed("mcp:a", tool("x", "mcp:a", description="a"))
    assert "b" in str(json.loads(text(play.turn()["definitions"]["x"]))["description"])


def test_v7_wire_clash_and_empty_name(make: MakeEngine) -> None:
    outcome = Play(make, [tool("a__b", "mcp:s"), tool("a.b", "mcp:s"), tool("", "mcp:s")]).turn()
    assert outcome["declared"] == ["a.b"]
    assert {notice.rstrip(":") for notice in outcome["notices"]} == {"duplicate_name:a__b", "invalid_name"}


def test_v8_no_scope_empty_scope_and_last_policy_match(make: MakeEngine) -> None:
    assert len(offered(Play(make).turn())) == len(ALL) + 1
    assert offered(Play(make, scope=[]).turn()) == set()
    play = Play(make, policy=[["*", "deny"], ["builtin.*", "allow"], ["builtin.write", "deny"]])
    assert offered(play.turn()) == {"builtin.read"}


# --- 3 hide and show ---


def test_h2_last_word_of_one_extension(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("mcp.*", "builtin.read")
    play.show("mcp.sea.log")
    assert offered(play.turn()) == {"builtin.write", "mcp.sea.log", "ext.e.plug", SEARCH}


def test_h3_show_lifts_only_own_hides(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("builtin.read", by="e")
    play.turn()
    play.show("builtin.read", by="f")
    outcome = play.turn()
    assert "builtin.read" not in offered(outcome)
    assert outcome["notices"] == ["show_no_effect:builtin.read"]
    play.show("builtin.read", by="e")
    outcome = play.turn()
    assert "builtin.read" in offered(outcome) and outcome["notices"] == []


def test_h4_show_of_the_excluded_changes_nothing(make: MakeEngine) -> None:
    play = Play(make, policy=[["builtin.read", "deny"]])
    play.show("builtin.read")
    assert "builtin.read" not in offered(play.turn())
    play.policy()
    assert "builtin.read" in offered(play.turn())


def test_h5_h8_a_hide_waits_for_the_boundary(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.hide("builtin.read", "mcp.sea.open")
    assert play.call("builtin.read") == "ok/ok"
    play.find("mcp.sea.open")
    assert play.call("mcp.sea.open") == "ok/ok"
    assert offered(play.turn()).isdisjoint({"builtin.read", "mcp.sea.open"})
    assert play.call("builtin.read") == "not_offered/unknown_tool"


def test_h6_hidden_is_not_found_and_not_offered(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("mcp.sea.open")
    play.turn()
    assert play.search("mcp.sea.open")["hits"] == ["mcp.sea.log"]
    play.next_pass()
    assert play.call("mcp.sea.open") == "not_offered/unknown_tool"


def test_h7_unload_takes_hides_along_at_the_boundary(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("builtin.read", by="f")
    play.turn()
    play.do("unload", extension="f")
    assert play.call("builtin.read") == "not_offered/unknown_tool"
    assert "builtin.read" in offered(play.turn())


def test_h8_hide_and_show_net_out(make: MakeEngine) -> None:
    play = Play(make)
    first = play.turn()
    play.hide("builtin.*")
    play.show("builtin.*")
    assert comparable(play.turn()) == comparable(first)


# --- 4 turn boundaries ---


def test_b3_denied_in_mid_turn(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.find("mcp.sea.open")
    play.policy(("mcp.sea.open", "deny"), ("builtin.read", "deny"))
    assert play.search("mcp.sea.open")["hits"] == ["mcp.sea.log"]
    assert play.call("mcp.sea.open") == "denied/denied"
    assert play.call("builtin.read") == "denied/denied"


def test_b3_scope_narrowed_in_mid_turn_reads_unknown(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.scope("mcp.*")
    assert play.call("builtin.read") == "denied/unknown_tool"


def test_b3_b8_a_widening_waits(make: MakeEngine) -> None:
    play = Play(make, policy=[["builtin.read", "deny"]])
    play.turn()
    play.policy()
    assert play.call("builtin.read") == "denied/unknown_tool"
    play.turn()
    assert play.call("builtin.read") == "ok/ok"


def test_b4_a_server_that_goes_and_comes_back(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.do("server_down", server="dock")
    assert play.call("mcp.dock.ship") == "unavailable/unavailable"
    play.do("server_up", server="dock")
    assert play.call("mcp.dock.ship") == "ok/ok"
    play.do("server_down", server="dock")
    assert "mcp.dock.ship" not in offered(play.turn())
    assert play.call("mcp.dock.ship").endswith("/unknown_tool")


def test_b4_a_searchable_tool_that_is_gone(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.find("mcp.sea.open")
    play.changed("mcp:sea", LOG)
    assert play.search("mcp.sea.open")["hits"] == ["mcp.sea.log"]
    assert play.call("mcp.sea.open") == "unavailable/unavailable"
    play.changed("mcp:sea", OPEN, LOG)
    assert play.call("mcp.sea.open") == "ok/ok"


def test_b4_tools_of_an_unloaded_extension(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.do("unload", extension="e")
    assert play.call("ext.e.plug") == "unavailable/unavailable"
    play.turn()
    assert play.call("ext.e.plug") == "unknown_tool/unknown_tool"


def test_b5_canonical_order(make: MakeEngine) -> None:
    play = Play(make, [tool("b", "builtin"), tool("a", "mcp:z"), tool("B", "builtin"), OPEN], ui=True, selector="all")
    assert play.turn()["declared"] == ["ui.hide", "ui.show", "B", "a", "b", "mcp.sea.open"]


def text(definition: Any) -> str:
    return definition if isinstance(definition, str) else json.dumps(definition)


def test_b6_equal_definitions_keep_their_bytes(make: MakeEngine) -> None:
    play = Play(make)
    first = play.turn()["definitions"]
    schema = {key: SHIP["input_schema"][key] for key in reversed(SHIP["input_schema"])}
    play.changed("mcp:dock", {**SHIP, "input_schema": schema})
    outcome = play.turn()
    assert text(outcome["definitions"]["mcp.dock.ship"]) == text(first["mcp.dock.ship"])
    assert outcome["notices"] == []


def test_b6_a_changed_definition_waits(make: MakeEngine) -> None:
    play = Play(make, [{**SHIP, "input_schema": BAY}])
    play.turn()
    play.changed("mcp:dock", {**SHIP, "input_schema": {**BAY, "required": ["quay"]}})
    assert play.call("mcp.dock.ship", bay=1) == "ok/ok"
    assert play.turn()["notices"] == ["schema_changed_in_turn:mcp.dock.ship"]
    assert play.call("mcp.dock.ship", bay=1) == "invalid_arguments/invalid_arguments"
    assert play.turn()["notices"] == []


def test_b7_resume_changes_nothing(make: MakeEngine) -> None:
    play = Play(make)
    first = play.turn()
    play.find("mcp.sea.open")
    play.do("resume")
    assert play.call("mcp.sea.open") == "ok/ok"
    assert comparable(play.turn()) == comparable(first)


def test_b8_denied_and_allowed_again(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.policy(("*", "deny"))
    play.policy(("builtin.write", "ask"))
    assert play.call("builtin.read") == "ok/ok"
    assert play.call("builtin.write").startswith("ask/")


def test_b9_events_that_the_state_does_not_allow(make: MakeEngine) -> None:
    play = Play(make)
    call: Event = {"op": "call", "step": None, "name": "builtin.read", "arguments": {}}
    illegal: list[Event] = [call, {"op": "search", "step": None, "query": "x"}, {"op": "pass", "step": None}]
    illegal += [{"op": "step", "id": "s", "parent": None, "scope": None}, {**call, "step": "s"}]
    assert [apply(play.engine, event) for event in illegal] == [ILLEGAL] * 5
    play.do("turn", input="")
    assert apply(play.engine, call) == ILLEGAL
    play.next_pass()
    assert play.call("builtin.read") == "ok/ok"
    play.do("end_turn")
    assert apply(play.engine, call) == ILLEGAL


# --- 5 selectors ---


def test_s1_default(make: MakeEngine) -> None:
    outcome = Play(make).turn()
    assert outcome["declared"] == [SEARCH, "builtin.read", "builtin.write", "ext.e.plug", "mcp.dock.ship"]
    assert outcome["searchable"] == ["mcp.sea.log", "mcp.sea.open"]
    assert outcome["selector_trips"] == 0 and outcome["withheld"] == [] and outcome["notices"] == []


def test_s2_b2_a_selector_change_waits_and_counts_once(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.do("selector", selector="all")
    assert play.step("s")["selector_trips"] == 0
    outcome = play.turn()
    assert outcome["selector_trips"] == 1 and outcome["searchable"] == [] and SEARCH not in outcome["declared"]
    assert play.step("s")["selector_trips"] == 1


def test_s3_unknown_doubled_and_on_both(make: MakeEngine) -> None:
    outcome = Play(make, selector="unknown").turn()
    assert set(outcome["notices"]) == {"selector_unknown_name:no.such_tool", "selector_unknown_name:mcp.sea.ghost"}
    outcome = Play(make, [READ, WRITE, OPEN], selector="both-lists").turn()
    assert outcome["declared"] == [SEARCH, "builtin.read", "builtin.write"] and outcome["searchable"] == [
        "mcp.sea.open"
    ]
    outcome = Play(make, [READ, WRITE, OPEN], selector="duplicates").turn()
    assert outcome["declared"] == [SEARCH, "builtin.read"]
    assert outcome["searchable"] == ["builtin.write", "mcp.sea.open"]


def test_s3_withheld_is_neither_told_nor_found(make: MakeEngine) -> None:
    play = Play(make, ALL, selector="builtin-only")
    assert play.turn()["withheld"] == ["ext.e.plug", "mcp.dock.ship", "mcp.sea.log", "mcp.sea.open"]
    assert play.search("mcp.sea.open")["verdict"] == "not_offered"
    assert play.call("mcp.sea.open") == "not_offered/unknown_tool"


def test_s5_search_is_declared_iff_something_is_searchable(make: MakeEngine) -> None:
    assert SEARCH in Play(make, selector="search-all").turn()["declared"]
    outcome = Play(make, selector="nothing").turn()
    assert outcome["declared"] == [] and SEARCH not in outcome["withheld"]


@pytest.mark.parametrize("how", ["deny", "hide"])
def test_s5_no_tool_is_stranded(make: MakeEngine, how: str) -> None:
    play = Play(make, policy=[["tools.*", "deny"]] if how == "deny" else [])
    if how == "hide":
        play.hide("tools.search")
    outcome = play.turn()
    assert len(outcome["declared"]) == len(ALL) and outcome["searchable"] == []
    assert outcome["notices"] == ["search_unavailable"]
    assert play.call("mcp.sea.open") == "ok/ok"
    verdict = play.search("open")["verdict"]
    assert verdict == {"deny": "denied", "hide": "not_offered"}[how]


def test_s6_ui_tools_are_deferred(make: MakeEngine) -> None:
    assert Play(make, [READ], ui=True).turn()["searchable"] == ["ui.hide", "ui.show"]
    assert Play(make, [READ]).turn()["declared"] == ["builtin.read"]


@pytest.mark.parametrize("selector", sorted(n for n in SELECTORS if n.startswith("returns-") or n == "raising"))
def test_s7_a_failing_selector_falls_back(make: MakeEngine, selector: str) -> None:
    outcome, plain = Play(make, selector=selector).turn(), Play(make).turn()
    assert (outcome["declared"], outcome["searchable"]) == (plain["declared"], plain["searchable"])
    assert outcome["notices"] == ["selector_failed"] and outcome["selector_trips"] == 1


def test_s8_an_unregistered_selector_fails_at_start(make: MakeEngine) -> None:
    with pytest.raises(Exception, match="lazy"):
        Play(make, selector="lasy")


def test_s9_lazy(make: MakeEngine) -> None:
    outcome = Play(make, ui=True, selector="lazy").turn()
    assert outcome["declared"] == [SEARCH, "builtin.read", "builtin.write"]
    assert "ui.show" in outcome["searchable"] and "mcp.dock.ship" in outcome["searchable"]


# --- 6 search ---


def test_q1_q6_found_from_the_next_pass_until_the_turn_ends(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert play.call("mcp.sea.open") == "not_found_yet/not_found_yet"
    play.find("mcp.sea.open")
    assert play.call("mcp.sea.open") == "ok/ok"
    assert play.call("mcp__sea__open") == "ok/ok"
    play.turn()
    assert play.call("mcp.sea.open") == "not_found_yet/not_found_yet"


def test_q1_beyond_the_limit_is_not_found(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert play.search("sea open", limit=1)["hits"] == ["mcp.sea.open"]
    play.next_pass()
    assert play.call("mcp.sea.log") == "not_found_yet/not_found_yet"


def test_q3_read_only_first_then_code_point(make: MakeEngine) -> None:
    tools = [tool(f"mcp.s.t{n}", "mcp:s", True, annotations={"readOnlyHint": n in (3, 4)}) for n in (5, 4, 3, 2, 1)]
    play = Play(make, tools)
    play.turn()
    assert play.search("mcp")["hits"] == ["mcp.s.t3", "mcp.s.t4", "mcp.s.t1", "mcp.s.t2", "mcp.s.t5"]


@pytest.mark.parametrize(
    "query", ["fetch_page", "MCP.web.Fetch-Page", "mcp__web__fetch_page", "to fetch_page now", "fetch page"]
)
def test_q4_a_whole_name_comes_first(make: MakeEngine, query: str) -> None:
    names = ["mcp.to.fetch_now_web", "mcp.web.fetch_page", "mcp.to.now_page_web_fetch_mcp"]
    play = Play(make, [tool(name, f"mcp:{name.split('.')[1]}", True) for name in names])
    play.turn()
    assert play.search(query)["hits"][0] == "mcp.web.fetch_page"


def test_q4_plain_words_in_a_longer_query_name_nothing(make: MakeEngine) -> None:
    play = Play(make, [tool("mcp.web.fetch", "mcp:web", True), tool("mcp.web.get_page_now", "mcp:web", True)])
    play.turn()
    assert play.search("fetch get page now")["hits"][0] == "mcp.web.get_page_now"


def test_q4_no_match_inside_a_word(make: MakeEngine) -> None:
    play = Play(make, [tool("mcp.web.log", "mcp:web", True)])
    play.turn()
    assert play.search("catalogue")["hits"] == []


@pytest.mark.parametrize(("query", "limit"), [("", 5), (" \n", 5), (3, 5), (None, 5), ("x", 0), ("x", -2), ("x", "3"),
                                              ("x", True), ("x", 1.5)])  # fmt: skip
def test_q5_invalid_arguments(make: MakeEngine, query: Any, limit: Any) -> None:
    play = Play(make)
    play.turn()
    outcome = play.search(query, limit=limit)
    assert (outcome["verdict"], outcome["reads"], outcome["hits"]) == ("invalid_arguments", "invalid_arguments", [])


def test_q5_default_limit_clamp_and_empty_answer(make: MakeEngine) -> None:
    play = Play(make, [tool(f"mcp.s.t{n:02}", "mcp:s", True) for n in range(30)])
    play.turn()
    assert len(play.search("mcp")["hits"]) == 5
    outcome = play.search("mcp", limit=1000)
    assert len(outcome["hits"]) == 20 and outcome["matched"] == 30
    outcome = play.search("zzz")
    assert (outcome["verdict"], outcome["hits"], outcome["matched"]) == ("ok", [], 0)


def test_q7_search_and_call_in_one_pass(make: MakeEngine) -> None:
    play, lenient = Play(make), Play(make, same_pass="allow")
    for one, verdict in ((play, "not_found_yet/not_found_yet"), (lenient, "ok/ok")):
        one.turn()
        assert one.call("mcp.sea.open") == "not_found_yet/not_found_yet"
        one.search("mcp.sea.open")
        assert one.call("mcp.sea.open") == verdict


def test_q8_a_failed_search_finds_nothing(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    outcome = play.search("boom mcp.sea.open")
    assert (outcome["verdict"], outcome["reads"], outcome["hits"]) == ("search_failed", "search_failed", [])
    play.next_pass()
    assert play.call("mcp.sea.open") == "not_found_yet/not_found_yet"
    assert play.call("builtin.read") == "ok/ok"


def test_q9_searches_add_up_over_a_compaction(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.search("mcp.sea.open", limit=1)
    play.search("mcp.sea.log", limit=1)
    play.do("compaction")
    play.next_pass()
    assert [play.call("mcp.sea.open"), play.call("mcp.sea.log")] == ["ok/ok"] * 2


def test_q10_matched_declared_matches_and_down(make: MakeEngine) -> None:
    play = Play(make)
    play.do("server_down", server="dock")
    play.do("server_down", server="unheard")
    play.turn()
    outcome = play.search("sea read", limit=1)
    assert outcome["matched"] == 2 and "builtin.read" in outcome["declared_matches"]
    assert outcome["down"] == ["dock", "unheard"]


def test_q10_down_only_within_the_callers_scope(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.do("server_down", server="dock")
    play.do("server_down", server="unheard")
    play.step("in", scope=["mcp.*"])
    play.step("out", scope=["mcp.sea.*"])
    assert play.search("x", step="in")["down"] == ["dock"]
    assert play.search("x", step="out")["down"] == []
    assert play.search("x")["down"] == ["dock", "unheard"]


def test_q10_down_hidden_and_denied_servers_are_not_told(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("mcp.dock.*")
    play.do("server_down", server="dock")
    play.turn()
    assert play.search("x")["down"] == []


# --- 7 calls ---


def test_c1_order_denied_before_hidden_before_gone(make: MakeEngine) -> None:
    play = Play(make)
    play.hide("builtin.read")
    play.turn()
    play.policy(("builtin.read", "deny"))
    assert play.call("builtin.read") == "denied/unknown_tool"
    play.do("server_down", server="sea")
    assert play.call("mcp.sea.open") == "unavailable/unavailable"


def test_c1_arguments_before_ask(make: MakeEngine) -> None:
    play = Play(make, [{**READ, "input_schema": BAY}], policy=[["*", "ask"]])
    play.turn()
    assert play.call("builtin.read") == "invalid_arguments/invalid_arguments"
    assert play.call("builtin.read", bay=1).startswith("ask/")


SCHEMA_TABLE: list[tuple[Any, dict[str, Any], bool]] = [
    (None, {"x": 1}, True),
    (True, {"x": 1}, True),
    ({"type": "object", "required": ["a"]}, {}, False),
    ({"properties": {"a": {"type": "integer"}}}, {"a": True}, False),
    ({"properties": {"a": {"type": "number"}}}, {"a": 1}, True),
    ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, True),
    ({"properties": {"a": {"enum": [1, "x"]}}}, {"a": "x"}, True),
    ({"properties": {"a": {"enum": [1, "x"]}}}, {"a": True}, False),
    ({"properties": {"a": {"const": {"b": 1}}}}, {"a": {"b": 2}}, False),
    ({"properties": {"a": {}}, "additionalProperties": False}, {"b": 1}, False),
    ({"additionalProperties": {"type": "string"}}, {"b": 1}, False),
    ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, {"a": ["x", 1]}, False),
    ({"properties": {"a": {"anyOf": [{"type": "string"}, {"minimum": 5}]}}}, {"a": 4}, False),
    ({"properties": {"a": {"oneOf": [{"type": "number"}, {"type": "integer"}]}}}, {"a": 1}, False),
    ({"allOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}, False),
    ({"properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {"type": "string"}}}, {"a": 1}, False),
    ({"properties": {"a": {"$ref": "#"}}, "required": ["n"]}, {"n": 1, "a": {"n": 1}}, True),
    ({"properties": {"a": {"$ref": "#"}}, "required": ["n"]}, {"n": 1, "a": {}}, False),
    ({"properties": {"a": {"minimum": 1, "maximum": 3}}}, {"a": 3.5}, False),
    ({"properties": {"a": {"minLength": 2}}}, {"a": "x"}, False),
    ({"properties": {"a": {"maxItems": 1}}}, {"a": [1, 2]}, False),
]


@pytest.mark.parametrize(("schema", "arguments", "valid"), SCHEMA_TABLE)
def test_c1_arguments(make: MakeEngine, schema: Any, arguments: dict[str, Any], valid: bool) -> None:
    play = Play(make, [{**READ, "input_schema": schema}])
    play.turn()
    outcome = play.do("call", step=None, name="builtin.read", arguments=arguments)
    assert outcome["verdict"] == ("ok" if valid else "invalid_arguments")


@pytest.mark.parametrize("part", [{"type": "strange"}, {"$ref": "#/gone"}, {"$ref": "http://x/y"}, {"type": 7}])
def test_c5_the_unreadable_accepts_anything(make: MakeEngine, part: dict[str, Any]) -> None:
    play = Play(make, [{**READ, "input_schema": {"properties": {"a": part}}}])
    play.turn()
    values: list[Any] = [1, "x", [], None]
    assert [play.call("builtin.read", a=value) for value in values] == ["ok/ok"] * 4


def test_c2_a_change_between_calls_of_one_pass(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert play.call("builtin.read") == "ok/ok"
    play.policy(("builtin.read", "deny"))
    assert play.call("builtin.read") == "denied/denied"


def test_c1_a_tool_that_came_in_mid_turn_is_unknown(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.changed("mcp:dock", SHIP, tool("mcp.dock.bell", "mcp:dock"))
    assert play.call("mcp.dock.bell") == "unknown_tool/unknown_tool"
    assert "mcp.dock.bell" in offered(play.turn())


def test_c1_tools_search_by_call(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert play.call("tools_search", query="mcp.sea.open") == "ok/ok"
    play.next_pass()
    assert play.call("mcp.sea.open") == "ok/ok"


# --- 8 steps ---


def test_a1_a_step_narrows_and_has_its_own_offer(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    assert offered(play.step("s", scope=["mcp.sea.open", "builtin.read"])) == {"mcp.sea.open", "builtin.read", SEARCH}
    assert offered(play.step("t", parent="s", scope=["builtin.*"])) == {"builtin.read"}
    assert play.search("sea", step="s")["hits"] == ["mcp.sea.open"]
    assert play.call("builtin.write", step="s") == "denied/unknown_tool"


def test_a2_found_sets_are_apart(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.find("mcp.sea.open")
    play.step("s")
    play.step("t")
    assert play.call("mcp.sea.open", step="s") == "not_found_yet/not_found_yet"
    play.find("mcp.sea.log", step="s")
    assert play.call("mcp.sea.log", step="s") == "ok/ok"
    play.next_pass()
    play.next_pass("t")
    assert play.call("mcp.sea.log") == play.call("mcp.sea.log", step="t") == "not_found_yet/not_found_yet"


def test_a3_a_step_takes_catalog_and_hides_of_the_boundary(make: MakeEngine) -> None:
    play = Play(make)
    main = play.turn()
    play.hide("builtin.read")
    play.changed("mcp:dock", SHIP, tool("mcp.dock.bell", "mcp:dock"))
    assert offered(play.step("s")) == offered(main)


def test_a3_b8_a_step_starts_with_what_is_permitted_then_and_now(make: MakeEngine) -> None:
    play = Play(make, policy=[["builtin.read", "deny"]])
    play.turn()
    play.policy(("builtin.write", "deny"))
    assert offered(play.step("s")).isdisjoint({"builtin.read", "builtin.write"})


def test_a3_a_step_ends_with_its_parent(make: MakeEngine) -> None:
    play = Play(make)
    play.turn()
    play.step("s")
    play.step("t", parent="s")
    play.do("end_step", id="s")
    assert play.do("pass", step="s") == play.do("pass", step="t") == ILLEGAL
    play.step("u")
    play.turn()
    assert play.do("pass", step="u") == ILLEGAL


# --- 12 notices ---


def test_12_what_arises_stands_once(make: MakeEngine) -> None:
    play = Play(make, [READ, READ, tool("ui_show", "mcp:s")], scope=["builtin.*", "zzz"])
    assert set(play.turn()["notices"]) == {
        "duplicate_name:builtin.read",
        "reserved_name:ui_show",
        "unmatched_pattern:zzz",
    }
    assert play.turn()["notices"] == []


# --- 11 invariants ---

QUIET = settings(
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.explicit, Phase.generate),
)


@pytest.mark.parametrize("make_one", [make for _, make in ENGINES], ids=[name for name, _ in ENGINES])
@QUIET
@given(run=runs(big=False))
def test_invariants_in_random_worlds(make_one: MakeEngine, run: Run) -> None:
    history = play(make_one, run)
    check_invariants(history)
    check_replay(make_one, history)


@pytest.mark.parametrize("make_one", [make for _, make in ENGINES], ids=[name for name, _ in ENGINES])
@settings(QUIET, max_examples=25)
@given(run=runs(most=30, big=True))
def test_invariants_in_big_worlds(make_one: MakeEngine, run: Run) -> None:
    history = play(make_one, run)
    check_invariants(history)
    assert make_one is NaiveEngine or first_difference(play(NaiveEngine, run), history) is None


@pytest.mark.parametrize("make_one", [make for _, make in ENGINES[1:]], ids=[name for name, _ in ENGINES[1:]])
@settings(QUIET, max_examples=250)
@given(run=runs(big=False))
def test_same_as_naive_in_random_worlds(make_one: MakeEngine, run: Run) -> None:
    assert first_difference(play(NaiveEngine, run), play(make_one, run)) is None


# --- the lifecycle cases from public reports ---


def lifecycle_cases() -> list[dict[str, Any]]:
    if not CASES.exists():
        return []
    with CASES.open(encoding="utf-8") as lines:
        return [case for case in map(json.loads, lines) if case["kind"] == "lifecycle"]


READS = {"ok": "ok", "not_found_yet": "rejected:not_found_this_turn", "unavailable": "failed:unavailable"}


def named(case: dict[str, Any]) -> list[Tool]:
    """Return the case's tools as an engine's: of a doubled name, `mcp.<server>.<name>`."""
    given = [one for one in case["catalog"] if not one.get("core")]
    names = [one["name"] for one in given]
    tools = []
    for one in given:
        name, server = one["name"], one.get("server")
        full = f"mcp.{server}.{name}" if names.count(name) > 1 else name
        tools.append({**one, "name": full, "source": f"mcp:{server}" if server else "builtin",
                      "deferred": one["state"] != "declared", "annotations": {}})  # fmt: skip
    return tools


def text_rank(tools: list[Tool]) -> Rank:
    """Return a ranker over names and descriptions."""
    texts = {one["name"]: f"{one['name']} {one['description']}" for one in tools}

    def rank(query: str, names: list[str]) -> list[tuple[str, float]]:
        score = dict(word_rank(query, [texts.get(name, name) for name in names]))
        return [(name, score[texts.get(name, name)]) for name in names if texts.get(name, name) in score]

    return rank


def play_case(make: MakeEngine, case: dict[str, Any]) -> tuple[dict[str, Outcome], list[Outcome], dict[str, Outcome]]:
    """Return the outcomes of its calls, of its turns, and the last offer of each agent."""
    policy = [[name, "deny"] for name in case.get("disable", [])]
    tools = named(case)
    session = Play(make, tools, text_rank(tools), scope=case.get("allow"), policy=policy)
    hidden = [one["name"] for one in case["catalog"] if one["state"] == "hidden"]
    for extension, patterns in {"case": hidden, **case.get("hide", {})}.items():
        session.hide(*patterns, by=extension)
    for server in case.get("servers", {}):
        session.do("server_down", server=server)
    outcomes: dict[str, Outcome] = {}
    turns: list[Outcome] = []
    offers: dict[str, Outcome] = {}
    for event in case["events"]:
        if event["ev"] == "turn":
            turns.append(session.do("turn", input=""))
            offers["main"] = turns[-1]
        elif event["ev"] == "spawn":
            offers[event["agent"]] = session.do("step", id=event["agent"], parent=None, scope=event["scope"])
        elif event["ev"] == "step":
            play_calls(session, event, outcomes)
        elif event["ev"] == "list_changed":
            new = [
                {"source": f"mcp:{event['server']}", "deferred": True, "annotations": {}, **one}
                for one in event["tools"]
            ]
            session.changed(f"mcp:{event['server']}", *new)
        else:
            session.do(event["ev"], **{key: event[key] for key in event if key != "ev"})
    turns.append(session.do("turn", input=""))  # For the notices of the last turn.
    return outcomes, turns, offers


def play_calls(session: Play, event: dict[str, Any], outcomes: dict[str, Outcome]) -> None:
    step = event.get("agent")
    session.next_pass(step)
    for call in event["calls"]:
        if call["tool"] == SEARCH:
            outcomes[call["id"]] = session.search(step=step, **call["args"])
        else:
            outcomes[call["id"]] = session.do("call", step=step, name=call["tool"], arguments=call["args"])


def check_part(names: list[str], part: dict[str, Any]) -> None:
    assert set(part.get("includes", [])) <= set(names)
    assert not set(part.get("excludes", [])) & set(names)


@pytest.mark.parametrize("case", lifecycle_cases(), ids=lambda case: case["id"])
def test_lifecycle_case(make: MakeEngine, case: dict[str, Any]) -> None:
    outcomes, turns, offers = play_case(make, case["input"])
    expected = case["expected"]
    for call, verdict in expected.get("verdicts", {}).items():
        reads = outcomes[call]["reads"]
        assert READS.get(reads, f"rejected:{reads}") == verdict, call
    for search, part in expected.get("search_hits", {}).items():
        check_part(outcomes[search]["hits"], part)
        for suffix, count in part.get("count_of", {}).items():
            assert sum(name.endswith(suffix) for name in outcomes[search]["hits"]) == count
    for agent, part in expected.get("declared", {}).items():
        check_part(offers[agent]["declared"], part)
    for turn, part in zip(turns, expected.get("declared_by_turn", []), strict=False):
        check_part(turn["declared"], part)
    notices = {notice for turn in turns for notice in turn["notices"]}
    for notice in expected.get("notices", []):
        assert any(notice in (one, one.split(":")[0]) for one in notices), notices
    for first, second in expected.get("declared_bytes_equal", []):
        assert comparable(turns[first - 1])["definitions"] == comparable(turns[second - 1])["definitions"]
    if "unavailable_sources" in expected:
        assert expected["unavailable_sources"] in [one.get("down") for one in outcomes.values()]
