"""The tokens of a recording, counted once for all systems: what its messages hold, turn by turn, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from toolkit.replaying.script import Script, ScriptPass, ScriptTurn
from toolkit.session import Call, Event
from toolkit.tool import Tool


class Counter(Protocol):
    """What the ledger asks of a counter."""

    @property
    def name(self) -> str: ...
    def text(self, text: str) -> int: ...
    def definition(self, tool: Tool) -> int: ...
    def message(self, role: str, text: str, calls: Sequence[Call] = ()) -> int: ...
    def base(self) -> int: ...
    def overhead(self, tools: int) -> int: ...
    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class PassTokens:
    """Tokens of one recorded pass, the same under every system."""

    before: int
    reply: int
    results: int
    hidden: int
    compacts: bool
    messages: int = 2
    at: float | None = None
    billed: int | None = None
    declared: int | None = None


@dataclass(frozen=True, slots=True)
class TurnTokens:
    """Tokens of one recorded turn, the same under every system."""

    before: int
    input: int
    after: int
    compacts: bool
    passes: tuple[PassTokens, ...]


@dataclass(frozen=True, slots=True)
class ScriptTokens:
    """Tokens of a recording, counted once for all systems."""

    system: int
    turns: tuple[TurnTokens, ...]


def count_script(script: Script, counter: Counter) -> ScriptTokens:
    """Count every text of a recording."""
    definitions = _Declared(script, counter)
    turns = tuple(_turn_tokens(turn, counter, definitions) for turn in script.turns)
    system = script.session.system
    return ScriptTokens(counter.base() + (counter.message("system", system) if system else 0), turns)


def history_before(tokens: ScriptTokens) -> tuple[int, ...]:
    """Return the tokens of what stands before each turn's input: system text and recorded history, no searches."""
    starts: list[int] = []
    history = 0
    for turn in tokens.turns:
        history = turn.before + (0 if turn.compacts else history)
        starts.append(tokens.system + history)
        history += turn.input
        for one in turn.passes:
            history = one.before + one.reply + one.results + (0 if one.compacts else history)
        history += turn.after
    return tuple(starts)


def _turn_tokens(turn: ScriptTurn, counter: Counter, declared: _Declared) -> TurnTokens:
    passes = tuple(_pass_tokens(one, counter, declared) for one in turn.passes)
    before, after = _messages(turn.before, counter), _messages(turn.after, counter)
    return TurnTokens(before, counter.message("user", turn.input), after, _compacts(turn.events), passes)


def _pass_tokens(one: ScriptPass, counter: Counter, declared: _Declared) -> PassTokens:
    words = one.reply[0] if len(one.reply) > len(one.calls) else ""
    unanswered = tuple(replace(call, result=None) for call in one.calls)
    said = counter.message("assistant", words, unanswered)
    return PassTokens(
        before=_messages(one.before, counter),
        reply=said,
        results=counter.message("assistant", words, one.calls) - said,
        hidden=sum(map(counter.text, one.hidden)),
        compacts=_compacts(one.events),
        messages=1 + len(one.results),
        at=_seconds(one.timestamp),
        billed=one.billed,
        declared=declared(one.declared),
    )


class _Declared:
    """Tokens of what the recorded host declared, by the names in the recording."""

    def __init__(self, script: Script, counter: Counter) -> None:
        self.catalog, self.counter = script.session.catalog, counter
        self.known: dict[tuple[str, ...], int] = {}

    def __call__(self, names: tuple[str, ...] | None) -> int | None:
        if names is None:
            return None
        if names not in self.known:
            tools = [tool for name in names if (tool := self.catalog.get(name))]
            self.known[names] = sum(map(self.counter.definition, tools)) + self.counter.overhead(len(tools))
        return self.known[names]


def _messages(texts: tuple[str, ...], counter: Counter) -> int:
    return sum(counter.message("user", text) for text in texts)


def _seconds(timestamp: str | None) -> float | None:
    try:
        return datetime.fromisoformat(timestamp).timestamp() if timestamp else None
    except ValueError:
        return None


def _compacts(events: tuple[Event, ...]) -> bool:
    return any(event.type == "compaction" for event in events)
