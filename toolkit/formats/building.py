"""A session built from what a log says, in its order: turns, passes, calls and their results, and the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from toolkit.formats.files import Problem
from toolkit.formats.importing import Source
from toolkit.formats.pieces import arguments_of, folded, joined
from toolkit.session import Call, Content, Event, Message, Pass, Result, Session, Turn
from toolkit.tool import CORE_NAMES, SEARCH_NAMES, Catalog, Tool

_ROLES = {"assistant": "agent", "developer": "system"}


@dataclass(slots=True)
class _Made:
    """A call while its result may still come; `wire` is its name as the log writes it, `name` the folded one."""

    id: str
    name: str
    wire: str
    arguments: Mapping[str, Any]
    kind: str
    raw: str | None
    extra: Mapping[str, Any]
    result: Result | None = None

    def whole(self) -> Call:
        return Call(self.id, self.name, self.arguments, self.kind, self.result, self.raw, self.extra)


@dataclass(slots=True)
class _Open:
    """A pass while pieces of it may still come."""

    events: tuple[Event, ...]
    context: tuple[Message, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    said: list[Content] = field(default_factory=list)
    reasoned: list[str] = field(default_factory=list)
    calls: list[_Made] = field(default_factory=list)

    def whole(self) -> Pass:
        return Pass(
            joined(self.said) if self.said else "",
            "\n".join(self.reasoned),
            tuple([made.whole() for made in self.calls]),
            events=self.events,
            context=self.context,
            **self.facts,
        )


@dataclass(slots=True)
class _Span:
    """A turn while it grows."""

    turn: Turn
    passes: list[_Open] = field(default_factory=list)

    def whole(self) -> Turn:
        return replace(self.turn, passes=tuple([one.whole() for one in self.passes]))


def _add(said: list[Any], piece: Content) -> None:
    """Add a piece of a message; a text that goes on from the piece before takes its place."""
    if said and isinstance(piece, str) and isinstance(said[-1], str) and piece.startswith(said[-1]):
        said[-1] = piece
    else:
        said.append(piece)


class Building:
    """A session as its log tells it, record by record.

    Args:
        source: The file, for where problems stand.
        problems: What was skipped or doubted goes here.
        format: The format's name, kept as `extra.toolkit.source_format`.
    """

    def __init__(self, source: Source, problems: list[Problem], format: str) -> None:
        self.source, self.problems, self.format = source, problems, format
        self.line = 0
        self.turns: list[_Span] = []
        self.system_texts: list[str] = []
        self.tools: dict[str, Tool] = {}
        self.unknown: Counter[str] = Counter()
        self.keys: dict[Any, _Open] = {}
        self.made: dict[str, list[_Made]] = {}
        self.events: list[Event] = []
        self.context: list[Message] = []

    def note(self, code: str, message: str) -> None:
        """Note a problem at the record that is being read (`line`)."""
        self.source.note(self.problems, self.line, code, message)

    def unknown_record(self, kind: object) -> None:
        """Count a record of a type that the importer does not know; told by kind when the session is done."""
        self.unknown[str(kind)] += 1

    def define(self, tools: Iterable[Tool]) -> tuple[str, ...]:
        """Add definitions; the first of a name that has a schema stays. Return their names."""
        names = []
        for tool in tools:
            before = self.tools.get(tool.name)
            if before is None or (tool.schema_text and not before.schema_text):
                self.tools[tool.name] = tool
            names.append(tool.name)
        return tuple(dict.fromkeys(names))

    def system(self, text: str) -> None:
        """Take the system prompt; the same text again adds nothing."""
        if text and text not in self.system_texts:
            self.system_texts.append(text)

    def event(self, type: str, **body: Any) -> None:
        """Put an event before the next turn or pass."""
        self.events.append(Event(type, body))

    def history(self, role: str, content: Content, calls: tuple[Call, ...] = ()) -> None:
        """Put a message that no pass wrote into the history before the next turn or pass."""
        if content or calls:
            self.context.append(Message(_ROLES.get(role, role), content, calls))

    def user(self, content: Content, timestamp: str | None = None, **extra: Any) -> None:
        """Begin a turn with a person's input."""
        turn = Turn(content, (), *self._before(), timestamp, extra)
        self.turns.append(_Span(turn))

    def say(
        self,
        key: Any = None,
        content: Content = "",
        reasoning: str = "",
        extra: Mapping[str, Any] | None = None,
        **facts: Any,
    ) -> None:
        """Begin a pass, or go on with the one of the same `key`: the pieces of one streamed response are one pass.

        `facts` are fields of `Pass` (usage, declared, searchable, timestamp, model, requested); a later one wins,
        None changes nothing. A text that goes on from the one before takes its place.
        """
        one = self.keys.get(key) if key is not None else None
        if one is None:
            one = self._begin(key)
        self._open = one
        for name, value in facts.items():
            if value is not None:
                one.facts[name] = value
        if extra:
            one.facts["extra"] = {**one.facts.get("extra", {}), **extra}
        if content:
            _add(one.said, content)
        if reasoning:
            _add(one.reasoned, reasoning)

    def _begin(self, key: Any) -> _Open:
        one = _Open(*self._before())
        if not self.turns:
            self.turns.append(_Span(Turn()))
        self.turns[-1].passes.append(one)
        if key is not None:
            self.keys[key] = one
        return one

    _open: _Open | None = None

    def call(
        self, id: str | None, name: str, arguments: Any, kind: str = "call", extra: Mapping[str, Any] | None = None
    ) -> None:
        """Add a call to the pass that was spoken last; `name` is the host's, and is folded.

        An id that came before gets `#2`, `#3`… so that ids are unique in the session; results are still joined by
        the id as written.
        """
        if self._open is None:
            self.say()
        assert self._open is not None
        mapping, raw, flag = arguments_of(arguments)
        wire = str(id or "")
        before = self.made.setdefault(wire, [])
        own = wire if wire and not before else f"{wire or 'call'}#{len(before) + 1}"
        more = {**(extra or {}), "flags": [flag]} if flag else extra or {}
        made = _Made(own, folded(name), name, mapping, kind, raw, more)
        before.append(made)
        self._open.calls.append(made)

    def result(
        self,
        id: str | None,
        content: Content | None,
        is_error: bool = False,
        returned: Sequence[str] = (),
        extra: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> bool:
        """Join a result to its call: by id (the newest pass first, in order), without an id by name, then by order.

        Return False, noted as `orphan_result` or `doubled_result`, where no call waits for it: then it is history
        that the model read.
        """
        made = self._waiting(str(id or ""), name)
        if made is None:
            doubled = bool(id) and str(id) in self.made
            code = "doubled_result" if doubled else "orphan_result"
            self.note(code, f"a result for {id!r} {'came again' if doubled else 'belongs to no call'}; it is history.")
            if not doubled:
                self.history("tool", content or "")
            return False
        made.result = Result(content, is_error, tuple([folded(one) for one in returned]), extra or {})
        return True

    def answer(self, content: Content | None, is_error: bool = False, extra: Mapping[str, Any] | None = None) -> None:
        """Give the call that was made last its result, for logs that keep both in one record."""
        if self._open is not None and self._open.calls:
            self._open.calls[-1].result = Result(content, is_error, (), extra or {})

    def _waiting(self, id: str, name: str | None) -> _Made | None:
        if id:
            ones = self.made.get(id, ())
            return self._newest([made for made in ones if made.result is None]) if ones else None
        waiting = [made for ones in self.made.values() for made in ones if made.result is None]
        named = [made for made in waiting if made.wire == name]
        found = named if name is not None else waiting
        return found[0] if found else None

    def _newest(self, waiting: list[_Made]) -> _Made | None:
        """Return the first of those calls that the newest pass made."""
        if len(waiting) < 2:
            return waiting[0] if waiting else None
        for span in reversed(self.turns):
            for one in reversed(span.passes):
                if found := next((made for made in waiting if any(made is own for own in one.calls)), None):
                    return found
        return waiting[0]

    def _before(self) -> tuple[tuple[Event, ...], tuple[Message, ...]]:
        if not self.events and not self.context:
            return (), ()
        before = tuple(self.events), tuple(self.context)
        self.events, self.context = [], []
        return before

    def models(self) -> tuple[str, ...]:
        """Return the models of the passes so far, each once."""
        models = (one.facts.get("model") for span in self.turns for one in span.passes)
        return tuple(dict.fromkeys(model for model in models if model))

    @property
    def empty(self) -> bool:
        """True while neither a turn nor a pass has come."""
        return not self.turns

    def session(self, id: str, *, version: str | None = None, **facts: Any) -> Session:
        """Return the session; `facts` are further fields of `Session` (model, agent, outcome, extra, parent).

        Names that were called without a definition become tools without a schema; `definitions` is then `missing`.
        """
        for kind, times in self.unknown.items():
            self.line = 0
            self.note("unknown_record", f"{times} records of type {kind!r} are not known; they were passed over.")
        ours = {
            "source_format": self.format,
            "source_version": version,
            "unknown_records": dict(self.unknown) or None,
        }
        extra = {**facts.pop("extra", {}), "toolkit": {key: value for key, value in ours.items() if value}}
        called = {made.name for made in self._calls() if made.kind == "call"}
        bare = sorted(called - set(self.tools) - SEARCH_NAMES - CORE_NAMES)
        known = all(tool.schema_text for tool in self.tools.values()) and not bare and bool(self.tools)
        return Session(
            id=id,
            catalog=Catalog((*self.tools.values(), *map(Tool, bare))),
            turns=tuple(span.whole() for span in self.turns),
            system="\n\n".join(self.system_texts),
            definitions=facts.pop("definitions", "recorded" if known else "missing"),
            extra=extra,
            source=f"{self.source.path}:1",
            **facts,
        )

    def _calls(self) -> Iterator[_Made]:
        for made in self.made.values():
            yield from made
