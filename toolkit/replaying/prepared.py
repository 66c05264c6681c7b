"""What a recording holds for a replay, whatever the system: inputs, calls, messages, and their tokens.

The recorded host's own searches are left out: a replay puts those of its system in their place.
A pass that did nothing but search existed only because that host had to; what the model said in
it counts as words before the next pass's calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Protocol

from toolkit.session import Call, Event, Message, Pass, Session, Turn, text_of
from toolkit.tool import SEARCH_NAMES, Tool

_MARKUP = re.compile(r"</?\w+>")
_ROLES = {"agent": "assistant"}


class Counter(Protocol):
    """What a replay and its ledger ask of a counter."""

    @property
    def name(self) -> str: ...
    def text(self, text: str) -> int: ...
    def definition(self, tool: Tool) -> int: ...
    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int: ...
    def said(self, role: str, text: str, calls: Sequence[Call] = ()) -> int: ...
    def results(self, calls: Sequence[Call]) -> int: ...
    def base(self) -> int: ...
    def overhead(self, tools: int, system: bool = True) -> int: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Uncounted:
    """The counter of a replay that nobody pays: everything is 0 tokens."""

    name: str = "uncounted"

    def text(self, text: str) -> int:
        return 0

    def definition(self, tool: Tool) -> int:
        return 0

    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        return 0

    def said(self, role: str, text: str, calls: Sequence[Call] = ()) -> int:
        return 0

    def results(self, calls: Sequence[Call]) -> int:
        return 0

    def base(self) -> int:
        return 0

    def overhead(self, tools: int, system: bool = True) -> int:
        return 0


@dataclass(frozen=True, slots=True)
class PreparedPass:
    """One recorded request that every system makes too, with its tokens, the same under all of them.

    Attributes:
        pass_no: Its number in the recorded turn, from 1.
        words: What the model said before its calls, in this pass and in searches just before.
        last_words: What the model had said last before that, in the session.
        before: Messages that joined the history since the pass before.
        reply: What the model said and called, under full names and each call with its result; searches left out.
        searched: What the recorded host was asked in the turn before it, as `Seen.recorded` orders it.
        events: What changed before it.
        at: When it was sent, in seconds; None without a clock.
        billed: Prompt tokens that the provider billed for it, where the recording says so.
        before_tokens, reply_tokens, results_tokens: Of `before`, of the reply, and of its calls' results.
        hidden_tokens: Of the reasoning: billed as output, not kept in the history.
        declared_tokens: Of what the recorded host declared, where the recording says so.
        messages: How many messages its reply and results are.
    """

    pass_no: int
    words: str
    last_words: str
    before: tuple[Message, ...]
    reply: Message
    searched: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    at: float | None = None
    billed: int | None = None
    before_tokens: int = 0
    reply_tokens: int = 0
    results_tokens: int = 0
    hidden_tokens: int = 0
    declared_tokens: int | None = None
    messages: int = 1

    @property
    def calls(self) -> tuple[Call, ...]:
        return self.reply.calls

    @property
    def compacts(self) -> bool:
        return _compacts(self.events)


@dataclass(frozen=True, slots=True)
class PreparedTurn:
    """One recorded turn; `before` joined the history before its input, `after` behind its last pass."""

    input: str
    passes: tuple[PreparedPass, ...]
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
    events: tuple[Event, ...] = ()
    before_tokens: int = 0
    input_tokens: int = 0
    after_tokens: int = 0

    @property
    def called(self) -> tuple[str, ...]:
        """The names that the turn calls, each once."""
        return tuple(dict.fromkeys(call.name for one in self.passes for call in one.calls))

    @property
    def compacts(self) -> bool:
        return _compacts(self.events)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session, ready for replays: `left_out` counts the recorded searches, `system_tokens` are in every request."""

    session: Session
    turns: tuple[PreparedTurn, ...]
    left_out: int
    system_tokens: int = 0

    def history_before(self) -> tuple[int, ...]:
        """Return the tokens of what stands before each turn's input: system text and recorded history, no searches."""
        starts: list[int] = []
        history = 0
        for turn in self.turns:
            history = turn.before_tokens + (0 if turn.compacts else history)
            starts.append(self.system_tokens + history)
            history += turn.input_tokens
            for one in turn.passes:
                own = one.before_tokens + one.reply_tokens + one.results_tokens
                history = own + (0 if one.compacts else history)
            history += turn.after_tokens
        return tuple(starts)


def prepare(session: Session, counter: Counter = Uncounted()) -> Prepared:
    """Return a session ready for replays, counted once for all systems."""
    reader = _Reader(session, counter)
    turns = tuple(reader.turn(turn) for turn in session.turns)
    system = counter.base() + (counter.message("system", session.system) if session.system else 0)
    return Prepared(session, turns, sum(map(is_search, session.calls())), system)


def is_search(call: Call) -> bool:
    """Say whether a recorded call was a search of the host that was recorded."""
    return call.kind == "search" or call.name in SEARCH_NAMES


def query_of(call: Call) -> str:
    """Return what a recorded search asked for: the words of its arguments, without markup; empty when it had none.

    >>> query_of(Call("c", "route", {"query": "<ask>tool: send a letter</ask>"}, "search"))
    'tool: send a letter'
    """
    known = (call.arguments[key] for key in ("query", "queries", "keywords", "pattern") if key in call.arguments)
    given = next(known, "")
    texts = given if isinstance(given, list | tuple) else [given]
    return _MARKUP.sub(" ", " ".join(text for text in texts if isinstance(text, str))).strip()


class _Reader:
    """Goes through a session once, in order; remembers what the model said last, and events that no pass took yet."""

    def __init__(self, session: Session, counter: Counter) -> None:
        self.catalog, self.counter = session.catalog, counter
        self._overhead = partial(counter.overhead, system=bool(session.system))
        self.by_wire: Mapping[str, str] = {wire: name for name, wire in session.catalog.wire_names.items()}
        self.last_words = ""
        self.carried: list[str] = []
        self.searched: list[str] = []
        self.asked_before: list[str] = []
        self.events: tuple[Event, ...] = ()
        self.declared: dict[tuple[str, ...], int] = {}

    def turn(self, turn: Turn) -> PreparedTurn:
        self.carried, self.searched, self.asked_before = [], [], []
        passes: list[PreparedPass] = []
        waiting: list[Message] = []
        at_start, self.events = (*self.events, *turn.events), ()
        for number, one in enumerate(turn.passes, 1):
            if _compacts(one.events):
                waiting.clear()
            waiting += one.context
            self.events += one.events
            reply = self._reply(one)
            if not one.requested:
                waiting.append(reply)
            elif one.calls and not reply.calls:
                self.carried.append(one.words)
            else:
                passes.append(self._pass(number, one, reply, tuple(waiting)))
                waiting = []
            self.searched += (query_of(call) for call in one.calls if is_search(call))
        return PreparedTurn(
            input=turn.words,
            passes=tuple(passes),
            before=turn.context,
            after=tuple(waiting),
            events=at_start,
            before_tokens=self._tokens(turn.context),
            input_tokens=self.counter.message("user", turn.words),
            after_tokens=self._tokens(waiting),
        )

    def _pass(self, number: int, one: Pass, reply: Message, before: tuple[Message, ...]) -> PreparedPass:
        words = "\n".join(filter(str.strip, (*self.carried, one.words)))
        made = PreparedPass(
            pass_no=number,
            words=words,
            last_words=self.last_words,
            before=before,
            reply=reply,
            searched=(*self.searched, *reversed(self.asked_before)),
            events=self.events,
            at=_seconds(one.timestamp),
            billed=one.usage.prompt if one.usage else None,
            before_tokens=self._tokens(before),
            reply_tokens=self.counter.said(reply.role, one.words, reply.calls),
            results_tokens=self.counter.results(reply.calls),
            hidden_tokens=self.counter.text(one.reasoning) if one.reasoning else 0,
            declared_tokens=None if one.declared is None else self._declared(one.declared),
            messages=1 + sum(bool(call.result and text_of(call.result.content)) for call in reply.calls),
        )
        self.carried, self.events = [], ()
        self.asked_before += self.searched
        self.searched = []
        self.last_words = words or self.last_words
        return made

    def _reply(self, one: Pass) -> Message:
        calls = (call for call in one.calls if not is_search(call))
        return Message("assistant", one.words, tuple(map(self._full, calls)))

    def _full(self, call: Call) -> Call:
        """Return a call under its tool's full name, where it was made by the wire name (V6)."""
        name = self.by_wire.get(call.name, call.name)
        return call if name == call.name else replace(call, name=name)

    def _tokens(self, messages: Iterable[Message]) -> int:
        said = ((_ROLES.get(one.role, one.role), text_of(one.content), one.calls) for one in messages)
        return sum(self.counter.message(*one) for one in said)

    def _declared(self, names: tuple[str, ...]) -> int:
        """Return the tokens of what the recorded host declared, by the names in the recording."""
        if names not in self.declared:
            tools = [tool for name in names if (tool := self.catalog.get(name))]
            self.declared[names] = sum(map(self.counter.definition, tools)) + self._overhead(len(tools))
        return self.declared[names]


def _seconds(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except ValueError:
        return None


def _compacts(events: Sequence[Event]) -> bool:
    return bool(events) and any(event.type == "compaction" for event in events)
