"""Codex, run by a script: captures of `codex exec --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, kind_of, table, text, tokens
from toolkit.session import Session

NAME = "codex-exec"
_HEADS = frozenset(("thread.started", "turn.started", "item.started", "item.completed"))
_SILENT = frozenset(("thread.started", "turn.failed", "item.updated", "error"))
_CALLS = {
    "command_execution": ("shell", ("command",)),
    "file_change": ("apply_patch", ("changes",)),
    "web_search": ("web_search", ("query",)),
}
_NOTES = frozenset(("todo_list", "error"))


def _recognises(source: Source) -> bool:
    head = source.objects_at_head
    started = any(kind_of(one) == "thread.started" and isinstance(one.get("thread_id"), str) for one in head)
    return started and all(kind_of(one) in _HEADS | _SILENT or "turn." in kind_of(one) for one in head[:3])


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    reader = _Reader(Building(source, problems, NAME))
    for number, one in source.objects(problems):
        reader.made.line = number
        reader.take(kind_of(one), one)
    if not reader.made.empty:
        yield reader.made.session(reader.id or source.path.name.partition(".")[0], agent={"name": "codex"})


class _Reader:
    """Reads events in their order. A pass is a run of what the model made: it ends where a call is answered."""

    def __init__(self, made: Building) -> None:
        self.made = made
        self.id: str | None = None
        self.passes = 0
        self.running = False
        self.asked: set[str] = set()

    def take(self, kind: str, one: Mapping[str, Any]) -> None:
        """Take an event: a turn's start or end, an item that began or is whole."""
        if kind == "turn.started":
            self.running = False
            self.made.user("")
        elif kind in ("item.started", "item.completed"):
            self._item(table(one.get("item")), kind == "item.completed")
        elif kind == "turn.completed":
            self._billed(table(one.get("usage")))
        elif kind == "thread.started":
            self.id = self.id or text(one.get("thread_id"))
        elif kind not in _SILENT:
            self.made.unknown_record(kind)

    def _item(self, item: Mapping[str, Any], whole: bool) -> None:
        kind = kind_of(item) or str(item.get("item_type") or "")
        if kind in ("agent_message", "assistant_message"):
            self._say(content=text(item.get("text")) or "") if whole else None
        elif kind == "reasoning":
            self._say(reasoning=text(item.get("text")) or "") if whole else None
        elif kind in _CALLS or kind == "mcp_tool_call":
            self._call(kind, item, whole)
        elif kind not in _NOTES:
            self.made.unknown_record(f"item/{kind}")

    def _say(self, **said: Any) -> None:
        if not self.running:
            self.running = True
            self.passes += 1
        self.made.say(self.passes, **said)

    def _call(self, kind: str, item: Mapping[str, Any], whole: bool) -> None:
        """Take a call where it began, else where it is whole; its answer ends the pass."""
        id = text(item.get("id")) or f"{kind}-{self.made.line}"
        if id not in self.asked:
            self.asked.add(id)
            self._say()
            self.made.call(id, *_called(kind, item))
        if whole:
            self.running = False
            failed = item.get("status") == "failed" or item.get("exit_code") not in (0, None)
            self.made.result(id, _answer(item), failed, extra={"hosted": True} if kind == "web_search" else None)

    def _billed(self, usage: Mapping[str, Any]) -> None:
        """Keep what the turn was billed with its last pass: the log does not tell it by pass."""
        counts = {name: count for name, value in usage.items() if (count := tokens(value)) is not None}
        if counts and self.passes:
            self.made.say(self.passes, extra={"turn_usage": counts})


def _called(kind: str, item: Mapping[str, Any]) -> tuple[str, Any]:
    """Return the name of a call and its arguments."""
    if kind == "mcp_tool_call":
        return f"mcp__{item.get('server')}__{item.get('tool')}", item.get("arguments")
    name, keys = _CALLS[kind]
    return name, {key: item[key] for key in keys if item.get(key) is not None}


def _answer(item: Mapping[str, Any]) -> Any:
    """Return what a call was answered, or None where the log keeps no answer."""
    fault, result = item.get("error"), item.get("result")
    told = item.get("aggregated_output")
    if told is None and result is not None:
        told = result["content"] if isinstance(result, dict) and "content" in result else result
    if told is None and fault is not None:
        told = fault.get("message", fault) if isinstance(fault, dict) else fault
    return None if told is None else content_of(told)


CODEX_EXEC = Format(NAME, _recognises, _read, "`codex exec --json`, captured.")
