"""Running units of work: one system over a few sessions each, resumable and in parallel."""

from __future__ import annotations

import gc
import hashlib
import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

from toolkit.accounting.cache_model import IDEAL, CacheRules, rules_for
from toolkit.accounting.ledger import PassRow, ledger
from toolkit.accounting.providercount import ProviderCounter
from toolkit.accounting.script_tokens import Counter, ScriptTokens, count_script, history_before
from toolkit.accounting.search_billing import TEXTS_ONLY, SearchBilling, billing
from toolkit.accounting.textcount import TextCounter
from toolkit.errors import InputError
from toolkit.formats.files import Problem
from toolkit.replay.fold import Surroundings, fold
from toolkit.replay.script import Script, script
from toolkit.replay.system import ORACLE, System
from toolkit.replay.trace import Trace
from toolkit.selectors import resolve
from toolkit.session import Session

CHUNK = 25


class TurnRow(NamedTuple):
    """What became of one turn under one system; token columns are joined from its passes."""

    session_id: str
    system: str
    turn_no: int
    declared: int
    searchable: int
    withheld: int
    visible: int
    selector_trips: int
    search_trips: int
    calls: int
    served: int
    searched: int
    missed: int
    blocked: int
    comparable: bool
    notices: str


@dataclass(frozen=True, slots=True)
class Unit:
    """One system over a few sessions: what is run, kept and resumed as one."""

    system: System
    sessions: tuple[Session, ...]
    surroundings: Surroundings
    model: str
    key: str


@dataclass(frozen=True, slots=True)
class Done:
    """The rows of a unit that was run."""

    key: str
    passes: list[PassRow]
    turns: list[TurnRow]
    problems: list[Problem] = field(default_factory=list)


def units(
    systems: Sequence[System], sessions: Iterable[Session], surroundings: Surroundings, model: str, version: str
) -> Iterator[Unit]:
    """Cut the work into units, all systems over the first sessions first; a key tells all that a unit depends on."""
    sessions = tuple(sessions)
    around = surroundings.around.digest if surroundings.around is not None else ""
    for start in range(0, len(sessions), CHUNK):
        chunk = sessions[start : start + CHUNK]
        for system in systems:
            facts = (version, model, around, surroundings.defer, _fingerprint(system), *map(_digest, chunk))
            key = hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
            yield Unit(system, chunk, surroundings, model, key)


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of this package's code: what another version found is not reused."""
    content = hashlib.sha256()
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()


def _digest(session: Session) -> str:
    return session.digest or hashlib.sha256(pickle.dumps(session)).hexdigest()


def _fingerprint(system: System) -> tuple[Any, ...]:
    code = ORACLE if system.selector == ORACLE else _source(resolve(system.selector))
    return (system.name, code, system.retriever, system.profile, system.query_model)


def _source(selector: Any) -> str:
    """Return the code of a selector, so that changed code is run again; an object counts with its options."""
    while isinstance(selector, partial):
        selector = selector.func
    plain = inspect.isroutine(selector)
    try:
        return inspect.getsource(selector if plain else type(selector)) + ("" if plain else repr(selector))
    except (OSError, TypeError):
        return repr(selector)


def run(todo: Sequence[Unit], workers: int, done: Callable[[Done], None]) -> None:
    """Run units, in this process or in several, and hand each over as soon as it is done.

    Raises:
        InputError: A selector cannot be sent to another process.
    """
    if workers <= 1 or len(todo) <= 1:
        runner = Runner()
        for unit in todo:
            done(runner.run(unit))
        return
    _check_sendable(todo)
    with ProcessPoolExecutor(min(workers, len(todo)), mp_context=get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(_run_apart, unit) for unit in todo]):
                done(future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _check_sendable(todo: Sequence[Unit]) -> None:
    for selector in {id(unit.system.selector): unit.system.selector for unit in todo}.values():
        try:
            pickle.dumps(selector)
        except (pickle.PicklingError, AttributeError, TypeError) as error:
            hint = "Put it into a module of its own, or use one worker."
            raise InputError(f"the selector {selector!r} cannot be sent to a worker: {error}.", hint=hint) from error


_apart: Runner | None = None


def _run_apart(unit: Unit) -> Done:
    global _apart
    _apart = _apart or Runner()
    return _apart.run(unit)


def counter_of(model: str) -> TextCounter | ProviderCounter:
    """Return the counter of a comparison: the provider's own rules for a model, texts alone without one."""
    return ProviderCounter(model) if model else TextCounter()


def cache_rules(model: str | None) -> CacheRules:
    """Return the prompt cache's rules for a model; without one, the longest shared prefix is always read."""
    return rules_for(model) if model else IDEAL


def search_billing(unit: Unit) -> SearchBilling:
    """Return how the profile's tool search is billed: by the provider's rules, or by its texts without a model."""
    return billing(unit.system.profile) if unit.model else TEXTS_ONLY


@contextmanager
def without_collection() -> Iterator[None]:
    """Hold the garbage collector back: a unit makes many records and no cycles, and ends soon."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class Runner:
    """Runs units one after the other; scripts and counts are shared between all of them."""

    def __init__(self) -> None:
        self._counters: dict[str, Counter] = {}
        self._scripts: dict[str, tuple[Script, ScriptTokens]] = {}

    def run(self, unit: Unit) -> Done:
        """Replay and count a unit."""
        if unit.model not in self._counters:
            self._counters[unit.model] = counter_of(unit.model)
        counter = self._counters[unit.model]
        done = Done(unit.key, [], [])
        if not any(session.id in self._scripts for session in unit.sessions):
            self._scripts.clear()
        with without_collection():
            self._run(unit, counter, done)
        return done

    def _run(self, unit: Unit, counter: Counter, done: Done) -> None:
        for session in unit.sessions:
            made, tokens = self._script(session, counter)
            trace = fold(
                made,
                unit.system,
                unit.surroundings,
                _Tokens(made, unit.surroundings, counter),
                history_before(tokens),
                _reporter(session, unit, done),
            )
            rules = cache_rules(unit.model or session.model)
            done.passes.extend(ledger(tokens, trace, counter, rules, search_billing(unit)))
            done.turns.extend(_turn_rows(trace))
            done.problems.extend(_selector_problems(session, trace))

    def _script(self, session: Session, counter: Counter) -> tuple[Script, ScriptTokens]:
        if session.id not in self._scripts:
            made = script(session)
            self._scripts[session.id] = (made, count_script(made, counter))
        return self._scripts[session.id]


class _Tokens:
    """Name → tokens of its definition, for selectors that weigh cost."""

    def __init__(self, made: Script, surroundings: Surroundings, counter: Counter) -> None:
        self.own, self.around, self.counter = made.session.catalog, surroundings.around, counter

    def __call__(self, name: str) -> int:
        tool = self.own.get(name) or (self.around.get(name) if self.around is not None else None)
        return self.counter.definition(tool) if tool else 0


def _reporter(session: Session, unit: Unit, done: Done) -> Callable[[str, str], None]:
    path, _, line = session.source.rpartition(":")

    def report(code: str, message: str) -> None:
        where = f"session {session.id!r} under {unit.system.name}"
        done.problems.append(Problem(path, int(line or 0), code, f"{where}: {message}"))

    return report


def _selector_problems(session: Session, trace: Trace) -> Iterator[Problem]:
    path, _, line = session.source.rpartition(":")
    told: dict[str, int] = {}
    for turn in trace.turns:
        for notice in (*turn.details, *(n for n in turn.notices if n.partition(":")[0] in _WORTH_TELLING)):
            told[notice] = told.get(notice, 0) + 1
    for notice, times in told.items():
        code = notice.partition(":")[0]
        message = f"session {session.id!r} under {trace.system}: {notice} ({times} turns)"
        yield Problem(path, int(line or 0), code, message)


_WORTH_TELLING = frozenset(("reserved_name", "duplicate_name", "invalid_name", "selector_unknown_name"))


def _turn_rows(trace: Trace) -> Iterator[TurnRow]:
    for number, turn in enumerate(trace.turns, 1):
        fates = turn.fates
        served = fates["served"] + fates["searched"]
        yield TurnRow(
            trace.session_id,
            trace.system,
            number,
            len(turn.offer.declared),
            len(turn.offer.searchable),
            len(turn.offer.withheld),
            len(turn.basis.visible),
            turn.selector_trips,
            sum(one.is_search for one in turn.passes),
            served + fates["missed"] + fates["blocked"],
            served,
            fates["searched"],
            fates["missed"],
            fates["blocked"],
            turn.comparable,
            " ".join(turn.notices),
        )
