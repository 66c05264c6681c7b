"""The fold from a recorded session and a system to a trace: the live engine, driven by the recording."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

from toolkit.engine.calls import Verdict
from toolkit.engine.host import Host
from toolkit.engine.live import Turn
from toolkit.engine.ports import Selection
from toolkit.engine.profile import Profile
from toolkit.engine.view import HostView
from toolkit.errors import InputError
from toolkit.replay import events
from toolkit.replay.profiles import profile
from toolkit.replay.queries import MOST_TRIES, OPTIMISTIC, QueryModel, Seen, query_model
from toolkit.replay.script import Script, ScriptPass, ScriptTurn
from toolkit.replay.system import ORACLE, System
from toolkit.replay.trace import BLOCKED, MISSED, SEARCHED, SERVED, CallTrace, PassTrace, Trace, TurnTrace
from toolkit.session import Call, Event
from toolkit.tool import SEARCH, Catalog, Tool, compact_json

Report = Callable[[str, str], None]


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What stands around the recorded tools, and what is flagged deferred."""

    around: Catalog | None = None
    defer: tuple[str, ...] = ()


def fold(
    script: Script,
    system: System,
    surroundings: Surroundings = Surroundings(),
    tokens: Callable[[str], int] | None = None,
    history: Sequence[int] = (),
    report: Report | None = None,
) -> Trace:
    """Replay a session under a system.

    Args:
        script: The session's script.
        system: What to replay it under.
        surroundings: More tools around the recorded ones.
        tokens: Name → tokens of a definition, for selectors that weigh cost.
        history: Tokens of the history before each turn, for the same.
        report: Called with (code, message) for what could not be replayed as recorded.
    """
    rules = profile(system.profile)
    host = Host(
        events.starting_listing(script.session, surroundings.around, surroundings.defer, rules),
        selector=_selector(system, script),
        retriever=system.retriever,
        profile=rules,
        time_limit=None,
        tokens=tokens,
    )
    replayer = _Replayer(host, script, system, report or (lambda code, message: None))
    before = chain(history, repeat(0))
    played = (replayer.turn(turn, tokens) for turn, tokens in zip(script.turns, before, strict=False))
    return Trace(script.session.id, system.name, tuple(played), rules)


def _selector(system: System, script: Script) -> Any:
    if system.selector == ORACLE:
        return _Oracle(script)
    return system.selector


@dataclass(frozen=True, slots=True)
class _Oracle:
    """The bound that knows the future: it declares what the turn will call, and withholds the rest."""

    script: Script

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        called = set(self.script.turns[host.turn_no - 1].called)
        return Selection([tool.name for tool in visible if tool.name in called])


class _Replayer:
    """One host going through one script."""

    def __init__(self, host: Host, script: Script, system: System, report: Report) -> None:
        self.host, self.script, self.report = host, script, report
        self.ask: QueryModel = query_model(system.query_model)
        self.optimistic = system.query_model in OPTIMISTIC

    def turn(self, recorded: ScriptTurn, history_tokens: int = 0) -> TurnTrace:
        self._apply(recorded.events)
        trips = self.host.selector_trips
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
        )

    def _apply(self, recorded: tuple[Event, ...]) -> None:
        for event in recorded:
            try:
                events.apply(event, self.host, self.script.session)
            except InputError as error:
                self.report("bad_event", str(error))

    def _pass(self, turn: Turn, recorded: ScriptTurn, step: ScriptPass) -> list[PassTrace]:
        """Return the searches that a recorded pass needs before it, then the pass itself."""
        self._apply(step.events)
        found_by: dict[str, int] = {}
        before: list[PassTrace] = []
        for call in step.calls:
            if call.name in turn.offer.searchable_by_name and call.name not in found_by:
                searches = [] if self._is_found(turn, call.name) else self._searches(turn, recorded, step, call)
                found_by[call.name] = len(searches)
                before += searches
        live = turn.start_pass()
        calls = tuple(_call_trace(call, live.call(call.name, call.arguments), turn, found_by) for call in step.calls)
        return [*before, PassTrace(step.pass_no, calls)]

    def _is_found(self, turn: Turn, name: str) -> bool:
        return name in self.host.state.spans[turn.id].found

    def _searches(self, turn: Turn, recorded: ScriptTurn, step: ScriptPass, call: Call) -> list[PassTrace]:
        seen = Seen(step.words, recorded.input, step.last_words, call.name if self.optimistic else "")
        made = []
        for query in self.ask(seen)[:MOST_TRIES]:
            verdict = turn.start_pass().search(query)
            made.append(_search_trace(step, query, verdict, self.host.state.profile))
            if call.name in verdict.names:
                break
        return made


def _search_trace(step: ScriptPass, query: str, verdict: Verdict, rules: Profile) -> PassTrace:
    text = compact_json({"name": SEARCH, "arguments": {"query": query}})
    answered = compact_json({"found": verdict.names}) if rules.schema_place == "definitions" else verdict.text
    return PassTrace(step.pass_no, (), query, verdict.names, text, answered)


def _call_trace(call: Call, verdict: Verdict, turn: Turn, found_by: dict[str, int]) -> CallTrace:
    tries = found_by.pop(call.name, 0)
    if verdict.code == "not_found_yet":
        return CallTrace(call.name, MISSED, verdict.code, tries)
    if verdict.code in ("unknown_tool", "denied", "not_offered"):
        return CallTrace(call.name, BLOCKED, verdict.code, tries)
    if call.name in turn.offer.declared_by_name:
        return CallTrace(call.name, SERVED, verdict.code, tries)
    found = call.name in turn.host.state.spans[turn.id].found
    return CallTrace(call.name, SEARCHED if found else MISSED, verdict.code, tries)
