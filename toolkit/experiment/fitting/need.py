"""Fitting the forecast of `expected_cost` on earlier sessions: what they call, and which searches fail."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field

import numpy as np
from tqdm import tqdm

from toolkit.bench import Bench
from toolkit.engine import HostView, Selection
from toolkit.experiment.fitting.split import groups
from toolkit.replaying.system import Setting
from toolkit.replaying.trace import MISSED, SEARCHED, Trace
from toolkit.selectors.forecast import PRIOR_WITH_COUNTS as PRIOR
from toolkit.selectors.forecast import Facts, miss_evidence
from toolkit.selectors.need import FEATURES, Floats, arrays, evidence, fit_chance, fit_weights
from toolkit.selectors.usage import Usage
from toolkit.session import Session
from toolkit.tool import Tool

NEAR = 50
"""Tools whose place for the input is better are all kept as rows; of the others one in `SPARE`, standing for all."""
SPARE = 20


@dataclass
class _Watch:
    """Leaves everything searchable, and keeps what each turn's evidence was."""

    usage: Usage
    seen: list[tuple[tuple[str, ...], Floats]] = field(default_factory=list)

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        names = arrays(visible).told.names
        self.seen.append((names, evidence(visible, host, self.usage)))
        return Selection((), names)


@dataclass
class Sample:
    """Rows of evidence with what happened then; `times` says how many rows each stands for."""

    rows: list[Floats] = field(default_factory=list)
    now: list[Floats] = field(default_factory=list)
    later: list[Floats] = field(default_factory=list)
    times: list[Floats] = field(default_factory=list)
    asked: list[tuple[Floats, bool]] = field(default_factory=list)
    tries: list[int] = field(default_factory=list)
    missed: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    calls: list[int] = field(default_factory=list)
    later_turns: list[int] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)


def fitted_usage(sessions: Iterable[Session], setting: Setting = Setting(), progress: bool = False) -> Usage:
    """Return what sessions say, with the fitted facts of `expected_cost` in it.

    Each session is looked at with the counts of other tasks alone, as a later session will be: what repeats it
    would make its tools look certain.

    Args:
        sessions: The earlier sessions.
        setting: The retriever, profile and query model that searches are tried with, and the tools around.
        progress: Show a progress bar where there is a terminal.
    """
    known = tuple(sessions)
    usage = Usage.of(known)
    sample, bench = Sample(), Bench(setting)
    with tqdm(total=len(known), desc="fit", unit="session", disable=None if progress else True) as bar:
        for group in groups(known):
            others = usage.minus(Usage.of(group))
            for session in group:
                look(sample, session, others, bench)
                bar.update()
    return usage.adding(expected_cost={**asdict(facts(sample)), "features": list(FEATURES)})


def look(sample: Sample, session: Session, others: Usage, bench: Bench) -> None:
    """Add to a sample what a session called and searched, and what was known of it by the counts of others."""
    made, watch = bench.prepare(session), _Watch(others)
    trace = bench.replay(made, bench.setting.system(watch))
    called = [Counter(call.name for one in turn.passes for call in one.calls) for turn in made.turns]
    sample.lengths.append(len(made.turns))
    for number, (names, rows) in enumerate(watch.seen):
        later = Counter(name for turn in called[number + 1 :] for name in turn)
        sample.passes.append(len(made.turns[number].passes))
        _add_rows(sample, names, rows, called[number], later)
        _add_searches(sample, names, rows, trace, number)


def _add_rows(sample: Sample, names: tuple[str, ...], rows: Floats, now: Counter[str], later: Counter[str]) -> None:
    needed = np.array([name in now for name in names], dtype=float)
    then = np.array([name in later for name in names], dtype=float)
    used = rows[:, FEATURES.index("used")]
    near = (rows[:, FEATURES.index("rank")] > -np.log2(NEAR)) | (needed + then + used > 0)
    spare = ~near & (np.arange(len(names)) % SPARE == len(sample.rows) % SPARE)
    kept = near | spare
    sample.rows.append(rows[kept])
    sample.now.append(needed[kept])
    sample.later.append(then[kept])
    sample.times.append(np.where(spare, (~near).sum() / max(spare.sum(), 1), 1.0)[kept])
    sample.calls += [times for name, times in now.items()]
    sample.later_turns += list(later.values())


def _add_searches(sample: Sample, names: tuple[str, ...], rows: Floats, trace: Trace, number: int) -> None:
    place = {name: i for i, name in enumerate(names)}
    seen: set[str] = set()
    for call in (call for one in trace.turns[number].passes for call in one.calls):
        if call.name not in place or call.fate not in (MISSED, SEARCHED):
            continue
        failed = call.fate == MISSED
        if call.name not in seen:
            sample.missed[call.name][0] += failed
            sample.missed[call.name][1] += 1
            sample.asked.append((rows[place[call.name]], failed))
            sample.tries += [] if failed else [max(call.tries, 1)]
            seen.add(call.name)


def facts(sample: Sample) -> Facts:
    """Return the facts that a sample speaks for; what it says nothing of stays as the prior has it."""
    if not sample.rows:
        return PRIOR
    rows, times = np.concatenate(sample.rows), np.concatenate(sample.times)
    return Facts(
        now=fit_chance(rows, np.concatenate(sample.now), times, PRIOR.now),
        later=fit_chance(rows, np.concatenate(sample.later), times, PRIOR.later),
        miss=_miss_weights(sample),
        miss_rate=_mean([failed for _, failed in sample.asked], PRIOR.miss_rate),
        missed=tuple(sorted((name, failed, tried) for name, (failed, tried) in sample.missed.items())),
        calls=_mean(sample.calls, PRIOR.calls),
        later_turns=_mean(sample.later_turns, PRIOR.later_turns),
        tries=_mean(sample.tries, PRIOR.tries),
        passes=_mean(sample.passes, PRIOR.passes),
        remaining=tuple(_remaining(sample.lengths)),
    )


def _miss_weights(sample: Sample) -> tuple[float, ...]:
    if not sample.asked:
        return PRIOR.miss
    rank = np.array([row[FEATURES.index("rank")] for row, _ in sample.asked])
    rows = miss_evidence(rank)
    failed = np.array([missed for _, missed in sample.asked], dtype=float)
    return tuple(fit_weights(rows, failed, np.ones(len(rank)), PRIOR.miss).tolist())


def _mean(values: Sequence[int], prior: float) -> float:
    """Return the mean, the prior counted as four values more."""
    return float((sum(values) + 4 * prior) / (len(values) + 4))


def _remaining(lengths: Sequence[int]) -> Iterator[float]:
    """Yield, for each turn, how many more turns sessions that got so far went on to have; up to the longest."""
    for turn in range(1, max(lengths, default=1) + 1):
        left = [length - turn for length in lengths if length >= turn]
        yield _mean(left, PRIOR.remaining[0]) if len(left) < 4 else sum(left) / len(left)
