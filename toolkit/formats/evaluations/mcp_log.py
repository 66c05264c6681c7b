"""Logs of MCP servers as JSON-RPC messages: calls and their answers; no model, no usage."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, rows, table
from toolkit.formats.traffic.definitions import tools_of
from toolkit.session import Session


def _recognises(source: Source) -> bool:
    heads = source.objects_at_head
    return any("jsonrpc" in row for row in heads) and b'"tools/call"' in source.head


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    building = Building(source, problems, "mcp")
    asked: set[Any] = set()
    for building.line, row in source.objects(problems):
        method = row.get("method")
        if method == "tools/call":
            asked.add(row.get("id"))
            building.say(requested=False)
            building.call(str(row.get("id")), str(table(row.get("params")).get("name") or "?"), _given(row))
        elif method is None and ("result" in row or "error" in row):
            _answer(building, row, asked)
    if not building.empty:
        yield building.session(source.path.name.partition(".")[0])


def _given(row: dict[str, Any]) -> Any:
    return table(row.get("params")).get("arguments")


def _answer(building: Building, row: dict[str, Any], asked: set[Any]) -> None:
    result = table(row.get("result"))
    if isinstance(result.get("tools"), list):
        building.define(tools_of(rows(result["tools"])))
    elif row.get("id") in asked or "content" in result:
        failed = "error" in row or result.get("isError") is True
        building.result(str(row.get("id")), content_of(result.get("content")), failed)


MCP = Format("mcp-log", _recognises, _read, "JSON-RPC messages between a host and an MCP server.")
