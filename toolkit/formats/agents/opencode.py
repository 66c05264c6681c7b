"""OpenCode: exported sessions, and captures of `opencode run --format json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import UNREADABLE, Format, Source
from toolkit.formats.pieces import content_of, kind_of, rows, table, text, tokens, usage_of
from toolkit.session import Session

NAME = "opencode"
_EVENTS = frozenset(("step_start", "step_finish", "tool_use", "text", "reasoning", "error"))
_SILENT = frozenset(("snapshot", "patch", "agent", "retry", "subtask"))


def _recognises(source: Source) -> bool:
    if any(kind_of(one) in _EVENTS and "sessionID" in one for one in source.objects_at_head):
        return True
    return b'"messages"' in source.head and b'"info"' in source.head and b'"sessionID"' in source.head


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    if any(kind_of(one) in _EVENTS for one in source.objects_at_head):
        yield from _stream(source, problems)
    else:
        for line, document in _documents(source, problems):
            session = Export(source, problems, line).session(document)
            if session is not None:
                yield session


def _documents(source: Source, problems: list[Problem]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the exports of a file: the document after what the command printed before it, a list, or one a line."""
    data = source.data(problems)
    try:
        whole = msgspec.json.decode(data[max(data.find(b"{"), 0) :] if data.lstrip()[:1] != b"[" else data)
    except UNREADABLE:
        yield from source.objects(problems)
        return
    for one in whole if isinstance(whole, list) else [whole]:
        if isinstance(one, dict):
            yield 1, one


def _stream(source: Source, problems: list[Problem]) -> Iterator[Session]:
    readers: dict[str, Export] = {}
    for number, one in source.objects(problems):
        part, id = one.get("part"), str(one.get("sessionID") or source.name)
        reader = readers.setdefault(id, Export(source, problems, number))
        reader.made.line = number
        if isinstance(part, dict):
            reader.part(part, _time(one.get("timestamp")), {})
        elif kind_of(one) not in _EVENTS:
            reader.made.unknown_record(kind_of(one))
    for id, reader in readers.items():
        if not reader.made.empty:
            yield reader.made.session(id, model=None, agent={"name": NAME, "version": None})


class Export:
    """Reads one session; a pass is what stands between a step's start and its finish."""

    def __init__(self, source: Source, problems: list[Problem], line: int) -> None:
        self.made = Building(source, problems, NAME)
        self.made.line = line
        self.step = 0
        self.open = False

    def session(self, document: Mapping[str, Any]) -> Session | None:
        info = table(document.get("info"))
        for row in rows(document.get("messages")):
            self._message(row)
        if self.made.empty:
            return None
        version = text(info.get("version"))
        return self.made.session(
            str(info.get("id") or self.made.source.name),
            version=version,
            model=next(iter(self.made.models()), None),
            parent=text(info.get("parentID")),
            agent={"name": NAME, "version": version},
        )

    def _message(self, row: Mapping[str, Any]) -> None:
        info, parts = table(row.get("info")), rows(row.get("parts"))
        time = _time(table(info.get("time")).get("created"))
        if info.get("role") == "user":
            self._user(parts, time)
            return
        self.open = False
        for part in parts:
            self.part(part, time, {"model": text(info.get("modelID"))})
        if parts and not any(kind_of(part) == "step-start" for part in parts):
            self._billed(info)

    def _user(self, parts: list[dict[str, Any]], time: str | None) -> None:
        typed = [part for part in parts if kind_of(part) in ("text", "file") and part.get("synthetic") is not True]
        rest = [part for part in parts if kind_of(part) == "text" and part.get("synthetic") is True]
        if any(kind_of(part) == "compaction" for part in parts):
            self.made.event("compaction")
        if typed:
            self.made.user(content_of(typed), time)
        if rest:
            self.made.history("user", content_of(rest))

    def part(self, part: Mapping[str, Any], time: str | None, facts: Mapping[str, Any]) -> None:
        """Take a part of an assistant's message."""
        kind = kind_of(part)
        if kind == "step-start":
            self.open = False
            self._say(time=time, **facts)
        elif kind in ("text", "reasoning") and isinstance(part.get("text"), str):
            words = {"content" if kind == "text" else "reasoning": part["text"]}
            self._say(time=time, **words, **facts)
        elif kind == "tool":
            self._say(time=time, **facts)
            self._tool(part)
        elif kind == "step-finish":
            self._say(time=time, **facts)
            self._billed(part)
            self.open = False
        elif kind == "compaction":
            self.made.event("compaction")
        elif kind not in _SILENT and kind != "file":
            self.made.unknown_record(f"part/{kind}")

    def _say(self, time: str | None = None, **facts: Any) -> None:
        if not self.open:
            self.open = True
            self.step += 1
        self.made.say(self.step, timestamp=time, **facts)

    def _tool(self, part: Mapping[str, Any]) -> None:
        state = table(part.get("state"))
        self.made.call(text(part.get("callID")), str(part.get("tool") or ""), state.get("input"))
        status = state.get("status")
        if status in ("completed", "error"):
            answer = state.get("output") if state.get("output") is not None else state.get("error")
            child = text(table(state.get("metadata")).get("sessionId"))
            extra = {"session": child} if child else {}
            self.made.answer(None if answer is None else content_of(answer), status == "error", extra)

    def _billed(self, info: Mapping[str, Any]) -> None:
        counts = info.get("tokens")
        if not isinstance(counts, dict) or not self.step:
            return
        cache = table(counts.get("cache"))
        output = tokens(counts.get("output"))
        completion = None if output is None else output + (tokens(counts.get("reasoning")) or 0)
        self.made.say(self.step, usage=usage_of(counts.get("input"), cache.get("write"), cache.get("read"), completion))


def _time(value: Any) -> str | None:
    """Return a time in milliseconds as ISO text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e14:
        return None
    return datetime.fromtimestamp(value / 1000, UTC).isoformat(timespec="milliseconds")


OPENCODE = Format(NAME, _recognises, _read, "`opencode export`, `opencode run --format json`.")
