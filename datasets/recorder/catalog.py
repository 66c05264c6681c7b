"""The catalog: names and schemas from the servers, every description from `descriptions.toml`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recorder.errors import RecordError

Words = Mapping[str, Mapping[str, Mapping[str, str]]]
Row = dict[str, Any]
NESTED = ("items", "additionalProperties", "not")
NESTED_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")


def read_words(path: Path) -> Words:
    """Return our own descriptions: server → tool → `about` and parameter path → text."""
    words: Words = tomllib.loads(path.read_text(encoding="utf-8"))
    return words


def server_rows(server: str, tools: list[dict[str, Any]], words: Words) -> list[Row]:
    """Return one catalog row for each tool of a server, in the server's order.

    Raises:
        RecordError: A tool or a parameter has no description of our own.
    """
    return [_row(server, tool, words) for tool in tools]


def _row(server: str, tool: dict[str, Any], words: Words) -> Row:
    name = tool["name"]
    own = {**words.get(server, {}).get("_shared", {}), **words.get(server, {}).get(name, {})}
    if "about" not in own:
        raise RecordError(f'descriptions.toml has no description for the tool: add [{server}.{name}] with "about".')
    row = {"id": f"{server}::{name}", "name": name, "description": own["about"]}
    row["input_schema"] = described(tool["inputSchema"], own, f"{server}.{name}")
    row["server"] = server
    hints = {key: value for key, value in (tool.get("annotations") or {}).items() if key != "title"}
    return {**row, "annotations": hints} if hints else row


def described(schema: Any, own: Mapping[str, str], tool: str, path: str = "") -> Any:
    """Return a copy of a JSON schema in which each property has our description and nothing else has one."""
    if not isinstance(schema, dict):
        return schema
    copy = {key: value for key, value in schema.items() if key != "description" or path}
    for key in NESTED:
        if key in copy:
            copy[key] = _bare(described(copy[key], own, tool, path))
    for key in NESTED_LISTS:
        if key in copy:
            copy[key] = [_bare(described(one, own, tool, path)) for one in copy[key]]
    if "properties" in copy:
        copy["properties"] = dict(_properties(copy["properties"], own, tool, path))
    return copy


def _bare(schema: Any) -> Any:
    return {k: v for k, v in schema.items() if k != "description"} if isinstance(schema, dict) else schema


def _properties(
    properties: dict[str, Any], own: Mapping[str, str], tool: str, path: str
) -> Iterator[tuple[str, dict[str, Any]]]:
    for name, schema in properties.items():
        where = f"{path}.{name}" if path else name
        if where not in own:
            raise RecordError(f"descriptions.toml has no description for {where!r} of {tool}: add it to [{tool}].")
        copy = described(schema, own, tool, where)
        copy["description"] = own[where]
        yield name, copy


def engine_name(row: Row) -> str:
    """Return the name by which the toolkit knows a row: `mcp.<server>.<name>`, or the name itself."""
    return f"mcp.{row['server']}.{row['name']}" if "server" in row else str(row["name"])


def function_shape(row: Row) -> dict[str, Any]:
    """Return a row as an OpenAI function definition, the form that ATIF asks for."""
    function = {"name": engine_name(row), "description": row["description"], "parameters": row["input_schema"]}
    return {"type": "function", "function": function}


def toolkit_facts(row: Row) -> dict[str, Any]:
    """Return what the function shape cannot hold: source, deferred flag, annotations."""
    name = engine_name(row)
    source = f"mcp:{row['server']}" if "server" in row else "core" if name.startswith("ui.") else "builtin"
    return {"source": source, "deferred": source == "core", "annotations": row.get("annotations", {})}
