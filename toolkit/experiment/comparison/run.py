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

from toolkit.experiment.bounds.plan import oracle_plan
from toolkit.formats.files import Problem
from toolkit.ledger import PassRow, ledger
from toolkit.prompt_cache.rules import IDEAL, CacheRules, rules_for
from toolkit.replaying.fold import Costs, Surroundings, fold
from toolkit.replaying.script import Script, script
from toolkit.replaying.script_tokens import Counter, ScriptTokens, count_script, history_before
from toolkit.replaying.search_billing import TEXTS_ONLY, SearchBilling, billing
from toolkit.replaying.system import KNOWING, ORACLE_COST, System
from toolkit.replaying.trace import Trace
from toolkit.selectors import resolve
from toolkit.selectors.combined import parts
from toolkit.session import Session, digest_of
from toolkit.tokens.provider_counter import ProviderCounter
from toolkit.tokens.text_counter import TextCounter
from toolkit.tool import Catalog

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
            facts = (version, model, around, surroundings.defer, _fingerprint(system), *map(digest_of, chunk))
            key = hashlib.sha256(repr(facts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
            yield Unit(system, chunk, surroundings, model, key)


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
            model = unit.model or session.model
            rules = cache_rules(model)
            definition = _definition_tokens(session.catalog, unit.surroundings.around, counter)
            knows = unit.system.selector == ORACLE_COST
            trace = fold(
                made,
                unit.system,
                unit.surroundings,
                Costs(definition, history_before(tokens), model),
                _reporter(session, unit, done),
                oracle_plan(made, tokens, unit.surroundings, counter, definition, rules, model) if knows else (),
            )
            done.passes.extend(ledger(tokens, trace, counter, rules, search_billing(unit)))
            done.turns.extend(_turn_rows(trace))
            done.problems.extend(_selector_problems(session, trace))

    def _script(self, session: Session, counter: Counter) -> tuple[Script, ScriptTokens]:
        if session.id not in self._scripts:
            made = script(session)
            self._scripts[session.id] = (made, count_script(made, counter))
        return self._scripts[session.id]


@lru_cache(maxsize=64)
def _definition_tokens(own: Catalog, around: Catalog | None, counter: Counter) -> Callable[[str], int]:
    """Return name → tokens of its definition, for selectors that weigh cost; one for all sessions with these tools."""

    def tokens(name: str) -> int:
        tool = own.get(name) or (around.get(name) if around is not None else None)
        return counter.definition(tool) if tool else 0

    return tokens


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


_WORTH_TELLING = ("reserved_name", "duplicate_name", "invalid_name", "selector_unknown_name", "usage_foreign")


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
            sum(bool(one.refused) for one in turn.passes),
        )
