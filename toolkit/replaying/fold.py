"""The fold from a recorded session and a system to a trace: the live engine, driven by the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from toolkit.engine.calls import Verdict
from toolkit.engine.ports import Selection
from toolkit.engine.view import HostView
from toolkit.errors import InputError
from toolkit.host import Host, Turn
from toolkit.prices.price import USUAL, Price
from toolkit.replaying import events
from toolkit.replaying.prepared import Prepared, PreparedPass, PreparedTurn
from toolkit.replaying.profiles import profile
from toolkit.replaying.system import KNOWING, ORACLE, Setting, System
from toolkit.replaying.trace import BLOCKED, MISSED, SEARCHED, SERVED, CallTrace, PassTrace, Trace, TurnTrace
from toolkit.replaying.trips import Seeker
from toolkit.session import Call, Event, Session
from toolkit.tool import Tool

Report = Callable[[str, str], None]
FELL_BACK = "semantic_unavailable"
"""The notice of a search whose retriever had to do without its encoder."""


def fold(
    prepared: Prepared,
    system: System,
    setting: Setting = Setting(),
    tokens: Callable[[str], int] | None = None,
    report: Report | None = None,
    plan: Sequence[frozenset[str]] = (),
    *,
    price: Price = USUAL,
    window: int | None = None,
) -> Trace:
    """Replay a session under a system.

    Args:
        prepared: The session.
        system: What to replay it under.
        setting: What stands around it: its tools, and what is flagged deferred.
        tokens: Name → tokens of a definition, for selectors that weigh cost.
        report: Called with (code, message) for what could not be replayed as recorded.
        plan: What each turn declares, for the bound that was worked out from the recording (`oracle_cost`).
        price: What the model's tokens cost, for the same.
        window: Tokens of the model's context window, for the same.
    """
    rules = profile(system.profile)
    host = Host(
        events.starting_listing(prepared.session, setting.catalog, setting.defer, rules),
        selector=_selector(system, prepared, plan),
        retriever=system.retriever,
        profile=rules,
        time_limit=None,
        tokens=tokens,
        price=price,
        window=window,
    )
    deferred = events.deferred_patterns(prepared.session.catalog, setting.catalog, setting.defer, rules)
    replayer = _Replayer(host, prepared.session, system, report or (lambda code, message: None), deferred)
    played = tuple(map(replayer.turn, prepared.turns, prepared.history_before()))
    replayer.tell_fallbacks()
    host.end_turn()  # which lets the memory go: a host and its open turn hold each other
    return Trace(prepared.session.id, system.name, played, rules, system.same_everywhere)


def _selector(system: System, prepared: Prepared, plan: Sequence[frozenset[str]]) -> Any:
    if system.selector == ORACLE:
        return _Planned([frozenset(turn.called) for turn in prepared.turns])
    return _Planned(plan) if system.selector in KNOWING else system.selector


@dataclass(frozen=True, slots=True)
class _Planned:
    """A bound that knows the future: it declares what was planned for the turn, and withholds the rest."""

    plan: Sequence[frozenset[str]]

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        planned = self.plan[host.turn_no - 1] if self.plan else frozenset()
        return Selection([tool.name for tool in visible if tool.name in planned])


class _Replayer:
    """One host going through one session."""

    def __init__(self, host: Host, session: Session, system: System, report: Report, deferred: tuple[str, ...]) -> None:
        self.host, self.session, self.report, self.deferred = host, session, report, deferred
        self.seeker = Seeker(host, session.id, system)

    def turn(self, recorded: PreparedTurn, history_tokens: int) -> TurnTrace:
        self._apply(recorded.events)
        trips, asked = self.host.selector_trips, self.seeker.fallbacks.total()
        turn = self.host.start_turn(recorded.input, history_tokens)
        passes = tuple(one for step in recorded.passes for one in self._pass(turn, recorded, step))
        basis = self.host.state.basis
        assert basis is not None
        return TurnTrace(
            offer=turn.offer,
            passes=passes,
            basis=basis,
            selector_trips=self.host.selector_trips - trips,
            notices=turn.notices,
            details=tuple(f"{code}: {text}" for code, text in turn.details.items()),
            own_words=self.seeker.fallbacks.total() - asked,
            fell_back=FELL_BACK in self.host.state.pending,
        )

    def tell_fallbacks(self) -> None:
        """Report how often own words were asked in place of the query model's, and why."""
        for why, times in self.seeker.fallbacks.items():
            self.report("no_query", f"{why}; {times} times own words were asked instead.")

    def _apply(self, recorded: tuple[Event, ...]) -> None:
        if recorded:
            self.seeker.changed()
        for event in recorded:
            if event.type == "compaction":
                self.seeker.compact()
            try:
                events.apply(event, self.host, self.session, self.deferred)
            except InputError as error:
                self.report("bad_event", str(error))

    def _pass(self, turn: Turn, recorded: PreparedTurn, step: PreparedPass) -> list[PassTrace]:
        """Return the passes that a recorded pass needs before it, then the pass itself."""
        self._apply(step.events)
        found_by: dict[str, int] = {}
        before: list[PassTrace] = []
        for number, call in enumerate(step.calls):
            if call.name in turn.offer.searchable.by_name and call.name not in found_by:
                made = self.seeker.passes(turn, recorded, step, number)
                found_by[call.name] = sum(len(one.searches) for one in made)
                before += made
        live = turn.start_pass()
        calls = tuple(_call_trace(call, live.call(call.name, call.arguments), turn, found_by) for call in step.calls)
        return [*before, PassTrace(step.pass_no, calls)]


def _call_trace(call: Call, verdict: Verdict, turn: Turn, found_by: dict[str, int]) -> CallTrace:
    tries = found_by.pop(call.name, 0)
    if verdict.code == "not_found_yet":
        return CallTrace(call.name, MISSED, verdict.code, tries)
    if verdict.code in ("unknown_tool", "denied", "not_offered"):
        return CallTrace(call.name, BLOCKED, verdict.code, tries)
    if call.name in turn.offer.declared.by_name:
        return CallTrace(call.name, SERVED, verdict.code, tries)
    found = call.name in turn.host.state.spans[turn.id].found
    return CallTrace(call.name, SEARCHED if found else MISSED, verdict.code, tries)
