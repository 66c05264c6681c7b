"""The searched text of a tool, by field; the billed text is made in `toolkit.tool`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from toolkit.tool import Tool

_DEEPEST = 12
_NAMED = ("$defs", "definitions")
_NESTING = (
    *("properties", "items", "additionalProperties", "not", "anyOf", "oneOf", "allOf", "prefixItems"),
    *_NAMED,
)
_ALL_NESTING = frozenset(_NESTING)


class Fields(NamedTuple):
    """What is searched of a tool, as plain text (`tests/cases/README.md` D10)."""

    name: str
    server: str
    description: str
    parameters: str
    details: str


def fields(tool: Tool) -> Fields:
    """Return the searched text of `tool`.

    `name` is the leaf, `server` what stands before it, `parameters` the parameter names,
    `details` their descriptions and enum values.

    >>> fields(Tool("mcp.git.log_show", "Shows it.", {"properties": {"n": {"description": "how many"}}}))
    Fields(name='log_show', server='git', description='Shows it.', parameters='n', details='how many')
    """
    head, leaf = split_name(tool)
    names, details = parameters(tool)
    return Fields(leaf, head, tool.description, " ".join(names), " ".join(details))


def split_name(tool: Tool) -> tuple[str, str]:
    """Return what stands before the last segment, without `mcp`, `builtin`; and the last segment.

    >>> split_name(Tool("mcp.git.hub.log")), split_name(Tool("mcp__plugin_q__ask")), split_name(Tool("builtin.read"))
    (('git hub', 'log'), ('plugin_q', 'ask'), ('', 'read'))
    """
    dotted = tool.name.replace("__", ".").replace(":", ".").replace("/", ".")
    *head, leaf = [part for part in dotted.split(".") if part] or [tool.name]
    words = [part for part in head if part not in ("mcp", "builtin", "extension")]
    server = tool.server
    if server and server not in words and not tool.name.startswith(f"mcp.{server}."):
        words.insert(0, server)
    return " ".join(words), leaf


def parameters(tool: Tool) -> tuple[list[str], list[str]]:
    """Return the names of all parameters, and their descriptions and enum values, in order.

    A schema that cannot be read has none (`docs/semantics.md` C5).
    """
    names: list[str] = []
    details: list[str] = []
    _walk(tool.input_schema, names, details, _DEEPEST)
    return names, details


def _walk(schema: Any, names: list[str], details: list[str], depth: int) -> None:
    if not isinstance(schema, dict) or depth == 0 or schema.keys().isdisjoint(_ALL_NESTING):
        return
    found = schema.get("properties")
    for name, inner in found.items() if isinstance(found, dict) else ():
        names.append(name)
        if isinstance(inner, dict):
            _tell(inner, details)
            _walk(inner, names, details, depth - 1)
    for inner in _inner(schema):
        _walk(inner, names, details, depth - 1)


def _tell(schema: dict[str, Any], details: list[str]) -> None:
    """Add the description and the enum values of a parameter."""
    description, values = schema.get("description"), schema.get("enum")
    if isinstance(description, str):
        details.append(description)
    if isinstance(values, list):
        details += [value for value in values if isinstance(value, str)]


def _inner(schema: dict[str, Any]) -> Iterator[Any]:
    for key in [key for key in _NESTING[1:] if key in schema]:
        found = schema[key]
        if isinstance(found, list):
            yield from found
        elif isinstance(found, dict):
            yield from found.values() if key in _NAMED else (found,)
