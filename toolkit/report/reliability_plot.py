"""The picture of whether the probabilities of `expected_cost` can be believed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from toolkit.errors import InputError
from toolkit.report.frontier_plot import DARK, LINE, plain_numbers
from toolkit.report.labels import Spot, name_points

if TYPE_CHECKING:
    from matplotlib.axes import Axes

GUESSES = {"now": "this turn calls the tool", "later": "a later turn calls it", "miss": "a search for it fails"}
_RARE = ("now", "later")
"""Guesses that are small nearly always: they stand on logarithmic axes."""
_NEVER = 0.4
"""Where a share of nothing stands on a logarithmic axis, times the least that can be shown."""


def reliability_plot(frame: pd.DataFrame, axes: Sequence[Axes] | None = None, title: str = "") -> Sequence[Axes]:
    """Draw, guess by guess, how often that came true to which a forecast gave about the same probability.

    On the diagonal a guess is right; above it things happen more often than it says. Bars are 95 % intervals, the
    number is how many guesses a point stands for. A hollow point never came true: only its interval says something.

    Args:
        frame: What `toolkit.experiment.fitting.calibration.reliability` returns.
        axes: Where to draw, one for each of `GUESSES`; a new picture if None.
        title: What the figures are of, above the first.

    Raises:
        InputError: There is no guess in the frame.
    """
    if frame.empty:
        raise InputError("there is no guess to draw.", hint="Give sessions with at least one turn.")
    axes = _axes() if axes is None else axes
    for ax, says in zip(axes, GUESSES.values(), strict=True):
        ax.set(xlabel="predicted probability", title=says)
        ax.grid(alpha=0.25)
    above = f"{title}\n".replace("$", r"\$") if title else ""
    axes[0].set(ylabel="share that came true (95 % interval)", title=above + axes[0].get_title())
    for ax, what in zip(axes, GUESSES, strict=True):
        _draw(ax, frame[frame["what"] == what], what in _RARE)
    return axes


def _axes() -> Sequence[Axes]:
    import matplotlib.pyplot as plt

    axes: Any = plt.subplots(1, len(GUESSES), figsize=(14, 4.8), layout="constrained")[1]
    return list(axes)


def _draw(ax: Axes, rows: pd.DataFrame, rare: bool) -> None:
    """Draw one guess's points and the diagonal, with the number of guesses beside each point."""
    if rows.empty:
        ax.annotate("no such guess", (0.5, 0.5), xycoords="axes fraction", ha="center")
        return
    seen = pd.concat([rows["predicted"], rows["observed"]])
    floor = _NEVER * float(seen[seen > 0].min()) if rare else 0.0
    shown = rows.assign(**{name: rows[name].clip(lower=floor) for name in ("observed", "low", "high")})
    ax.plot([floor, 1], [floor, 1], color="#9aa5b1", linewidth=1, linestyle="--", zorder=1)
    _draw_points(ax, shown, [DARK if share > 0 else "white" for share in rows["observed"]])
    for axis, scale in ((ax.xaxis, ax.set_xscale), (ax.yaxis, ax.set_yscale)) if rare else ():
        scale("log")
        plain_numbers(axis)
    counted = zip(shown["predicted"], shown["observed"], shown["n"], strict=True)
    name_points(ax, [Spot(x, y, f"{n:,}", False) for x, y, n in counted])


def _draw_points(ax: Axes, shown: pd.DataFrame, faces: Sequence[str]) -> None:
    x, y = shown["predicted"], shown["observed"]
    bars = [(y - shown["low"]).clip(lower=0), (shown["high"] - y).clip(lower=0)]
    ax.errorbar(x, y, bars, fmt="none", ecolor=LINE, lw=1.4, capsize=2, zorder=2)
    ax.scatter(x, y, s=36, facecolor=faces, edgecolor=DARK, zorder=3)
