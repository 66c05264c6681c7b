"""A live host written down as a native session while it runs; a killed process leaves a whole, readable file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolkit.errors import InputError
from toolkit.formats.native.write import write_sessions
from toolkit.session import Call, Event, Pass, Result, Session, Turn
from toolkit.tool import SEARCH_NAMES, Catalog, Tool

MAIN = ""


@dataclass(slots=True)
class _Span:
    """A turn's or a step's passes as they grow; a step is a session of its own on disk."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    turns: list[Turn] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    declared: tuple[str, ...] = ()
    searchable: tuple[str, ...] = ()

    def whole(self) -> tuple[Turn, ...]:
        """Return the turns with the open one as far as it has got."""
        return (*self.turns[:-1], *(replace(turn, passes=tuple(self.passes)) for turn in self.turns[-1:]))

    def offered(self, offer: Any) -> None:
        """Take the offer that the passes to come are told."""
        self.declared = tuple(tool.name for tool in offer.declared)
        self.searchable = tuple(tool.name for tool in offer.searchable)


class Recording:
    """What a host notes goes into a session file, written anew and swapped in whole after every note.

    Args:
        path: A `.json`, `.jsonl`, `.jsonl.gz` or `.jsonl.zst` file; it is replaced.
        tools: What the host lists at its start.
        facts: The host's own settings: selector, profile, scope, policy…
        session_id: The session's id; the file's name by default.
    """

    def __init__(
        self, path: str | Path, tools: Sequence[Tool], facts: Mapping[str, Any], session_id: str | None = None
    ) -> None:
        self.path = Path(path)
        self.id = session_id or self.path.name.partition(".")[0]
        self.facts = facts
        self.tools: dict[str, Tool] = {}
        self.spans: dict[str, _Span] = {MAIN: _Span()}
        self.ended: list[_Span] = []
        self.calls = 0
        self.current = MAIN
        self.in_turn = False
        self.waiting: list[Event] = []
        self._define(tools)
        self.waiting += _full_lists(tools)
        self._write()

    def __call__(self, op: str, **body: Any) -> None:
        """Take one note of the host; `_NOTES` lists them."""
        handler = _NOTES.get(op)
        if handler is None:
            raise InputError(f"a recording takes no note {op!r}.", hint=f"Known: {', '.join(_NOTES)}.")
        handler(self, **body)
        self._write()

    def _define(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            self.tools.setdefault(tool.name, tool)

    def _event(self, type: str, **body: Any) -> None:
        """Put an event where it came: into the open pass after so many calls, else before the next step."""
        if type == "tools_changed":
            body = self._listed(body["source"], body["tools"])
        span = self.spans.get(self.current)
        if self.in_turn and span is not None and span.passes:
            late = Event(type, {**body, "after_calls": len(span.passes[-1].calls)})
            self._changed(self.current, events=(*span.passes[-1].events, late))
        else:
            self.waiting.append(Event(type, {**body, "in_turn": True} if self.in_turn else body))

    def _taken(self) -> tuple[Event, ...]:
        taken, self.waiting = tuple(self.waiting), []
        return taken

    def _listed(self, source: str, tools: Sequence[Tool]) -> dict[str, Any]:
        before = {tool.name for tool in self.tools.values() if tool.source == source}
        now = {tool.name for tool in tools}
        new = now - set(self.tools)
        self._define(tools)
        return {
            "source": source,
            "tools": [_row(tool) for tool in tools],
            "added": sorted(new),
            "removed": sorted(before - now),
        }

    def _turn(self, input: str, offer: Any) -> None:
        main = self.spans[MAIN]
        self._end_turn()
        main.turns = [*main.whole(), Turn(input, (), self._taken())]
        main.passes = []
        main.offered(offer)
        self.current, self.in_turn = MAIN, True

    def _end_turn(self) -> None:
        self.ended += [span for id, span in self.spans.items() if id != MAIN]
        self.spans = {MAIN: self.spans[MAIN]}
        self.in_turn = False

    def _step(self, id: str, parent: str, scope: Sequence[str] | None, offer: Any) -> None:
        above = self.spans[parent]
        calls = len(above.passes[-1].calls) if above.passes else 0
        at = {"turn": len(self.spans[MAIN].turns), "pass": len(above.passes), "after_calls": calls}
        span = _Span({"id": id, "parent": parent, "scope": None if scope is None else list(scope), **at}, [Turn()])
        span.offered(offer)
        self.spans[id] = span

    def _end_step(self, id: str) -> None:
        span = self.spans.pop(id)
        self.ended.append(span)
        self.current = span.facts["parent"]

    def _pass(self, span: str) -> None:
        one = self.spans[span]
        one.passes.append(Pass(declared=one.declared, searchable=one.searchable, events=self._taken()))
        self.current = span

    def _say(self, span: str, text: str, reasoning: str) -> None:
        self._changed(span, content=text, reasoning=reasoning)

    def _call(self, span: str, name: str, arguments: Any, verdict: Any, text: str) -> None:
        self.calls += 1
        self.current = span
        is_search = name in SEARCH_NAMES
        refused = verdict.code not in ("ok", "ask")
        result = Result(text or None, refused, verdict.names, {"verdict": verdict.code})
        call = Call(
            f"c{self.calls}",
            name,
            arguments if isinstance(arguments, Mapping) else {},
            "search" if is_search else "call",
            result,
            None if isinstance(arguments, Mapping) else str(arguments),
        )
        self._changed(span, calls=(*self.spans[span].passes[-1].calls, call))

    def _result(self, span: str, number: int, content: str, is_error: bool) -> None:
        calls = list(self.spans[span].passes[-1].calls)
        before = calls[number].result
        extra = before.extra if before is not None else {}
        self.current = span
        calls[number] = replace(calls[number], result=Result(content, is_error, (), extra))
        self._changed(span, calls=tuple(calls))

    def _changed(self, span: str, **fields: Any) -> None:
        passes = self.spans[span].passes
        passes[-1] = replace(passes[-1], **fields)

    def _write(self) -> None:
        catalog = Catalog(self.tools.values())
        facts = {"toolkit": {"source_format": "toolkit-host", "host": dict(self.facts)}}
        main = Session(self.id, catalog, self.spans[MAIN].whole(), extra=facts)
        spans = (*self.ended, *(span for id, span in self.spans.items() if id != MAIN))
        steps = (self._step_session(span, number, catalog) for number, span in enumerate(spans, 1))
        write_sessions([main, *steps], self.path)

    def _step_session(self, span: _Span, number: int, catalog: Catalog) -> Session:
        extra = {"toolkit": {"step": dict(span.facts)}}
        return Session(f"{self.id}/{number}", catalog, span.whole(), extra=extra, parent=self.id)


def _full_lists(tools: Sequence[Tool]) -> list[Event]:
    """Return the lists of the sources that name a tool which stands before already (V7): definitions hold each once."""
    doubled = dict.fromkeys(tool.source for tool in Catalog(tools).dropped)
    lists = {source: [_row(tool) for tool in tools if tool.source == source] for source in doubled}
    return [Event("tools_changed", {"source": source, "tools": rows}) for source, rows in lists.items()]


def _row(tool: Tool) -> dict[str, Any]:
    row = {"name": tool.name, "description": tool.description, "source": tool.source, "deferred": tool.deferred}
    if tool.schema_text:
        row["input_schema"] = tool.input_schema
    return {**row, **({"annotations": tool.annotations} if tool.annotations_text else {})}


_NOTES: dict[str, Callable[..., None]] = {
    "event": Recording._event,
    "turn": Recording._turn,
    "end_turn": Recording._end_turn,
    "step": Recording._step,
    "end_step": Recording._end_step,
    "pass": Recording._pass,
    "say": Recording._say,
    "call": Recording._call,
    "result": Recording._result,
}
