"""Tool definitions as every API writes them: arrays of the providers, namespaces, MCP lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from toolkit.errors import InputError
from toolkit.formats.importing import parsed
from toolkit.formats.pieces import folded
from toolkit.tool import Tool

_WRAPPERS = ("function_declarations", "functionDeclarations", "tools")
_INNER = ("function", "toolSpec", "custom")
_SCHEMAS = ("input_schema", "inputSchema", "parameters", "parametersJsonSchema", "parameters_json_schema", "schema")


def tools_of(value: Any, space: str = "", server: str = "") -> tuple[Tool, ...]:
    """Return the tools of a request, or of any part of one; what is no tool is passed over.

    Args:
        value: A list, a wrapper around one, one definition, or the JSON text of these.
        space: The namespace they stand in; it becomes part of their names.
        server: The MCP server that lists them.

    >>> [tool.name for tool in tools_of([{"type": "function", "function": {"name": "lift", "parameters": {}}}])]
    ['builtin.lift']
    """
    return _tools_in(msgspec.json.encode(value), space, server) if value else ()


@lru_cache(maxsize=512)
def _tools_in(data: bytes, space: str, server: str) -> tuple[Tool, ...]:
    """Return the tools of an encoded value: the requests of a session repeat theirs."""
    return tuple(_tools(parsed(msgspec.json.decode(data)), space, server))


def _tools(value: Any, space: str, server: str) -> Iterator[Tool]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _tools(parsed(one), space, server)
        return
    if not isinstance(value, Mapping):
        return
    inner = next((value[key] for key in _WRAPPERS if isinstance(value.get(key), list | Mapping)), None)
    if inner is not None and value.get("type") == "namespace":
        yield from _tools(inner, str(value.get("name") or space), server)
    elif inner is not None:
        yield from _tools(inner, space, str(value.get("server_label") or server))
    elif value.get("type") != "mcp":
        yield from _tool(value, space, server)


def _tool(row: Mapping[str, Any], space: str, server: str) -> Iterator[Tool]:
    row = next(({**row, **row[key]} for key in _INNER if isinstance(row.get(key), Mapping)), row)
    kind = row.get("type")
    hosted = isinstance(kind, str) and kind not in ("function", "custom")
    name = row.get("name") or (kind if hosted else _only_key(row))
    if not isinstance(name, str) or not name:
        return
    schema = next((parsed(row[key]) for key in _SCHEMAS if row.get(key) is not None), None)
    if isinstance(schema, Mapping) and isinstance(schema.get("json"), Mapping):
        schema = schema["json"]
    bare: dict[str, Any] | None = {} if hosted or not row.get("name") else None
    described = row.get("description")
    try:
        yield Tool(
            folded(f"{space}.{name}" if space else name),
            described if isinstance(described, str) else "",
            schema if isinstance(schema, Mapping | bool) else bare,
            source=f"mcp:{server}" if server else None,
            deferred=bool(row.get("defer_loading") or row.get("deferLoading") or row.get("deferred")),
        )
    except InputError:
        return


def _only_key(row: Mapping[str, Any]) -> str | None:
    """Return the name of a tool that is written as its one key: Gemini's `{"googleSearch": {}}`."""
    names = [key for key, value in row.items() if isinstance(value, Mapping)]
    return names[0] if len(row) == 1 and names else None
