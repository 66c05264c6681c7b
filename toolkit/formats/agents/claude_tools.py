"""Which tools a Claude Code session had declared and deferred, and what its searches found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from toolkit.errors import InputError
from toolkit.formats.agents.claude_records import Record
from toolkit.formats.importing import UNREADABLE
from toolkit.formats.pieces import content_of, folded
from toolkit.tool import Tool


class Offered:
    """The declared and the deferred tools at a point of a session; None while nothing was told."""

    def __init__(self) -> None:
        self.declared: tuple[str, ...] | None = None
        self.searchable: tuple[str, ...] | None = None

    def take(self, attachment: Mapping[str, Any]) -> list[Tool]:
        """Take an attachment; return the definitions that it brings, names alone where it has no more."""
        take = _TAKE.get(str(attachment.get("type")))
        return take(self, attachment) if take is not None else []

    def named(self, names: Any) -> list[Tool]:
        """Take a plain list of declared names."""
        tools = list(_tools(names))
        self.declared = tuple(dict.fromkeys(tool.name for tool in tools))
        return tools

    def _snapshot(self, attachment: Mapping[str, Any]) -> list[Tool]:
        tools = [*_tools(attachment.get("tools")), *_tools(attachment.get("inlineTools"))]
        if tools:
            self.declared = tuple(dict.fromkeys(tool.name for tool in tools))
        return tools

    def _delta(self, attachment: Mapping[str, Any]) -> list[Tool]:
        names = [*_texts(attachment.get("addedNames")), *_texts(attachment.get("readdedNames"))]
        lines = _texts(attachment.get("addedLines"))
        gone = set(map(folded, _texts(attachment.get("removedNames"))))
        tools = [Tool(folded(name), _said(name, lines), deferred=True) for name in names]
        before = [name for name in self.searchable or () if name not in gone]
        self.searchable = tuple(dict.fromkeys((*before, *(tool.name for tool in tools))))
        return tools

    def _record(self, attachment: Mapping[str, Any]) -> list[Tool]:
        return [
            tool.flagged(True) for key in ("entries", "surfacedDefinitions") for tool in _tools(attachment.get(key))
        ]


def _texts(value: Any) -> list[str]:
    return [one for one in value if isinstance(one, str)] if isinstance(value, list) else []


def _said(name: str, lines: list[str]) -> str:
    """Return what the announcement says of a name after it: `name: what it does`."""
    line = next((line for line in lines if line.startswith((f"{name}:", f"{name} - ", f"- {name}:"))), "")
    return line.partition(name)[2].lstrip(": -") if line else ""


def _tools(rows: Any) -> Iterator[Tool]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, str):
            yield Tool(folded(row))
        elif isinstance(row, dict) and isinstance(row.get("name"), str):
            yield _tool(row)


def _tool(row: Mapping[str, Any]) -> Tool:
    schema = next((row[key] for key in ("schema", "input_schema", "inputSchema", "parameters") if row.get(key)), None)
    said = row.get("description")
    try:
        return Tool(folded(row["name"]), said if isinstance(said, str) else "", schema)
    except InputError:
        return Tool(folded(row["name"]), said if isinstance(said, str) else "")


_TAKE = {
    "prompt_snapshot": Offered._snapshot,
    "deferred_tools_delta": Offered._delta,
    "deferred_tools_record": Offered._record,
}


def references(content: Any) -> Iterator[str]:
    """Yield the names that a search's answer points at."""
    if isinstance(content, dict):
        content = content.get("tool_references")
    for block in content if isinstance(content, list) else ():
        if (
            isinstance(block, dict)
            and block.get("type") == "tool_reference"
            and isinstance(block.get("tool_name"), str)
        ):
            yield block["tool_name"]


def noted_matches(record: Record) -> list[str]:
    """Return the names that the host noted beside a search's answer."""
    for raw in (record.toolUseResult, record.tool_use_result):
        try:
            noted = msgspec.json.decode(raw) if bytes(raw) else None
        except UNREADABLE:
            continue
        if isinstance(noted, dict) and isinstance(noted.get("matches"), list):
            return [one for one in noted["matches"] if isinstance(one, str)]
    return []


def answer_of(content: Any) -> Any:
    """Return a result's content; None where there is none."""
    if isinstance(content, dict):
        content = content.get("tool_references") or [content]
    return content_of(content) if content is not None else None
