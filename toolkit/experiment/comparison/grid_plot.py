"""The picture of a grid: what each selector costs as the catalog grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolkit.errors import InputError
from toolkit.experiment.break_even.plot import COLOURS, FAINT
from toolkit.experiment.comparison.grid import Grid
from toolkit.replaying.system import BOUNDS
from toolkit.report.frontier_plot import plain_numbers

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_OTHERS = ("profile", "query_model", "retriever", "model")
_UNLIKE_BOUNDS = ("query_model", "retriever")
"""What makes no difference to a bound: it never searches."""
_WIDE = 100
"""How many times the least figure the largest may be on a linear axis."""
_DASHES = ("-", "--", "-.", ":")
_MARKS = ("s", "^", "v", "D")


def cost_against_size(found: Grid, value: str = "cost_with_fallback_usd", ax: Axes | None = None) -> Axes:
    """Draw a column of a grid against the tools around the recorded ones, one line a selector; bounds are grey.

    The same selectors have the same colours in every picture. Lines that differ in other coordinates stand apart, and
    say in which.

    Raises:
        InputError: The grid has no such column, or nothing in it.
    """
    import matplotlib.pyplot as plt

    if value not in found.frame or found.frame[value].isna().all():
        raise InputError(f"the grid has no figures in {value!r}.", hint="Without a price, draw prompt_tokens.")
    ax = ax or plt.subplots(figsize=(9, 5), layout="constrained")[1]
    systems = sorted({*found.frame["system"]} - {*BOUNDS})
    for at, name in enumerate(systems):
        _draw(ax, found, name, value, {"color": COLOURS[at % len(COLOURS)], "marker": "o"})
    for at, name in enumerate(name for name in BOUNDS if name in set(found.frame["system"])):
        _draw(ax, found, name, value, {"color": FAINT, "marker": _MARKS[at % len(_MARKS)], "linewidth": 1})
    ax.set(xlabel="tools around the recorded ones", ylabel=value.replace("_", " ").replace("usd", "(USD)"))
    _upright_scale(ax, found.frame[value])
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
    return ax


def _upright_scale(ax: Axes, figures: pd.Series[float]) -> None:
    """Begin at 0, or go by decades where the largest figures would hide the others."""
    if figures.max() > _WIDE * figures[figures > 0].min():
        ax.set_yscale("log")
        plain_numbers(ax.yaxis)
    else:
        ax.set_ylim(bottom=0)


def _draw(ax: Axes, found: Grid, system: str, value: str, style: dict[str, Any]) -> None:
    """Draw one system: a line for each combination of the other coordinates that makes a difference to it."""
    rows = found.frame[found.frame["system"] == system]
    varied = [name for name in _OTHERS if rows[name].nunique() > 1]
    varied = [name for name in varied if system not in BOUNDS or name not in _UNLIKE_BOUNDS]
    for at, (where, line) in enumerate(rows.groupby(["system", *varied], sort=False)):
        line = line.drop_duplicates("tools_around").sort_values("tools_around")
        label = ", ".join(map(str, where)).replace("$", r"\$")
        dashes = _DASHES[at % len(_DASHES)]
        ax.plot(line["tools_around"], line[value], dashes, markersize=4, label=label, **style)
