"""What a recording holds for a replay, whatever the system: inputs, calls, and the texts of its history.

The recorded host's own searches are left out: a replay puts those of its system in their place.
A pass that did nothing but search existed only because that host had to; what the model said in
it counts as words before the next pass's calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from toolkit.session import Call, Event, Message, Pass, Session, Turn, text_of
from toolkit.tool import SEARCH_NAMES, compact_json

_MARKUP = re.compile(r"</?\w+>")


@dataclass(frozen=True, slots=True)
class ScriptPass:
    """One recorded request that every system makes too.

    Attributes:
        pass_no: Its number in the recorded turn, from 1.
        words: What the model said before its calls, in this pass and in searches just before.
        last_words: What the model had said last before that, in the session.
        calls: Its calls, searches left out.
        searched: What the recorded host was asked in the turn before it, as `Seen.recorded` orders it.
        before: Texts that joined the history since the pass before.
        reply: Texts of the reply that stay in the history: message, calls.
        results: Texts of the results.
        hidden: Reasoning: billed as output, not kept in the history.
        events: What changed before it.
        billed: Prompt tokens that the provider billed for it, where the recording says so.
        declared: What the recorded host declared, where the recording says so.
    """

    pass_no: int
    words: str
    last_words: str
    calls: tuple[Call, ...]
    before: tuple[str, ...] = ()
    reply: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()
    timestamp: str | None = None
    billed: int | None = None
    declared: tuple[str, ...] | None = None
    searched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptTurn:
    """One recorded turn; `before` joined the history before its input, `after` behind its last pass."""

    input: str
    passes: tuple[ScriptPass, ...]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()

    @property
    def called(self) -> tuple[str, ...]:
        """The names that the turn calls, each once."""
        return tuple(dict.fromkeys(call.name for one in self.passes for call in one.calls))


@dataclass(frozen=True, slots=True)
class Script:
    """A session, ready for replays; `left_out` counts the recorded searches."""

    session: Session
    turns: tuple[ScriptTurn, ...]
    left_out: int


def script(session: Session) -> Script:
    """Return the script of a session."""
    reader = _Reader({wire: name for name, wire in session.catalog.wire_names.items()})
    turns = tuple(reader.turn(turn) for turn in session.turns)
    return Script(session, turns, sum(map(is_search, session.calls())))


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


def call_text(call: Call) -> str:
    """Return a call as it stands in the history: compact JSON of its name and arguments."""
    if call.raw_arguments is not None:
        return compact_json({"name": call.name, "arguments": call.raw_arguments})
    return compact_json({"name": call.name, "arguments": call.arguments})


class _Reader:
    """Goes through a session once, in order; remembers what the model said last, and events that no pass took yet."""

    def __init__(self, by_wire: Mapping[str, str]) -> None:
        self.by_wire = by_wire
        self.last_words = ""
        self.carried: list[str] = []
        self.searched: list[str] = []
        self.asked_before: list[str] = []
        self.events: tuple[Event, ...] = ()

    def turn(self, turn: Turn) -> ScriptTurn:
        self.carried, self.searched, self.asked_before = [], [], []
        passes: list[ScriptPass] = []
        waiting: list[str] = []
        at_start, self.events = (*self.events, *turn.events), ()
        for number, one in enumerate(turn.passes, 1):
            if any(event.type == "compaction" for event in one.events):
                waiting.clear()
            waiting += (text for message in one.context for text in _message_texts(message))
            self.events += one.events
            calls = tuple(call for call in one.calls if not is_search(call))
            if not one.requested:
                waiting += (*_reply(one, calls), *_results(calls))
            elif one.calls and not calls:
                self.carried.append(one.words)
            else:
                passes.append(self._pass(number, one, calls, tuple(waiting)))
                waiting = []
            self.searched += (query_of(call) for call in one.calls if is_search(call))
        before = tuple(text for message in turn.context for text in _message_texts(message))
        return ScriptTurn(turn.words, tuple(passes), before, tuple(waiting), at_start)

    def _pass(self, number: int, one: Pass, calls: tuple[Call, ...], before: tuple[str, ...]) -> ScriptPass:
        words = "\n".join(filter(str.strip, (*self.carried, one.words)))
        made = ScriptPass(
            pass_no=number,
            words=words,
            last_words=self.last_words,
            calls=tuple(map(self._full, calls)),
            before=before,
            reply=_reply(one, calls),
            results=_results(calls),
            hidden=(one.reasoning,) if one.reasoning else (),
            events=self.events,
            timestamp=one.timestamp,
            billed=one.usage.prompt if one.usage else None,
            declared=one.declared,
            searched=(*self.searched, *reversed(self.asked_before)),
        )
        self.carried, self.events = [], ()
        self.asked_before += self.searched
        self.searched = []
        self.last_words = words or self.last_words
        return made

    def _full(self, call: Call) -> Call:
        """Return a call under its tool's full name, where it was made by the wire name (V6)."""
        name = self.by_wire.get(call.name, call.name)
        return call if name == call.name else replace(call, name=name)


def _reply(one: Pass, calls: tuple[Call, ...]) -> tuple[str, ...]:
    return tuple(filter(None, (one.words, *map(call_text, calls))))


def _results(calls: tuple[Call, ...]) -> tuple[str, ...]:
    return tuple(filter(None, (text_of(call.result.content) for call in calls if call.result is not None)))


def _message_texts(message: Message) -> Iterator[str]:
    yield from filter(None, (text_of(message.content), *map(call_text, message.calls), *_results(message.calls)))
