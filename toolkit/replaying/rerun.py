"""A host's own recording run again on the engine: the same offers, answers and verdicts, or what differs.

This is the eighth invariant of `docs/semantics.md` section 11. Unlike a replay under another system, a
rerun makes the recorded searches too, and judges every call against the recorded verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.host import Host, Pass, Turn
from toolkit.replaying import events, profiles
from toolkit.session import Call, Event, Session
from toolkit.session import Pass as RecordedPass


@dataclass(frozen=True, slots=True)
class Rerun:
    """What a rerun checked, and where it came out otherwise than recorded."""

    offers: int
    answers: int
    verdicts: int
    differences: tuple[str, ...]

    @property
    def same(self) -> bool:
        return not self.differences


def rerun(sessions: Sequence[Session], *, selector: Any = None, retriever: Any = None, profile: Any = None) -> Rerun:
    """Run a host's recording again.

    Args:
        sessions: The recorded session, then its steps, as `load_sessions` gives them.
        selector: The selector that the host had; the recorded spec if None.
        retriever: The retriever that the host had; the recorded spec if None.
        profile: The host's profile; the shipped one of the recorded name if None.

    Raises:
        UnknownNameError: A recorded name is not registered here: give what the host had.
    """
    main, *steps = sessions
    facts = {"profile": "reference", **((main.extra.get("toolkit") or {}).get("host") or {})}
    host = Host(
        events.starting_listing(main, None),
        selector=facts.get("selector") if selector is None else selector,
        retriever=facts.get("retriever") if retriever is None else retriever,
        profile=profiles.profile(facts["profile"]) if profile is None else profile,
    )
    runner = _Rerunner(host, main, steps)
    runner.run()
    return Rerun(runner.offers, runner.answers, runner.verdicts, tuple(runner.differences))


class _Rerunner:
    """Goes through a recording in the order in which it happened, steps where they were started."""

    def __init__(self, host: Host, main: Session, steps: Iterable[Session]) -> None:
        self.host, self.main = host, main
        self.steps: dict[tuple[Any, ...], list[Session]] = {}
        for step in steps:
            facts = step.extra["toolkit"]["step"]
            key = (facts["turn"], facts["parent"], facts["pass"], facts["after_calls"])
            self.steps.setdefault(key, []).append(step)
        self.offers = self.answers = self.verdicts = self.turn_no = 0
        self.differences: list[str] = []

    def run(self) -> None:
        for recorded in self.main.turns:
            self.turn_no += 1
            self._apply(event for event in recorded.events if event.body.get("in_turn"))
            self.host.end_turn()
            self._apply(event for event in recorded.events if not event.body.get("in_turn"))
            turn = self.host.start_turn(recorded.words)
            self._passes(turn, recorded.passes)

    def _apply(self, recorded: Iterable[Event]) -> None:
        for event in recorded:
            events.apply(event, self.host, self.main)

    def _passes(self, turn: Turn, recorded: Sequence[RecordedPass]) -> None:
        self._start_steps(turn, 0, 0)
        for number, one in enumerate(recorded, 1):
            self._apply(event for event in one.events if "after_calls" not in event.body)
            self._same_offer(turn, one)
            live = turn.start_pass()
            for done, call in enumerate(one.calls):
                self._between(turn, one, number, done)
                self._call(live, call)
            self._between(turn, one, number, len(one.calls))

    def _between(self, turn: Turn, one: RecordedPass, number: int, done: int) -> None:
        self._start_steps(turn, number, done)
        self._apply(event for event in one.events if event.body.get("after_calls") == done)

    def _start_steps(self, turn: Turn, number: int, done: int) -> None:
        for step in self.steps.get((self.turn_no, turn.id, number, done), ()):
            facts = step.extra["toolkit"]["step"]
            nested = turn.start_step(facts["scope"], id=facts["id"])
            for recorded in step.turns:
                self._passes(nested, recorded.passes)
            nested.end()

    def _same_offer(self, turn: Turn, one: RecordedPass) -> None:
        self.offers += 1
        self._same("declared", turn, one.declared, turn.declared)
        self._same("searchable", turn, one.searchable, turn.searchable)

    def _same(self, what: str, turn: Turn, recorded: Sequence[str] | None, got: Sequence[str]) -> None:
        if recorded is not None and tuple(recorded) != tuple(got):
            where = f"turn {self.turn_no}{f', step {turn.id}' if turn.id else ''}"
            self.differences.append(f"{where}: {what} {list(got)}, recorded {list(recorded)}")

    def _call(self, live: Pass, call: Call) -> None:
        arguments: Any = call.arguments if call.raw_arguments is None else call.raw_arguments
        verdict = live.call(call.name, arguments)
        result = call.result
        recorded: Mapping[str, Any] = result.extra if result is not None else {}
        self.verdicts += 1
        if recorded.get("verdict") not in (None, verdict.code):
            self.differences.append(f"turn {self.turn_no}, {call.id}: {verdict.code}, recorded {recorded['verdict']}")
        if call.kind == "search" and result is not None:
            self.answers += 1
            self._same(f"{call.id} answered", live.turn, result.returned, verdict.names)
