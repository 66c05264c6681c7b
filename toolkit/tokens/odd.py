"""What is odd about a request, a line each; the rest of it is counted all the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.tokens.media import uncountable
from toolkit.tokens.pictures import readable
from toolkit.tokens.request import Definition, Request


def oddities(asked: Request) -> list[str]:
    """Return one sentence for each thing that is not as the API expects it, or that makes the bill unknowable."""
    return list(dict.fromkeys([*_of_tools(asked), *_of_calls(asked), *_of_bill(asked)]))


def _of_tools(asked: Request) -> Iterator[str]:
    sent = (asked.raw or {}).get("tools")
    if sent is not None and not isinstance(sent, (list, tuple)):
        yield f"tools is {_kind(sent)}, a list was expected."
    for one in (one for one in sent or () if isinstance(sent, (list, tuple)) and not isinstance(one, Mapping)):
        yield f"a tool is {_kind(one)}, an object was expected: left out."
    for at, tool in enumerate(asked.tools):
        yield from _of_tool(at, tool)


def _of_tool(at: int, tool: Definition) -> Iterator[str]:
    if tool.kind == "function" and not _named(tool.raw or {}):
        yield f"tool {at} has no name: counted as {tool.name!r}."
    if tool.schema is not None and not isinstance(tool.schema, (Mapping, bool)):
        yield f"the schema of {tool.name!r} is {_kind(tool.schema)}, an object was expected: counted without it."


def _named(entry: Mapping[str, Any]) -> Any:
    inner = entry.get("function") or entry.get("toolSpec")
    return entry.get("name") or (inner.get("name") if isinstance(inner, Mapping) else None)


def _of_calls(asked: Request) -> Iterator[str]:
    for part in (part for message in asked.messages for part in message.of_kind("call")):
        try:
            json.loads(part.text or "{}")
        except ValueError:
            if "custom" not in str((part.raw or {}).get("type")):
                yield f"the arguments of a call of {part.name!r} are no JSON: counted as text."


def _of_bill(asked: Request) -> Iterator[str]:
    for reason, thing in uncountable(asked):
        yield f"not countable, {reason}: {thing}."
    for part in (part for message in asked.messages for part in message.of_kind("media")):
        if readable(part) is None:
            yield f"counted at its least, for its size cannot be read: {part.name}."


def _kind(value: Any) -> str:
    names: tuple[tuple[str, type], ...] = (("an object", Mapping), ("a list", list), ("a text", str))
    return next((name for name, kind in names if isinstance(value, kind)), type(value).__name__)
