"""Units of work: one system over a few sessions each, what it depends on, and how it is run."""

from __future__ import annotations

import gc
import hashlib
import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from toolkit.bench import Bench
from toolkit.errors import ToolkitError
from toolkit.experiment.bounds.plan import oracle_plan
from toolkit.formats.files import Problem
from toolkit.ledger import PassRow
from toolkit.replaying.prepared import Prepared
from toolkit.replaying.system import KNOWING, ORACLE_COST, Setting, System
from toolkit.replaying.trace import Trace
from toolkit.selectors import resolve
from toolkit.selectors.combined import parts
from toolkit.session import Session, digest_of

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
    stale_calls: int = 0
    failed: bool = False
    query_fallbacks: int = 0
    retriever_fell_back: bool = False


@dataclass(frozen=True, slots=True)
class Unit:
    """One system over a few sessions: what is run, kept and resumed as one."""

    system: System
    sessions: tuple[Session, ...]
    setting: Setting
    key: str
    fail_fast: bool = False


@dataclass(frozen=True, slots=True)
class Done:
    """The rows of a unit that was run."""

    key: str
    passes: list[PassRow]
    turns: list[TurnRow]
    problems: list[Problem] = field(default_factory=list)


def units(
    systems: Sequence[System], sessions: Iterable[Session], setting: Setting, version: str, fail_fast: bool = False
) -> Iterator[Unit]:
    """Cut the work into units, all systems over the first sessions first; a key tells all that a unit depends on."""
    sessions = tuple(sessions)
    around = setting.catalog.digest if setting.catalog is not None else ""
    for start in range(0, len(sessions), CHUNK):
        chunk = sessions[start : start + CHUNK]
        for system in systems:
            around_it = (setting.model or "", around, setting.defer, setting.fallback, setting.prefix)
            facts = (version, *around_it, _fingerprint(system), *map(digest_of, chunk))
            key = hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
            yield Unit(system, chunk, setting, key, fail_fast)


@lru_cache(maxsize=1)
def code_digest() -> str:
    """Return a digest of this package's code: what another version found is not reused."""
    content = hashlib.sha256()
    for path in sorted(Path(__file__).parents[2].rglob("*.py")):
        content.update(path.read_bytes())
    return content.hexdigest()


def _fingerprint(system: System) -> tuple[Any, ...]:
    code = system.selector if system.selector in KNOWING else _source(resolve(system.selector))
    return (system.name, code, system.retriever, system.profile, system.query_model, repr(system.searching))


def _source(selector: Any) -> str:
    """Return the code of a selector and of its parts, and what they learnt: what changed is run again."""
    learnt = (one.learnt.digest for one in parts(selector) if getattr(one, "usage", None) is not None)
    return "\n".join((*map(_own_source, parts(selector)), *learnt))


def _own_source(selector: Any) -> str:
    """Return a selector's code; an object counts with its options."""
    while isinstance(selector, partial):
        selector = selector.func
    plain = inspect.isroutine(selector)
    try:
        return inspect.getsource(selector if plain else type(selector)) + ("" if plain else repr(selector))
    except (OSError, TypeError):
        return repr(selector)


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
    """Runs units one after the other; prepared sessions and counts are shared between all of them."""

    def __init__(self) -> None:
        self._prepared: dict[str, Prepared] = {}

    def run(self, unit: Unit) -> Done:
        """Replay and count a unit."""
        done, bench = Done(unit.key, [], []), Bench.of(unit.setting)
        if not any(session.id in self._prepared for session in unit.sessions):
            self._prepared.clear()
        with without_collection():
            for session in unit.sessions:
                trace = self._run(unit.system, session, bench.for_session(session), done)
                if unit.fail_fast:
                    _stop_if_failed(trace)
        return done

    def _run(self, system: System, session: Session, bench: Bench, done: Done) -> Trace:
        if session.id not in self._prepared:
            self._prepared[session.id] = bench.prepare(session)
        prepared = self._prepared[session.id]
        plan = oracle_plan(bench, prepared) if system.selector == ORACLE_COST else ()
        trace = bench.replay(prepared, system, _reporter(session, system, done), plan)
        done.passes.extend(bench.rows(prepared, trace))
        done.turns.extend(_turn_rows(trace))
        done.problems.extend(_selector_problems(session, trace))
        return trace


class SelectorFailedError(ToolkitError):
    """A selector failed in a run that stops at the first failure."""

    code = "selector_failed"


def _stop_if_failed(trace: Trace) -> None:
    for number, turn in enumerate(trace.turns, 1):
        if turn.failed:
            why = next((one for one in turn.details if one.startswith("selector_failed")), "selector_failed")
            raise SelectorFailedError(f"turn {number} of session {trace.session_id!r} under {trace.system}: {why}.")


def _reporter(session: Session, system: System, done: Done) -> Callable[[str, str], None]:
    path, _, line = session.source.rpartition(":")

    def report(code: str, message: str) -> None:
        where = f"session {session.id!r} under {system.name}"
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


_WORTH_TELLING = ("reserved_name", "duplicate_name", "invalid_name", "selector_unknown_name", "usage_foreign")


def _turn_rows(trace: Trace) -> Iterator[TurnRow]:
    for number, turn in enumerate(trace.turns, 1):
        fates = turn.fates
        served = fates["served"] + fates["searched"]
        yield TurnRow(
            session_id=trace.session_id,
            system=trace.system,
            turn_no=number,
            declared=len(turn.offer.declared),
            searchable=len(turn.offer.searchable),
            withheld=len(turn.offer.withheld),
            visible=len(turn.basis.visible),
            selector_trips=turn.selector_trips,
            search_trips=sum(one.is_search for one in turn.passes),
            calls=served + fates["missed"] + fates["blocked"],
            served=served,
            searched=fates["searched"],
            missed=fates["missed"],
            blocked=fates["blocked"],
            comparable=turn.comparable,
            notices=" ".join(turn.notices),
            stale_calls=sum(bool(one.refused) for one in turn.passes),
            failed=turn.failed,
            query_fallbacks=turn.own_words,
            retriever_fell_back=turn.fell_back,
        )
