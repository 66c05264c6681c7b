"""What a replay produced: for every turn the offer, for every pass what it was for and what became of its calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from toolkit.engine.offer import Offer
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.engine.state import Basis
from toolkit.session import Call, call_text, text_of

SERVED, SEARCHED, MISSED, BLOCKED = "served", "searched", "missed", "blocked"


@dataclass(frozen=True, slots=True)
class CallTrace:
    """What would have become of one recorded call.

    Attributes:
        name: The recorded tool.
        fate: `served` (declared), `searched` (served: found by a search), `missed` (no search found
            it) or `blocked` (not offered).
        verdict: The engine's own code.
        tries: Searches that were put before it.
    """

    name: str
    fate: str
    verdict: str
    tries: int = 0


@dataclass(frozen=True, slots=True)
class PassTrace:
    """One pass: recorded (`pass_no` of the recording, with its calls), or an extra one before it.

    Attributes:
        pass_no: Of the recorded pass, or of the one that an extra pass is put before.
        calls: What became of the recorded calls.
        query: What an extra pass searched for.
        answer: The names that it was answered.
        call: The extra pass's call as it stands in the history, with its answer.
        beside: Further searches of the same pass.
        refused: The tool that an extra pass called by a schema of an earlier turn, and was refused (T2).
    """

    pass_no: int
    calls: tuple[CallTrace, ...] = ()
    query: str | None = None
    answer: tuple[str, ...] = ()
    call: Call | None = None
    beside: tuple[PassTrace, ...] = ()
    refused: str = ""

    @property
    def is_search(self) -> bool:
        return self.query is not None

    @property
    def kind(self) -> str:
        """`recorded`, `search` or `refused`."""
        return "search" if self.is_search else "refused" if self.refused else "recorded"

    @property
    def call_text(self) -> str:
        return call_text(self.call) if self.call else ""

    @property
    def result_text(self) -> str:
        return text_of(self.call.result.content) if self.call and self.call.result else ""

    @property
    def made(self) -> tuple[Call, ...]:
        """The calls of an extra pass, with what they were answered."""
        return tuple(one.call for one in (self, *self.beside) if one.call is not None)

    @property
    def searches(self) -> tuple[PassTrace, ...]:
        """The searches of this pass, one by one."""
        return (self, *self.beside) if self.is_search else ()


@dataclass(frozen=True, slots=True)
class TurnTrace:
    """One turn: its offer, which stands for all its passes, and the notices that came up.

    `own_words` is how often own words were asked in place of the query model's; `fell_back` says that a search was
    ranked without what its retriever should rank with.
    """

    offer: Offer
    passes: tuple[PassTrace, ...]
    basis: Basis
    selector_trips: int = 0
    notices: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    own_words: int = 0
    fell_back: bool = False

    @property
    def failed(self) -> bool:
        """True when the selector failed, and rule S1 chose in its place (S7)."""
        return "selector_failed" in self.notices

    @property
    def fates(self) -> Counter[str]:
        return Counter(call.fate for one in self.passes for call in one.calls)

    @property
    def comparable(self) -> bool:
        """True when all recorded calls are served: only then could the recording have gone on as it did.

        A turn in which no model was asked says nothing, and is not.
        """
        return bool(self.passes) and not self.fates[MISSED] + self.fates[BLOCKED]


@dataclass(frozen=True, slots=True, repr=False)
class Trace:
    """The replay of one session under one system.

    `same_everywhere` says that the system declares the same in every session that has the same tools.
    """

    session_id: str
    system: str
    turns: tuple[TurnTrace, ...]
    profile: Profile = REFERENCE
    same_everywhere: bool = False

    def passes(self) -> Iterator[PassTrace]:
        for turn in self.turns:
            yield from turn.passes

    def __repr__(self) -> str:
        fates = sum((turn.fates for turn in self.turns), Counter())
        trips = sum(one.is_search for one in self.passes())
        served = fates[SERVED] + fates[SEARCHED]
        return (
            f"Trace({self.session_id!r}, {self.system}, {len(self.turns)} turns, {trips} search trips, "
            f"{served} served, {fates[MISSED]} missed, {fates[BLOCKED]} blocked)"
        )
