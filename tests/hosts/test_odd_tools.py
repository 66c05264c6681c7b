"""One odd tool of a server costs itself at most, never the server (C5)."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hosts.running import hosting, script, until
from toolkit import Host, load_catalog
from toolkit.cli import main
from toolkit.hosts.changes import Change
from toolkit.hosts.config import ServerConfig
from toolkit.hosts.mcp_servers import McpServers, list_tools
from toolkit.hosts.mcp_tools import as_tool, is_named, strict

ODD: dict[str, dict[str, Any]] = {
    "an anyOf at the root": {"inputSchema": {"anyOf": [{"type": "object"}]}},
    "an output schema without type": {"inputSchema": {"type": "object"}, "outputSchema": {"anyOf": []}},
    "an output schema of a list": {"inputSchema": {"type": "object"}, "outputSchema": {"type": "array"}},
    "an empty schema": {"inputSchema": {}},
    "a schema of null": {"inputSchema": None},
    "a schema of true": {"inputSchema": True},
    "a schema of text": {"inputSchema": "object"},
    "no schema": {},
    "a number as title": {"inputSchema": {"type": "object"}, "title": 7},
    "an object as description": {"inputSchema": {"type": "object"}, "description": {"en": "Odd."}},
    "null as properties": {"inputSchema": {"type": "object", "properties": {"a": None}, "required": "a"}},
    "text as a hint": {"inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": "surely"}},
    "a default of infinity": {"inputSchema": {"type": "object", "properties": {"a": {"default": float("inf")}}}},
}


def odd(row: Any, **options: Any) -> ServerConfig:
    return script("handshake", "--odd", json.dumps(row), **options)


def test_n15_every_odd_tool_is_listed_beside_the_others_and_can_be_called() -> None:
    servers = [odd({"name": "odd", **row}, called=f"s{place}") for place, row in enumerate(ODD.values())]
    found = list_tools(hosting(*servers))
    assert [(one.state, len(one.tools), one.error) for one in found.reports] == [("ok", 3, "")] * len(ODD)
    one = Host(found.tools, selector="all").start_turn().start_pass()
    assert {one.call(f"mcp.s{place}.odd", {}).code for place in range(len(ODD))} == {"ok"}


def test_a_tool_without_a_name_is_left_out_and_told() -> None:
    (report,) = list_tools(hosting(odd({"title": "odd"}))).reports
    assert (report.state, len(report.tools)) == ("ok", 2)
    assert report.error == "1 of the 3 tools it lists have no name and are left out."


def test_a_server_with_an_odd_tool_is_not_started_again_when_its_list_changes() -> None:
    told: list[Change] = []

    async def run() -> None:
        config = hosting(odd({"name": "odd", "inputSchema": {"anyOf": []}}, called="s"))
        async with McpServers(config, told.append, retry_after=()) as servers:
            await servers.call("s", "grow", {})
            await until(lambda: len(servers.tools) == 4)

    asyncio.run(run())
    assert [change.kind for change in told] == ["tools", "tools"]


def test_n16_a_default_of_infinity_is_recorded_beside_a_healthy_server(tmp_path: Path) -> None:
    row = {"name": "odd", **ODD["a default of infinity"]}
    server = "[mcp_servers.{}]\ncommand = {!r}\nargs = {}\n"
    servers = [odd(row, called="one"), script("handshake", called="two")]
    text = "".join(server.format(one.name, one.command, json.dumps(one.args)) for one in servers)
    (tmp_path / "host.toml").write_text(text)
    out = tmp_path / "tools.jsonl"
    assert main(["catalog", "record", "--config", str(tmp_path / "host.toml"), "--out", str(out)]) == 0
    catalog = load_catalog(out)
    assert len(catalog) == 5 and not catalog.problems
    assert catalog["mcp.one.odd"].input_schema["properties"] == {"a": {"default": "Infinity"}}


def anything() -> st.SearchStrategy[Any]:
    leaves = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5) | st.just("object")
    keys = st.sampled_from(["type", "properties", "required", "$schema", "a"])
    return st.recursive(leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4))


@given(st.dictionaries(st.sampled_from(["name", "inputSchema", "description", "annotations", "title"]), anything()))
def test_any_row_with_a_name_is_a_tool_and_passes_a_strict_reader(row: dict[str, Any]) -> None:
    methods = pytest.importorskip("mcp_types.methods")
    if not is_named(row):
        return
    assert as_tool(row, ServerConfig("s", "x")).name == f"mcp.s.{row['name']}"
    for version in ("2025-06-18", "2025-11-25"):
        methods.validate_server_result("tools/list", version, {"tools": strict([row])})
