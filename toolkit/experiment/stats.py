"""Statistics over sessions: the task is what was sampled, so it is what is resampled (`docs/statistics.md`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

RESAMPLES = 2000
TAIL = 0.025
CAUTION = 100
"""Each tail is taken as `TAIL` n / (n + `CAUTION`) of the resampled t-values: a sample of n seldom holds the largest
sessions that there are, and with this correction intervals hold what they promise (`benchmarks/intervals.py`)."""
LEAST = 10
"""Fewer tasks than this have no interval: no method tried holds what it promises on so few."""


def ratio_interval(
    tops: Iterable[float], bottoms: Iterable[float], seed: int, groups: Iterable[Hashable] | None = None
) -> tuple[float, float, float]:
    """Return a ratio of sums and its 95 % interval: bootstrap-t of its logarithm, over groups of paired items.

    Fewer than `LEAST` groups have no interval: NaN. Items that all give one ratio have that ratio. A number that is
    missing on either side leaves all three NaN.

    Args:
        tops: The items' numbers above the line.
        bottoms: Those below it.
        seed: Seed of the resampling.
        groups: What each item belongs to, such as its task; every item for itself if None.

    >>> ratio_interval([1, 2, 3], [2, 4, 6], 0)
    (0.5, 0.5, 0.5)
    """
    top, bottom = np.asarray(list(tops), dtype=float), np.asarray(list(bottoms), dtype=float)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = float(top.sum() / bottom.sum())
    if not np.isfinite(ratio):
        return (float("nan"),) * 3
    if len(top) > 1 and np.allclose(top * bottom.sum(), bottom * top.sum()):
        return ratio, ratio, ratio
    top, bottom = _summed(top, bottom, groups)
    if len(top) < LEAST or ratio <= 0:
        return ratio, float("nan"), float("nan")
    low, high = _bootstrap_t(top, bottom, seed)
    return ratio, min(low, ratio), max(high, ratio)


def _summed(top: Any, bottom: Any, groups: Iterable[Hashable] | None) -> tuple[Any, Any]:
    """Return the sums of each group, in the order in which groups come."""
    if groups is None:
        return top, bottom
    places: dict[Hashable, int] = {}
    at = [places.setdefault(group, len(places)) for group in groups]
    return np.bincount(at, top), np.bincount(at, bottom)


def _bootstrap_t(top: Any, bottom: Any, seed: int) -> tuple[float, float]:
    """Return the ends of the interval: the ratio's logarithm less resampled t-values times its standard error."""
    rng, size = np.random.default_rng(seed), len(top)
    middle, error = _log_ratio(top[None], bottom[None])
    found = []
    for _ in range(0, RESAMPLES, step := max(1, min(RESAMPLES, 2_000_000 // size))):
        at = rng.integers(size, size=(step, size))
        again, errors = _log_ratio(top[at], bottom[at])
        with np.errstate(divide="ignore", invalid="ignore"):  # a resample all of one task has no error; left out below
            found.append((again - middle) / errors)
    values = np.concatenate(found)
    tail = TAIL * size / (size + CAUTION)
    least, most = np.quantile(values[np.isfinite(values)], (tail, 1 - tail))
    low, high = np.exp(middle - most * error)[0], np.exp(middle - least * error)[0]
    return float(low), float(high)


def _log_ratio(top: Any, bottom: Any) -> tuple[Any, Any]:
    """Return the logarithm of each row's ratio of sums, and its standard error by linearisation."""
    size = top.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        above, below = top.sum(axis=-1), bottom.sum(axis=-1)
        off = top / above[:, None] - bottom / below[:, None]
        return np.log(above / below), np.sqrt((off**2).sum(axis=-1) * size / (size - 1))
