"""What a live host notes, made into native sessions note by note."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolkit.errors import IllegalStepError, InputError
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

    def offered(self, declared: Sequence[str], searchable: Sequence[str]) -> None:
        """Take the offer that the passes to come are told."""
        self.declared, self.searchable = tuple(declared), tuple(searchable)


class Notes:
    """What a host noted, as the sessions that it makes: the recording itself, then its steps.

    Each note has a number, which stands beside what it wrote (`live`): `rerun` goes by it. A note holds only what
    JSON holds, so that one that was read from a file is taken like one that a host just made.

    Args:
        tools: What the host lists at its start.
        facts: The host's own settings: selector, profile, scope, policy…
        session_id: The session's id.
    """

    def __init__(self, tools: Sequence[Tool], facts: Mapping[str, Any], session_id: str) -> None:
        self.id = session_id
        self.tools: dict[str, Tool] = {}
        self.spans: dict[str, _Span] = {MAIN: _Span()}
        self.ended: list[_Span] = []
        self.calls = 0
        self.current = MAIN
        self.in_turn = False
        self.waiting: list[Event] = []
        self.no = 0
        self._define(tools)
        self.facts = {**facts, "at_start": len(self.tools)}
        self.waiting += _full_lists(tools)

    def _live(self, **facts: Any) -> dict[str, Any]:
        """Return what a rerun needs of a note, as an `extra`."""
        return {"live": {"no": self.no, **facts}}

    def take(self, op: str, body: Mapping[str, Any]) -> None:
        """Take one note; `_NOTES` lists them.

        Raises:
            InputError: There is no such note.
            IllegalStepError: It is of what is not there.
        """
        handler = _NOTES.get(op)
        if handler is None:
            raise InputError(f"a recording takes no note {op!r}.", hint=f"Known: {', '.join(_NOTES)}.")
        self.no += 1
        handler(self, **body)

    def _define(self, tools: Sequence[Tool]) -> None:
        for tool in tools:
            self.tools.setdefault(tool.name, tool)

    def _event(self, type: str, **body: Any) -> None:
        """Put an event where it came: into the open pass after so many calls, else before the next step."""
        if type == "tools_changed":
            body = self._listed(body["source"], body["tools"])
        body = {**body, "no": self.no}
        span = self.spans.get(self.current)
        if self.in_turn and span is not None and span.passes:
            late = Event(type, {**body, "after_calls": len(span.passes[-1].calls)})
            self._changed(self.current, events=(*span.passes[-1].events, late))
        else:
            self.waiting.append(Event(type, {**body, "in_turn": True} if self.in_turn else body))

    def _taken(self) -> tuple[Event, ...]:
        taken, self.waiting = tuple(self.waiting), []
        return taken

    def _listed(self, source: str, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        tools = [tool_of(row) for row in rows]
        before = {tool.name for tool in self.tools.values() if tool.source == source}
        now = {tool.name for tool in tools}
        new = now - set(self.tools)
        self._define(tools)
        return {
            "source": source,
            "tools": list(rows),
            "added": sorted(new),
            "removed": sorted(before - now),
        }

    def _turn(self, input: str, history_tokens: int, declared: Sequence[str], searchable: Sequence[str]) -> None:
        main = self.spans[MAIN]
        extra = self._live(history_tokens=history_tokens)
        main.turns = [*main.whole(), Turn(input, (), self._taken(), extra=extra)]
        main.passes = []
        main.offered(declared, searchable)
        self.current, self.in_turn = MAIN, True

    def _end_turn(self) -> None:
        self.ended += [span for id, span in self.spans.items() if id != MAIN]
        main = self.spans[MAIN]
        self.spans = {MAIN: main}
        over = main.turns[-1]
        main.turns[-1] = replace(over, extra={"live": {**over.extra["live"], "end": self.no}})
        self.in_turn = False

    def _step(
        self,
        id: str,
        parent: str,
        scope: Sequence[str] | None,
        declared: Sequence[str],
        searchable: Sequence[str],
    ) -> None:
        above = self.spans[parent]
        calls = len(above.passes[-1].calls) if above.passes else 0
        at = {"turn": len(self.spans[MAIN].turns), "pass": len(above.passes), "after_calls": calls, "no": self.no}
        span = _Span({"id": id, "parent": parent, "scope": None if scope is None else list(scope), **at}, [Turn()])
        span.offered(declared, searchable)
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

    def _call(
        self, span: str, name: str, arguments: Any, code: str, found: Sequence[str], text: str, confirmed: bool = False
    ) -> None:
        self.calls += 1
        self.current = span
        kind, refused = "search" if name in SEARCH_NAMES else "call", code not in ("ok", "ask")
        result = Result(text or None, refused, tuple(found), {"verdict": code})
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

    def sessions(self) -> list[Session]:
        """Return the sessions as far as they have got."""
        catalog = Catalog(self.tools.values())
        host = {**self.facts, **({"after": [one.body for one in self.waiting]} if self.waiting else {})}
        facts = {"toolkit": {"source_format": "toolkit-host", "host": host}}
        main = Session(self.id, catalog, self.spans[MAIN].whole(), extra=facts)
        spans = (*self.ended, *(span for id, span in self.spans.items() if id != MAIN))
        return [main, *(self._step_session(span, number, catalog) for number, span in enumerate(spans, 1))]

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
    lists = {source: [row_of(tool) for tool in tools if tool.source == source] for source in doubled}
    return [Event("tools_changed", {"source": source, "tools": rows}) for source, rows in lists.items()]


def tool_of(row: Mapping[str, Any]) -> Tool:
    """Return the tool of a row that `row_of` made."""
    facts = (row["source"], row["deferred"], row.get("annotations"))
    return Tool(row["name"], row["description"], row.get("input_schema"), *facts)


def row_of(tool: Tool) -> dict[str, Any]:
    """Return a tool as a note holds it."""
    row = {"name": tool.name, "description": tool.description, "source": tool.source, "deferred": tool.deferred}
    if tool.schema_text:
        row["input_schema"] = tool.input_schema
    return {**row, **({"annotations": tool.annotations} if tool.annotations_text else {})}


_NOTES: dict[str, Callable[..., None]] = {
    "event": Notes._event,
    "turn": Notes._turn,
    "end_turn": Notes._end_turn,
    "step": Notes._step,
    "end_step": Notes._end_step,
    "pass": Notes._pass,
    "say": Notes._say,
    "call": Notes._call,
    "result": Notes._result,
}
