"""A selector behind JSON-RPC decides and searches as the engine does, in time, whatever it is asked."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import DATASET, TOOLS
from toolkit import Host, load_sessions
from toolkit.engine.ports import Answer
from toolkit.errors import InputError, UnknownNameError
from toolkit.serving import contract
from toolkit.serving.rpc import RpcError
from toolkit.serving.selector_server import SelectorServer
from toolkit.serving.within import within
from toolkit.session import Session
from toolkit.tool import Tool

CONTRACT = Path(contract.__file__).with_name("selector-server.schema.json")
ROWS = [{"name": t.name, "description": t.description, "input_schema": t.input_schema} for t in TOOLS]
SPECS = ("all", "lazy", "builtin-only", "semantic(k=3)", "recent(n=2)", "sticky", "lazy | lexical(k=2)")


def served(selector: Any = "lazy", rows: Any = ROWS, **more: Any) -> SelectorServer:
    server = SelectorServer(selector, "lexical", **more)
    server("initialize", {"version": 1, "tools": rows})
    return server


def row(tool: Tool) -> dict[str, Any]:
    schema = tool.input_schema if tool.schema_text else None
    flags = {"source": tool.source, "deferred": tool.deferred, "annotations": tool.annotations or None}
    return {"name": tool.name, "description": tool.description, "input_schema": schema, **flags}


def past(host: Host) -> list[dict[str, Any]]:
    return [
        {"input": t.input, "calls": list(t.calls), "searches": list(t.searches), "passes": t.passes}
        for t in host.earlier
    ]


def sessions() -> list[Session]:
    return list(load_sessions(DATASET))[:3]


@pytest.mark.parametrize("spec", SPECS)
def test_it_offers_and_finds_what_a_live_host_does(spec: str) -> None:
    for session in sessions():
        host = Host(session.catalog, spec, retriever="lexical")
        server = served(spec, [row(tool) for tool in session.catalog])
        before = ((), ())
        for number, recorded in enumerate(session.turns, 1):
            host.end_turn()
            asked = {"turn_no": number, "turn_input": recorded.input, "earlier": past(host)}
            turn = host.start_turn(recorded.input)
            told = server("select", {**asked, "declared_before": before[0], "searchable_before": before[1]})
            assert (told.declared, told.searchable) == (list(turn.declared), list(turn.searchable))
            before = (turn.declared, turn.searchable)
            if turn.searchable:
                lists = {"searchable": list(turn.searchable), "declared": list(turn.declared)}
                found = server("search", {"query": recorded.input or "list", **lists})
                assert [(hit.name, hit.score) for hit in found.hits] == list(
                    turn.start_pass().search(recorded.input or "list")
                )
            for call in [call for one in recorded.passes for call in one.calls]:
                turn.start_pass().call(call.name, call.arguments)


def test_only_what_is_visible_is_told() -> None:
    told = served("all")("select", {"visible": ["builtin.read_file", "mcp.gone.away"]})
    assert told.declared == ["builtin.read_file"]
    assert told.notices == ["unknown_tool:mcp.gone.away"]


def test_a_selector_that_fails_gets_the_default_split() -> None:
    def broken(told: Any, host: Any) -> Any:
        raise RuntimeError("no")

    told = served(broken, [{**ROWS[0]}, {**ROWS[1], "deferred": True}])("select", {})
    assert told.declared == ["tools.search", "builtin.read_file"] and told.searchable == ["mcp.git.create_branch"]
    assert told.notices == ["selector_failed"] and told.detail == "RuntimeError: no"


def test_a_selector_that_is_late_gets_the_default_split_in_time() -> None:
    def slow(told: Any, host: Any) -> Any:
        time.sleep(30)

    began = time.monotonic()
    told = served(slow)("select", {"deadline_ms": 30})
    assert time.monotonic() - began < 10
    assert told.notices == ["selector_failed"] and told.detail == "no answer within 30 ms"


def test_a_search_that_fails_or_is_late_finds_nothing_and_says_so() -> None:
    server = served()
    server.searcher = lambda query, among, declared, limit: time.sleep(30)  # type: ignore[assignment,return-value]
    asked = {"query": "log", "searchable": ["mcp.git.show_log"], "deadline_ms": 20}
    assert server("search", asked).notices == ["search_failed"]
    server.searcher = lambda query, among, declared, limit: None  # type: ignore[assignment,return-value]
    found = server("search", asked)
    assert found.hits == [] and found.detail.startswith("TypeError")


def test_a_searcher_never_shows_what_the_host_did_not_offer() -> None:
    server = served()
    hits = tuple((tool.name, 1.0) for tool in TOOLS) + (("mcp.git.show_log", 0.5), ("mcp.no.where", 2.0))
    server.searcher = lambda query, among, declared, limit: Answer(hits, 99)
    found = server("search", {"query": "log", "searchable": ["mcp.git.show_log"], "limit": 5})
    assert [hit.name for hit in found.hits] == ["mcp.git.show_log"] and found.matched == 1


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("select", {"turn": 1}, "unknown field `turn`"),
        ("select", {"visible": "x"}, "visible"),
        ("select", [], "Expected `object`"),
        ("search", {"query": " ", "searchable": []}, "blank"),
        ("search", {"query": "x", "searchable": [], "limit": 0}, "at least 1"),
        ("search", {"searchable": []}, "query"),
        ("initialize", {"version": 2}, "version must be 1"),
        ("initialize", {"version": 1, "tools": [{"description": "nameless"}]}, "name"),
        ("initialize", {"version": 1, "selector": "lazi"}, "lazy"),
        ("forget", {}, "Known: initialize"),
    ],
)
def test_wrong_parameters_are_named(method: str, params: Any, said: str) -> None:
    with pytest.raises((msgspec.ValidationError, InputError, UnknownNameError, RpcError)) as caught:
        served()(method, params)
    assert said in str(caught.value)


def test_a_wrong_initialize_leaves_what_ran() -> None:
    server = served("lazy")
    with pytest.raises(UnknownNameError):
        server("initialize", {"version": 1, "tools": [], "selector": "lazi"})
    assert server("select", {}).declared == ["tools.search", "builtin.read_file"]


def test_a_host_must_give_its_tools_first() -> None:
    with pytest.raises(RpcError, match="ask initialize first"):
        SelectorServer("lazy", "lexical")("select", {})


def test_a_second_tool_of_one_name_is_named() -> None:
    server = SelectorServer("lazy", "lexical")
    told = server("initialize", {"version": 1, "tools": [*ROWS, ROWS[0]]})
    assert (told.tools, told.dropped) == (4, ["builtin.read_file"])


def test_the_file_of_the_contract_is_made_from_the_records() -> None:
    assert CONTRACT.read_text("utf-8") == contract.schema_text()
    assert set(json.loads(CONTRACT.read_text("utf-8"))["methods"]) == set(contract.METHODS)


def test_every_answer_keeps_to_the_contract() -> None:
    import jsonschema_rs

    document, server = contract.schema(), served("semantic(k=2)")
    asked = {
        "initialize": {"version": 1, "tools": ROWS},
        "select": {"turn_input": "send a letter"},
        "search": {"query": "letter", "searchable": ["mcp.mail.send_message"]},
        "describe": {},
        "shutdown": {},
    }
    for method, params in asked.items():
        parts = {**document["methods"][method], "$defs": document["$defs"]}
        for part, value in (("params", params), ("result", server(method, params))):
            schema = {**parts[part], "$defs": document["$defs"]}
            assert jsonschema_rs.is_valid(schema, msgspec.to_builtins(value)), (method, part)
    assert server.ended


@settings(max_examples=60)
@given(st.sampled_from(["initialize", "select", "search"]), st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
        st.sampled_from(["version", "tools", "visible", "query", "limit", "searchable", "earlier", "deadline_ms"]),
        inner, max_size=4),
    max_leaves=8,
))  # fmt: skip
def test_any_parameters_give_a_result_or_a_named_error(method: str, params: Any) -> None:
    server = served()
    try:
        server(method, params)
    except (msgspec.ValidationError, InputError, RpcError) as error:
        assert str(error)
    assert server("select", {}).notices == []


def test_work_without_a_deadline_is_done_where_it_is_asked() -> None:
    assert within(None, lambda: 7) == 7
    with pytest.raises(KeyError):
        within(5.0, lambda: {}["x"])
