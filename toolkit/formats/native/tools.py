"""The tool definitions of a trajectory, in whichever shape they stand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from toolkit.errors import InputError
from toolkit.formats.native import shapes as shapes
from toolkit.tool import Catalog, Tool

_SCHEMAS = ("parameters", "input_schema", "inputSchema")


@lru_cache(maxsize=1024)
def definitions(data: bytes, facts: bytes) -> tuple[tuple[str, ...], Catalog, int]:
    """Return the names by index, the catalog, and how many are no definition; sessions of one agent share it."""
    rows = (msgspec.json.decode(data) if data else None) or []
    if not isinstance(rows, list):
        return (), Catalog(), 1
    known = msgspec.json.decode(facts, type=dict[str, shapes.ToolFacts])
    tools = [_tool(row, known) for row in rows]
    named = [tool for tool in tools if tool is not None]
    return tuple(tool.name if tool else "" for tool in tools), Catalog(named), len(tools) - len(named)


def _tool(row: Any, known: Mapping[str, shapes.ToolFacts]) -> Tool | None:
    """Return a definition, in the shape of OpenAI, of Anthropic or of MCP; None where it has no name."""
    inner = row.get("function") if isinstance(row, dict) else None
    function = inner if isinstance(inner, dict) else row
    name = function.get("name") if isinstance(function, dict) else None
    if not isinstance(name, str):
        return None
    facts = known.get(name) or shapes.ToolFacts()
    schema = next((function[key] for key in _SCHEMAS if function.get(key) is not None), None)
    bare = Tool(name, source=facts.source, deferred=facts.deferred, annotations=facts.annotations)
    try:
        return Tool(name, function.get("description"), schema, facts.source, facts.deferred, facts.annotations)
    except InputError:
        return bare
