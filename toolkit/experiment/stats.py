"""Statistics over sessions: the session is what was sampled, so it is what is resampled."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

RESAMPLES = 2000
_MOST_FOR_BCA = 2000


def ratio_interval(tops: Iterable[float], bottoms: Iterable[float], seed: int) -> tuple[float, float, float]:
    """Return a ratio of sums and its 95 % bootstrap interval over paired items.

    Bias-corrected and accelerated up to 2,000 items, percentile beyond. Fewer than two items, or
    items that all give one ratio, have no interval to estimate: NaN, or the ratio itself. A number that is
    missing on either side leaves all three NaN.

    >>> ratio_interval([1, 2, 3], [2, 4, 6], 0)
    (0.5, 0.5, 0.5)
    """
    top, bottom = np.asarray(list(tops), dtype=float), np.asarray(list(bottoms), dtype=float)
    ratio = _ratio(top, bottom, axis=-1)
    if len(top) < 2 or not np.isfinite(ratio):
        ratio = ratio if np.isfinite(ratio) else float("nan")
        return float(ratio), float("nan"), float("nan")
    if np.allclose(top * bottom.sum(), bottom * top.sum()):
        return float(ratio), float(ratio), float(ratio)
    low, high = _bootstrap(top, bottom, seed)
    return float(ratio), float(low), float(high)


def _ratio(top: Numbers, bottom: Numbers, axis: int) -> Any:
    with np.errstate(divide="ignore", invalid="ignore"):
        return top.sum(axis=axis) / bottom.sum(axis=axis)


def _bootstrap(top: Numbers, bottom: Numbers, seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    method = "BCa" if len(top) <= _MOST_FOR_BCA else "percentile"
    interval = bootstrap(
        (top, bottom),
        _ratio,
        paired=True,
        vectorized=True,
        n_resamples=RESAMPLES,
        method=method,
        batch=max(1, 4_000_000 // len(top)),
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return interval.low, interval.high
