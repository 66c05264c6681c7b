"""The rows of an MCP server's `tools/list`, read with patience: an odd part costs that part alone (C5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from toolkit.hosts.config import ServerConfig
from toolkit.tool import Tool

_ANYTHING = {"type": "object"}
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


def is_named(row: Any) -> bool:
    """Say whether a row has the one thing that a tool cannot do without."""
    return isinstance(row, Mapping) and isinstance(row.get("name"), str) and bool(row["name"])


def strict(rows: Iterable[Any]) -> list[dict[str, Any]]:
    """Return rows that a strict reader of the protocol accepts: names, and schemas where they are as it says.

    Output schemas are left out, so that no answer of a tool is lost for being another than was promised.
    """
    return [{"name": row["name"], "inputSchema": strict_schema(row.get("inputSchema"))} for row in rows]


def strict_schema(schema: Any) -> Mapping[str, Any]:
    """Return a schema that a strict reader accepts: the one given, or that anything goes (C5)."""
    if not isinstance(schema, Mapping) or schema.get("type") != "object":
        return _ANYTHING
    properties, required = schema.get("properties") or {}, schema.get("required") or []
    sound = isinstance(properties, Mapping) and all(isinstance(one, Mapping | bool) for one in properties.values())
    sound = sound and isinstance(required, list) and all(isinstance(name, str) for name in required)
    return schema if sound and isinstance(schema.get("$schema"), str | None) else _ANYTHING


def as_tool(row: Mapping[str, Any], server: ServerConfig) -> Tool:
    """Return the tool of a row, named, sourced and flagged for the engine (K2); a schema that is none is unknown."""
    description, schema, hints = row.get("description"), row.get("inputSchema"), row.get("annotations")
    return Tool(
        f"mcp.{server.name}.{row['name']}",
        description if isinstance(description, str) else None,
        schema if isinstance(schema, Mapping | bool) else None,
        source=f"mcp:{server.name}",
        deferred=server.deferred,
        annotations=_hints(hints) if isinstance(hints, Mapping) else None,
        id=f"{server.name}::{row['name']}",
    )


def _hints(given: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the hints that are what they should be, as they came."""
    sound = {key: value for key, value in given.items() if key not in _HINTS or isinstance(value, bool)}
    return {key: value for key, value in sound.items() if key != "title" or isinstance(value, str)} or None
