"""A live host written down as a native session while it runs; a killed process leaves a whole, readable file."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from toolkit.errors import IllegalStepError, InputError
from toolkit.formats.native.write import write_sessions
from toolkit.plain import plain
from toolkit.session import Call, Content, Event, Pass, Result, Session, Turn
from toolkit.tool import SEARCH_NAMES, Catalog, Tool, compact_json

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

    Each note has a number, which stands beside what it wrote (`live`): `rerun` goes by it. Where the file cannot be
    written the host goes on, one warning says so, and the next note that can be written writes all.

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
        self.tools: dict[str, Tool] = {}
        self.spans: dict[str, _Span] = {MAIN: _Span()}
        self.ended: list[_Span] = []
        self.calls = 0
        self.current = MAIN
        self.in_turn = False
        self.waiting: list[Event] = []
        self.no = 0
        self.lost = False
        self._define(tools)
        self.facts = {**facts, "at_start": len(self.tools)}
        self.waiting += _full_lists(tools)
        self._write()

    def _live(self, **facts: Any) -> dict[str, Any]:
        """Return what a rerun needs of a note, as an `extra`."""
        return {"live": {"no": self.no, **facts}}

    def __call__(self, op: str, **body: Any) -> None:
        """Take one note of the host; `_NOTES` lists them."""
        handler = _NOTES.get(op)
        if handler is None:
            raise InputError(f"a recording takes no note {op!r}.", hint=f"Known: {', '.join(_NOTES)}.")
        self.no += 1
        handler(self, **body)
        try:
            self._write()
            self.lost = False
        except OSError as error:
            self._tell(error)

    def _tell(self, error: OSError) -> None:
        """Warn that nothing is written now, once until it is again."""
        lost, self.lost = self.lost, True
        if not lost:
            text = f"{self.path} cannot be written: {error.strerror or error}. The host goes on; it is tried again."
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _define(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            self.tools.setdefault(tool.name, tool)

    def _event(self, type: str, **body: Any) -> None:
        """Put an event where it came: into the open pass after so many calls, else before the next step."""
        if type == "tools_changed":
            body = self._listed(body["source"], body["tools"])
        body = {**plain(body), "no": self.no}
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

    def _turn(self, input: str, history_tokens: int, offer: Any) -> None:
        main = self.spans[MAIN]
        extra = self._live(history_tokens=history_tokens)
        main.turns = [*main.whole(), Turn(input, (), self._taken(), extra=extra)]
        main.passes = []
        main.offered(offer)
        self.current, self.in_turn = MAIN, True

    def _end_turn(self) -> None:
        self.ended += [span for id, span in self.spans.items() if id != MAIN]
        main = self.spans[MAIN]
        self.spans = {MAIN: main}
        over = main.turns[-1]
        main.turns[-1] = replace(over, extra={"live": {**over.extra["live"], "end": self.no}})
        self.in_turn = False

    def _step(self, id: str, parent: str, scope: Sequence[str] | None, offer: Any) -> None:
        above = self.spans[parent]
        calls = len(above.passes[-1].calls) if above.passes else 0
        at = {"turn": len(self.spans[MAIN].turns), "pass": len(above.passes), "after_calls": calls, "no": self.no}
        span = _Span({"id": id, "parent": parent, "scope": None if scope is None else list(scope), **at}, [Turn()])
        span.offered(offer)
        self.spans[id] = span

    def _end_step(self, id: str) -> None:
        span = self.spans[id]
        span.facts = {**span.facts, "end": self.no}
        self.current = span.facts["parent"]
        over = {id}
        for inner, one in self.spans.items():
            over |= {inner} if one.facts.get("parent") in over else set()
        self.ended += [self.spans.pop(inner) for inner in list(self.spans) if inner in over]

    def _pass(self, span: str) -> None:
        one = self.spans[span]
        events, extra = self._taken(), self._live()
        one.passes.append(Pass(declared=one.declared, searchable=one.searchable, events=events, extra=extra))
        self.current = span

    def _say(self, span: str, pass_no: int, text: Any, reasoning: Any) -> None:
        self._changed(span, pass_no, content=_content(text), reasoning=_content(reasoning))

    def _call(self, span: str, name: str, arguments: Any, confirmed: bool, verdict: Any, text: str) -> None:
        self.calls += 1
        self.current = span
        kind, refused = "search" if name in SEARCH_NAMES else "call", verdict.code not in ("ok", "ask")
        result = Result(text or None, refused, verdict.names, {"verdict": verdict.code})
        written = arguments if isinstance(arguments, str) else compact_json(arguments)
        odd = not isinstance(arguments, Mapping)
        call = Call(
            f"c{self.calls}",
            name,
            {} if odd else arguments,
            kind,
            result,
            written if odd else None,
            self._live(**({"given": arguments} if odd else {}), **({"confirmed": True} if confirmed else {})),
        )
        self._changed(span, calls=(*self.spans[span].passes[-1].calls, call))

    def _result(self, span: str, pass_no: int, number: int, content: Any, is_error: bool) -> None:
        calls = list(self._open(span).passes[pass_no - 1].calls)
        if not 0 <= number < len(calls):
            raise IllegalStepError(
                f"there is no call {number} in this pass.", hint=f"It has {len(calls)}, counted from 0."
            )
        before = calls[number].result
        extra = before.extra if before is not None else {}
        self.current = span
        calls[number] = replace(calls[number], result=Result(_content(content), is_error, (), extra))
        self._changed(span, pass_no, calls=tuple(calls))

    def _open(self, span: str) -> _Span:
        if span not in self.spans:
            raise IllegalStepError("this step is over.", hint="Put down what it said and got before it ends.")
        return self.spans[span]

    def _changed(self, span: str, pass_no: int = 0, **fields: Any) -> None:
        """Change a pass of a span: the newest, or the one of a number."""
        passes = self._open(span).passes
        passes[pass_no - 1] = replace(passes[pass_no - 1], **fields)

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


def _content(given: Any) -> Content:
    """Return what was said or answered: text, parts of a message, or any other value as JSON."""
    if isinstance(given, str) or given is None:
        return given or ""
    parts = plain(given)
    if isinstance(parts, list) and parts and all(isinstance(part, dict) and "type" in part for part in parts):
        return tuple(parts)
    return compact_json(parts)


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
