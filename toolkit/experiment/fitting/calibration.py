"""How well the probabilities of `expected_cost` hold on sessions that it did not learn from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from toolkit.bench import Bench
from toolkit.experiment.fitting.need import Sample, look
from toolkit.replaying.system import Setting
from toolkit.selectors.forecast import facts_of, miss_evidence
from toolkit.selectors.need import FEATURES, Chance, Floats, probability
from toolkit.selectors.usage import Usage
from toolkit.session import Session

BINS_A_DECADE = 2
LEAST = 1e-7
_Z = 1.96


def reliability(usage: Usage, sessions: Iterable[Session], setting: Setting = Setting()) -> pd.DataFrame:
    """Return, bin by bin of the predicted probability, how often it came true.

    Columns: `what` (`now`: this turn calls the tool; `later`: a later turn does; `miss`: a search for it fails),
    `n` (tools × turns, or searches), `predicted` (mean), `observed` (share), and `low`, `high`: the 95 % Wilson
    interval of the share. Bins are half decades.

    Args:
        usage: What earlier sessions said, with the fitted facts of `expected_cost`, or without for its priors.
        sessions: Later sessions.
        setting: The retriever, profile and query model that searches are tried with, and the tools around.
    """
    sample, bench = Sample(), Bench(setting)
    for session in sessions:
        look(sample, session, usage, bench)
    facts = facts_of(usage)
    frames = [
        _binned("now", *_joined(facts.now, sample.rows, sample.now, sample.times)),
        _binned("later", *_joined(facts.later, sample.rows, sample.later, sample.times)),
        _binned("miss", *_searches(facts.miss, sample)),
    ]
    return pd.concat(frames, ignore_index=True)


def _joined(chance: Chance, rows: list[Floats], happened: list[Floats], times: list[Floats]) -> tuple[Floats, ...]:
    """Return guesses, what happened, and how many each stands for."""
    if not rows:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    return chance(np.concatenate(rows)), np.concatenate(happened), np.concatenate(times)


def _searches(weights: tuple[float, ...], sample: Sample) -> tuple[Floats, ...]:
    rank = np.array([row[FEATURES.index("rank")] for row, _ in sample.asked])
    failed = np.array([missed for _, missed in sample.asked], dtype=float)
    return probability(miss_evidence(rank), weights), failed, np.ones(len(rank))


def _binned(what: str, guess: Floats, happened: Floats, times: Floats) -> pd.DataFrame:
    place = np.floor(np.log10(np.maximum(guess, LEAST)) * BINS_A_DECADE).astype(int)
    found = [
        _bin(what, guess[here], happened[here], times[here]) for here in (place == one for one in np.unique(place))
    ]
    columns = ["what", "n", "predicted", "observed", "low", "high"]
    return pd.DataFrame(found, columns=columns)


def _bin(what: str, guess: Floats, happened: Floats, times: Floats) -> tuple[Any, ...]:
    n = float(times.sum())
    share = float((times * happened).sum() / n)
    middle, half = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n), _Z / (1 + _Z**2 / n)
    half *= float(np.sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2)))
    return what, round(n), float((times * guess).sum() / n), share, max(middle - half, 0.0), min(middle + half, 1.0)
