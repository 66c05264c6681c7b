"""A host's own recording run again on the engine: the same offers, answers and verdicts, or what differs.

This is the eighth invariant of `docs/semantics.md` section 11. Unlike a replay under another system, a
rerun makes the recorded searches too, and judges every call against the recorded verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from toolkit.engine import Profile
from toolkit.engine.state import MAIN
from toolkit.errors import InputError
from toolkit.host import Host, Pass, Turn
from toolkit.replaying import events
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


def rerun(
    sessions: Sequence[Session],
    *,
    selector: Any = None,
    selectors: Mapping[str, Any] = {},
    retriever: Any = None,
    profile: Any = None,
    tokens: Any = None,
    price: Any = None,
) -> Rerun:
    """Run a host's recording again.

    Args:
        sessions: The recorded session, then its steps, as `load_sessions` gives them.
        selector: The selector that the host had at its start; the recorded spec if None.
        selectors: Recorded spec → selector, for those that it took later and that are registered nowhere.
        retriever: The retriever that the host had; the recorded spec if None.
        profile: The host's profile; the recorded one if None.
        tokens: What the host told its selectors of tokens, where they look at it.
        price: The same of prices.

    Raises:
        UnknownNameError: A recorded name is not registered here: give what the host had.
        InputError: No host recorded these sessions.
    """
    main, *steps = sessions
    facts = (main.extra.get("toolkit") or {}).get("host")
    if facts is None:
        raise InputError(f"{main.id} was not recorded by a host.", hint="Host(…, record=PATH) writes what runs again.")
    recorded = facts["selector"]
    host = Host(
        main.catalog.tools[: facts["at_start"]],
        selector=selectors.get(recorded, recorded) if selector is None else selector,
        retriever=facts["retriever"] if retriever is None else retriever,
        profile=_profile(facts["rules"]) if profile is None else profile,
        config=facts["config"],
        window=facts["window"],
        time_limit=None,
        tokens=tokens,
        price=price,
    )
    runner = _Rerunner(host, main, selectors)
    runner.run(steps)
    return Rerun(runner.offers, runner.answers, runner.verdicts, tuple(runner.differences))


def _profile(rules: Mapping[str, Any]) -> Profile:
    return msgspec.convert(rules, Profile)


@dataclass(slots=True)
class _Open:
    """The turn or step that is open while its recording runs again."""

    turn: Turn | None = None
    live: Pass | None = None


Doing = tuple[int, Callable[[], object]]


class _Rerunner:
    """Does again what a recording holds, by the numbers of the notes."""

    def __init__(self, host: Host, main: Session, selectors: Mapping[str, Any]) -> None:
        self.host, self.main, self.selectors = host, main, selectors
        self.open: dict[str, _Open] = {}
        self.offers = self.answers = self.verdicts = self.turn_no = 0
        self.differences: list[str] = []

    def run(self, steps: Iterable[Session]) -> None:
        doings = list(self._main())
        for step in steps:
            doings += self._step(step)
        for _, do in sorted(doings, key=lambda doing: doing[0]):
            do()

    def _main(self) -> Iterator[Doing]:
        for turn in self.main.turns:
            yield from self._events(turn.events)
            live = turn.extra["live"]
            span = _Open()
            yield live["no"], partial(self._start_turn, span, turn.words, live["history_tokens"])
            if "end" in live:
                yield live["end"], self.host.end_turn
            yield from self._passes(span, turn.passes)

    def _start_turn(self, span: _Open, words: str, history_tokens: int) -> None:
        self.turn_no += 1
        span.turn = self.host.start_turn(words, history_tokens)
        self.open = {MAIN: span}

    def _step(self, step: Session) -> Iterator[Doing]:
        facts, span = step.extra["toolkit"]["step"], _Open()
        yield facts["no"], partial(self._start_step, span, facts)
        for turn in step.turns:
            yield from self._passes(span, turn.passes)
        if "end" in facts:
            yield facts["end"], lambda: _turn_of(span).end()

    def _start_step(self, span: _Open, facts: Mapping[str, Any]) -> None:
        span.turn = _turn_of(self.open[facts["parent"]]).start_step(facts["scope"], id=facts["id"])
        self.open[facts["id"]] = span

    def _passes(self, span: _Open, recorded: Iterable[RecordedPass]) -> Iterator[Doing]:
        for one in recorded:
            yield from self._events(one.events)
            yield one.extra["live"]["no"], partial(self._start_pass, span, one)
            for call in one.calls:
                yield call.extra["live"]["no"], partial(self._call, span, call)

    def _start_pass(self, span: _Open, one: RecordedPass) -> None:
        turn = _turn_of(span)
        self.offers += 1
        self._same("declared", turn, one.declared, turn.declared)
        self._same("searchable", turn, one.searchable, turn.searchable)
        span.live = turn.start_pass()

    def _events(self, recorded: Iterable[Event]) -> Iterator[Doing]:
        """Return the events in turn; the lists of the start have no number of their own, and come first."""
        for event in recorded:
            yield event.body.get("no", 0), partial(self._apply, event)

    def _apply(self, event: Event) -> None:
        if event.type == "selector":
            spec = event.body["selector"]
            self.host.set_selector(self.selectors.get(spec, spec))
        else:
            events.apply(event, self.host, self.main)

    def _same(self, what: str, turn: Turn, recorded: Sequence[str] | None, got: Sequence[str]) -> None:
        if recorded is not None and tuple(recorded) != tuple(got):
            where = f"turn {self.turn_no}{f', step {turn.id}' if turn.id else ''}"
            self.differences.append(f"{where}: {what} {list(got)}, recorded {list(recorded)}")

    def _call(self, span: _Open, call: Call) -> None:
        assert span.live is not None
        made = call.extra["live"]
        verdict = span.live.call(call.name, made.get("given", call.arguments), confirmed=made.get("confirmed", False))
        result = call.result
        recorded: Mapping[str, Any] = result.extra if result is not None else {}
        self.verdicts += 1
        if recorded.get("verdict") not in (None, verdict.code):
            self.differences.append(f"turn {self.turn_no}, {call.id}: {verdict.code}, recorded {recorded['verdict']}")
        if call.kind == "search" and result is not None:
            self.answers += 1
            self._same(f"{call.id} answered", span.live.turn, result.returned, verdict.names)


def _turn_of(span: _Open) -> Turn:
    assert span.turn is not None
    return span.turn
