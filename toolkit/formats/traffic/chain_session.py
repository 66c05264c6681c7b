"""The requests of one chain written as a session: of each what had not been told before, and its reply."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.pieces import folded
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.exchanges import Exchange
from toolkit.session import Call, Session, text_of


@dataclass(frozen=True, slots=True)
class Run:
    """A tool that a log says was run, apart from the messages: a span of its own."""

    call: Piece
    answer: Piece | None = None
    group: str = ""
    conversation: str | None = None
    agent: str = ""


class Writer:
    """Writes the steps of one chain into a session: of every request what had not been told before."""

    def __init__(self, building: Building, transcript: bool) -> None:
        self.building, self.transcript = building, transcript
        self.told: Counter[Any] = Counter()
        self.passes = 0
        self.answered: Counter[Any] = Counter()
        self.runs: Counter[Any] = Counter()
        self.foreign: set[Any] = set()

    def session(self, steps: Sequence[Exchange | Run], id: str, facts: Mapping[str, Any]) -> Session:
        """Return the session of the steps of one chain; `facts` are further fields of it."""
        for step in steps:
            if isinstance(step, Run):
                self._run(step)
            else:
                self._exchange(step)
        models = [step.model for step in steps if isinstance(step, Exchange) and step.model]
        return self.building.session(id, **{"model": models[0] if models else None, **facts})

    def _exchange(self, one: Exchange) -> None:
        self._alias(one)
        declared = self.building.define(one.tools) if one.tools is not None else None
        new = list(one.history if one.previous else self._new(one.history))
        for piece in (piece for piece in new if piece.kind == "tools"):
            self.building.define(piece.tools)
        self._history(new, one)
        if one.reply is None and (self.transcript or one.history):
            return
        waiting = {tool.name for tool in one.tools or () if tool.deferred}
        self.passes += 1
        self.building.say(
            self.passes,
            usage=one.usage,
            model=one.model,
            timestamp=one.timestamp,
            declared=None if declared is None else tuple(name for name in declared if name not in waiting),
            searchable=tuple(name for name in declared or () if name in waiting) or None,
        )
        self._reply(one.reply or ())
        self.told.update(piece.key for piece in one.reply or ())

    def _alias(self, one: Exchange) -> None:
        """Define a tool under its namespace too where a call names it so: a search puts single tools into one each."""
        tools = {tool.name: tool for tool in one.tools or ()}
        for piece in one.reply or ():
            name = folded(piece.name or "")
            plain = tools.get(folded(name.rpartition(".")[2]))
            if piece.kind == "call" and name not in tools and name.count(".") == 2 and plain is not None:
                self.building.define([plain.renamed(name)])

    def _new(self, history: tuple[Piece, ...]) -> Iterator[Piece]:
        """Yield the pieces of a request that were not told before, as often as they stand there more."""
        counted: Counter[Any] = Counter()
        for piece in history:
            counted[piece.key] += 1
            if counted[piece.key] > self.told[piece.key]:
                yield piece
        self.told |= counted

    def _history(self, pieces: list[Piece], one: Exchange) -> None:
        calls: list[Piece] = []
        for number, piece in enumerate(pieces):
            if piece.kind == "system" and not self.building.system_texts and self.building.empty:
                self.building.system(text_of(piece.content))
            elif piece.kind == "user":
                self._flush(calls)
                self.building.user(piece.content, one.timestamp if not self.building.empty or number else None)
            elif piece.kind == "result":
                self._flush(calls)
                self._result(piece)
            elif self.transcript and one.reply is None:
                self._spoken(piece, pieces[number - 1].kind if number else "", one)
            elif piece.kind == "call":
                calls.append(piece)
            elif piece.kind in ("text", "system"):
                self._flush(calls)
                self.building.history("assistant" if piece.kind == "text" else "system", piece.content)
        self._flush(calls)

    def _spoken(self, piece: Piece, before: str, one: Exchange) -> None:
        """Take a piece of a model's message in a transcript; its message is a pass."""
        if piece.kind not in ("text", "call", "reasoning"):
            return
        if before not in ("text", "call", "reasoning"):
            self.passes += 1
        names = tuple(tool.name for tool in one.tools) if one.tools else None
        self.building.say(self.passes, model=one.model, declared=names)
        self._reply((piece,))

    def _flush(self, calls: list[Piece]) -> None:
        """Put calls that no recorded response made into the history."""
        if calls:
            made = tuple(Call(one.id or f"call#{n}", folded(one.name or "?")) for n, one in enumerate(calls, 1))
            self.building.history("assistant", "", made)
            self.foreign = {one.id or one.name for one in calls} | self.foreign
            calls.clear()

    def _reply(self, pieces: Iterable[Piece]) -> None:
        for piece in pieces:
            if piece.kind == "text":
                self.building.say(self.passes, piece.content)
            elif piece.kind == "reasoning":
                self.building.say(self.passes, reasoning=text_of(piece.content))
            elif piece.kind == "call":
                self.building.call(piece.id, piece.name or "?", piece.arguments, "search" if piece.search else "call")
            elif piece.kind == "result":
                self._result(piece)
            elif piece.kind == "tools":
                self.building.define(piece.tools)

    def _result(self, piece: Piece) -> None:
        self.building.define(piece.tools)
        key = piece.id or piece.name
        if key in self.foreign and not any(made.result is None for made in self.building.made.get(piece.id or "", ())):
            self.building.history("tool", piece.content)
            return
        name = piece.name
        if not piece.id and name is not None and not any(name == made.wire for made in self.building.made.get("", ())):
            name = self._only_waiting(name)
        if self.answered[key] and not self._waits(piece):
            return
        self.answered[key] += 1
        self.building.result(piece.id, piece.content, piece.is_error, piece.returned, name=name)

    def _waits(self, piece: Piece) -> bool:
        return any(one.result is None for one in self.building.made.get(piece.id or "", ()))

    def _only_waiting(self, name: str) -> str | None:
        """Return the name under which a call with an id waits for a result that has none."""
        waiting = [one for ones in self.building.made.values() for one in ones if one.result is None]
        return name if any(one.wire == name for one in waiting) else None

    def _run(self, run: Run) -> None:
        """Take a tool that ran: the answer of a call that is known, else a call that no message told."""
        made = self._ran(run)
        if made is None:
            if not self.passes:
                self.passes += 1
            self.building.say(self.passes, requested=None if self.passes in self.building.keys else False)
            self.building.call(run.call.id, run.call.name or "?", run.call.arguments)
            self.told[run.call.key] += 1
            made = self.building.made[run.call.id or ""][-1]
        if made.result is None and run.answer is not None:
            self.answered[made.id or made.wire] += 1
            self.told["result", made.id or made.wire] += 1
            self.building.result(made.id, run.answer.content, run.answer.is_error, name=made.wire)

    def _ran(self, run: Run) -> Any:
        """Return the first call of a run's id, else of its name, that no run was seen for."""
        calls = [one for ones in self.building.made.values() for one in ones]
        ones = [one for one in calls if one.id == run.call.id] if run.call.id else []
        ones = ones or [one for one in calls if one.wire == run.call.name and not (one.id and run.call.id)]
        key = run.call.id or run.call.name
        self.runs[key] += 1
        return ones[self.runs[key] - 1] if len(ones) >= self.runs[key] else None
