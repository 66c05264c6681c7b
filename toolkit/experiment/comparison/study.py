"""Recorded sessions × systems into frames: which systems, at which prices, in which parts, into which tables."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tqdm import tqdm

from toolkit import __version__
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.comparison.limits import limits
from toolkit.experiment.comparison.options import Study, study
from toolkit.experiment.comparison.order import cheapest_by_fallback, said
from toolkit.experiment.comparison.parts import Parts
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.run import Done, Unit, code_digest, units
from toolkit.experiment.comparison.spread import Variant, left_out, query_models, variants, with_spread
from toolkit.experiment.comparison.workers import run
from toolkit.experiment.fitting.learnt import learnt, seen
from toolkit.experiment.fitting.split import task_of
from toolkit.formats.files import Problem
from toolkit.prices.price import Price, price, window
from toolkit.prompt_cache.rules import rules_for
from toolkit.replaying.habits import searching
from toolkit.replaying.profiles import host_profile
from toolkit.replaying.system import System
from toolkit.session import Session, digest_of
from toolkit.tokens.counter import Counter, counter_of


def compare(
    sessions: Iterable[Session],
    selectors: Sequence[Any] | None = None,
    *,
    query_model: str | Sequence[str] = "own_words",
    spread: bool = True,
    **options: Any,
) -> Comparison:
    """Replay recorded sessions under several systems and compare what each costs and misses.

    The bounds `all`, `none`, `oracle` and `oracle_cost` stand in every table.

    Args:
        sessions: Recordings, e.g. `load_sessions("sessions/")`.
        selectors: Specs or functions; a default choice if None.
        query_model: Where the counterfactual queries come from; of several, the first is the main one, and the
            spread is over them.
        spread: Replay under other query models too, and show the least and the most beside the figures.
        options: Those of `toolkit.experiment.comparison.options.OPTIONS`, as `toolkit compare --help` lists them;
            `catalog` is tools.

    Raises:
        UnknownNameError: A selector, retriever, model… is not known; nothing has run.
        InputError: There is no session.
    """
    main, *also = query_models(query_model, spread)
    return measure(sessions, study(selectors, query_model=main, also=also, **options))


def measure(sessions: Iterable[Session], study: Study) -> Comparison:
    """Replay sessions under the systems of a study and count them.

    Raises:
        UnknownNameError: A name in the study is not known; nothing has run.
        InputError: There is no session.
    """
    recorded, repeated = _unique(sessions)
    if not recorded:
        raise InputError("there is no session to compare.", hint="Give at least one recorded session.")
    study.check()
    study, recorded, learnt_from, noted = learnt(recorded, study)
    systems, setting, execution = study.systems(), study.setting, study.execution
    prices, doubts = _prices(recorded, setting.model) if study.priced else ({}, [])
    counter = counter_of(setting.model)
    counter.text("is the vocabulary there?")
    work = list(units(systems, recorded, setting, code_digest(), execution.fail_fast))
    parts = Parts(execution.out / "parts" if execution.out is not None else None, execution.resume)
    finished = _run_all(work, parts, execution.workers, execution.progress)
    read = (*getattr(sessions, "problems", ()), *getattr(setting.catalog, "problems", ()), *repeated)
    problems = (*read, *noted, *doubts, *seen(recorded, systems))
    about = {**_about(recorded, systems, prices, study, counter), **learnt_from}
    tasks = {session.id: task_of(session) for session in recorded}
    known = (*problems, *_unfinished(work, finished))
    measured = _measured(finished, systems, prices, known, about, tasks, setting.fallback)
    told = limits(recorded, setting.catalog, measured.passes, prices, setting.prefix)
    measured = replace(measured, about={**measured.about, "limits": told})
    return _spread(measured, list(variants(work, finished, study.also, code_digest())), parts, study, prices)


def _spread(
    measured: Comparison,
    varied: Sequence[Variant],
    parts: Parts,
    study: Study,
    prices: Mapping[str, Price | None],
) -> Comparison:
    """Replay under the other query models, and put the spread into the leaderboard."""
    todo, execution = [variant.unit for variant in varied], study.execution
    again = _run_all(todo, parts, execution.workers, execution.progress and bool(todo), "other query models")
    summary = with_spread(measured.summary, measured.sessions, varied, again, prices, study.setting.fallback)
    more = (*left_out(varied, again), *(problem for done in again for problem in done.problems))
    return replace(measured, summary=summary, problems=tuple(dict.fromkeys((*measured.problems, *more))))


def _unfinished(work: Sequence[Unit], finished: Sequence[Done]) -> Iterator[Problem]:
    """Yield what a run out of the cache alone lacks.

    Raises:
        InputError: There is no session with the row of `all`, which every ratio is to.
    """
    there = {done.key for done in finished}
    if not any(unit.key in there and unit.system.name == "all" for unit in work):
        raise InputError("nothing is in the cache for these sessions.", hint="Run again with --resume always.")
    if len(there) < len(work):
        message = (
            f"{len(work) - len(there)} of {len(work)} parts are not in the cache; the sessions of the others count."
        )
        yield Problem("", 0, "not_cached", message)


def _unique(sessions: Iterable[Session]) -> tuple[tuple[Session, ...], list[Problem]]:
    """Return the sessions, each id once, and a problem for each that came again."""
    by_id: dict[str, Session] = {}
    problems = []
    for session in sessions:
        if session.id in by_id:
            problems.append(Problem("", 0, "repeated_id", f"session {session.id!r} came before; skipped."))
        by_id.setdefault(session.id, session)
    return tuple(by_id.values()), problems


def _prices(sessions: Sequence[Session], model: str | None) -> tuple[dict[str, Price | None], list[Problem]]:
    """Return session id → price; a recorded model without a known price costs nothing but a doubt."""
    hint = "Its cost is unknown." if model else "Give --model for prices."
    doubts: dict[str, Problem] = {}
    prices: dict[str, Price | None] = {}
    for session in sessions:
        name = model or session.model
        try:
            prices[session.id] = price(name) if name else None
        except UnknownNameError as error:
            prices[session.id] = None
            doubts.setdefault(str(name), Problem("", 0, "no_price", f"{error} {hint}"))
    return prices, list(doubts.values())


def _run_all(work: Sequence[Unit], parts: Parts, workers: int, progress: bool, what: str = "compare") -> list[Done]:
    kept = {unit.key: done for unit in work if (done := parts.get(unit.key)) is not None}
    failed = {key for key, done in kept.items() if any(row.failed for row in done.turns)}
    again = {unit.key for unit in work if unit.fail_fast} & failed
    finished = {key: done for key, done in kept.items() if key not in again}
    todo = [unit for unit in work if unit.key not in finished and parts.resume != "only-cache"]
    with tqdm(
        total=len(work), initial=len(finished), desc=what, unit="part", disable=None if progress else True
    ) as bar:

        def keep(done: Done) -> None:
            parts.put(done)
            finished[done.key] = done
            bar.update()

        run(todo, workers, keep)
    return [finished[unit.key] for unit in work if unit.key in finished]


def _measured(
    finished: Sequence[Done],
    systems: Sequence[System],
    prices: Mapping[str, Price | None],
    problems: Sequence[Problem],
    about: Mapping[str, Any],
    tasks: Mapping[str, Any],
    charged: float,
) -> Comparison:
    from toolkit.experiment.bounds.cheapest import at_most_every_system
    from toolkit.experiment.comparison import frames

    passes = frames.pass_frame([row for done in finished for row in done.passes], prices, charged)
    turns = frames.turn_frame([row for done in finished for row in done.turns], passes)
    passes, turns = at_most_every_system(passes, turns)
    sessions = frames.session_frame(turns)
    summary = frames.leaderboard(sessions, systems, int(about["seed"]), tasks)
    by_fallback = said(cheapest_by_fallback(summary))
    about = {**about, "sorted_by": frames.sort_column(summary), "by_fallback": by_fallback}
    found = dict.fromkeys((*problems, *(problem for done in finished for problem in done.problems)))
    return Comparison(summary, sessions, turns, passes, tuple(found), about)


def _windows(sessions: Sequence[Session], model: str | None) -> dict[str, int | str]:
    """Return model → tokens of its context window."""
    models = (model,) if model else sorted({session.model for session in sessions if session.model})
    return {name: window(name) or "unknown" for name in models}


def _cache_words(model: str | None, prefix: str) -> str:
    """Return the cache model in words: the rules of the model, and whether sessions are alone."""
    alone = "definitions shared with other sessions" if prefix == "shared" else "an isolated session"
    if model is None:
        return f"each session's own model's rules, {alone}"
    rules = rules_for(model)
    life = "no expiry" if rules.lifetime is None else f"{rules.lifetime / 60:g} minutes where times are recorded"
    return f"{model}: {rules.mode}, minimum {rules.minimum}, step {rules.step}, {life}; {alone}"


def _described(system: System) -> dict[str, str]:
    return {
        "name": system.name,
        "retriever": system.retriever or "",
        "profile": system.profile,
        "query_model": system.query_model,
        "searching": repr(system.searching),
    }


def _about(
    sessions: Sequence[Session],
    systems: Sequence[System],
    prices: Mapping[str, Price | None],
    study: Study,
    counter: Counter,
) -> dict[str, Any]:
    """Return what the figures are of: data and its digests, counter, prices, versions, seed."""
    setting, around = study.setting, study.setting.catalog
    kinds = ("recorded", "joined", "missing")
    return {
        "toolkit": __version__,
        "sessions": len(sessions),
        "sessions_sha256": hashlib.sha256("".join(map(digest_of, sessions)).encode()).hexdigest(),
        "sources": sorted({session.source.rpartition(":")[0] for session in sessions if session.source}),
        "definitions": {kind: n for kind in kinds if (n := sum(s.definitions == kind for s in sessions))},
        "catalog_tools": len(around) if around is not None else 0,
        "catalog_sha256": around.digest if around is not None else "",
        "defer": list(setting.defer),
        "counter": counter.name,
        "counter_method": counter.method,
        "model": setting.model or "each session's own",
        "prices": {p.model: f"{p.source} ({p.date})" for p in prices.values() if p is not None},
        "windows": _windows(sessions, setting.model),
        "cache": _cache_words(setting.model, setting.prefix),
        "fallback": setting.fallback,
        "prefix": setting.prefix,
        "profile": setting.profile,
        "profile_assumes": list(host_profile(setting.profile).assumed),
        "query_models": [setting.query_model, *study.also],
        "searching": repr(searching(setting.searching)),
        "seed": study.execution.seed,
        "systems": [_described(system) for system in systems],
    }
