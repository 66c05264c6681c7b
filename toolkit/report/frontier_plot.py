"""Pictures of a leaderboard: which systems no other beats on two figures, and how far each is from the best."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pandas as pd

from toolkit.errors import InputError, UnknownNameError
from toolkit.report.labels import Spot, name_points
from toolkit.selectors.fitted import unlearnt

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DARK, PALE, LINE = "#2f6690", "#a9c1d3", "#b8c0cc"
Ends = tuple["pd.Series[float]", "pd.Series[float]", "pd.Series[float]"]
_SPREAD = "bar: other query models"
_WIDE = 3_000
"""Percent of regret beyond which its axis is logarithmic."""


class Figure(NamedTuple):
    """One figure of a system: its axis, whether more of it is better, and (value, low, high) of a leaderboard."""

    label: str
    more_is_better: bool
    logarithmic: bool
    of: Callable[[pd.DataFrame], Ends]


def _spread(board: pd.DataFrame, name: str) -> Ends:
    """Return a column with the least and the most of it over the query models, itself where there are none."""
    return board[name], board.get(f"{name}_min", board[name]), board.get(f"{name}_max", board[name])


def _a_turn(board: pd.DataFrame, name: str) -> Ends:
    value, low, high = (column / board["turns"].clip(lower=1) for column in _spread(board, name))
    return value, low, high


def _missed(board: pd.DataFrame) -> Ends:
    calls = board["calls"].clip(lower=1)
    value, low, high = (100 * (column + board["blocked"]) / calls for column in _spread(board, "missed"))
    return value, low, high


def _served(board: pd.DataFrame) -> Ends:
    value, low, high = _missed(board)
    return 100 - value, 100 - high, 100 - low


def _tokens(board: pd.DataFrame) -> Ends:
    name = "prompt_tokens_per_turn"
    return board["prompt_tokens"] / board["turns"].clip(lower=1), board[f"{name}_low"], board[f"{name}_high"]


FIGURES = {
    "cost": Figure(
        f"USD a turn, misses with their fallback ({_SPREAD})",
        False,
        True,
        lambda board: _a_turn(board, "cost_with_fallback_usd"),
    ),
    "tokens": Figure("prompt tokens per turn (95 % interval)", False, True, _tokens),
    "missed": Figure(f"calls missed or blocked, % ({_SPREAD})", False, False, _missed),
    "served": Figure(f"calls served, % ({_SPREAD})", True, False, _served),
    "trips": Figure(f"search trips a turn ({_SPREAD})", False, False, lambda board: _a_turn(board, "search_trips")),
}


def frontier(
    board: pd.DataFrame, x: str = "tokens", y: str = "missed", ax: Axes | None = None, title: str = ""
) -> Axes:
    """Draw one figure of each system against another; bounds are hollow, bars are what the axis says.

    The line joins the selectors that no other beats on both; these are dark.

    Args:
        board: A leaderboard, or one cell of a grid's frame.
        x: `cost`, `tokens`, `missed`, `served` or `trips`.
        y: The same.
        ax: Where to draw; a new picture if None.
        title: What the figures are of.

    Raises:
        UnknownNameError: There is no such figure.
        InputError: Nobody knows the costs.
    """
    ax = ax or _axes((8, 5))
    across, upright = _figure(x), _figure(y)
    frame = _points(board, across, upright)
    ax.errorbar(frame["x"], frame["y"], _bars(frame, "y"), _bars(frame, "x"), fmt="none", ecolor=LINE, lw=1, zorder=1)
    _draw_points(ax, frame)
    best = frame[frame["best"]]
    ax.step(best["x"], best["y"], where="post", color=DARK, alpha=0.35, zorder=2)
    ax.set(xlabel=across.label, ylabel=upright.label, title=_literal(title))
    _scale(ax, across, upright)
    rows = zip(frame["x"], frame["y"], frame["system"], frame["best"] | frame["bound"], strict=True)
    name_points(ax, [Spot(*row) for row in rows])
    return ax


def _figure(name: str) -> Figure:
    if name not in FIGURES:
        raise UnknownNameError("figure of a leaderboard", name, FIGURES)
    return FIGURES[name]


def _points(board: pd.DataFrame, across: Figure, upright: Figure) -> pd.DataFrame:
    """Return one row a system with both figures, the better ones in `x` first, and whether no selector beats it."""
    (x, x_low, x_high), (y, y_low, y_high) = across.of(board), upright.of(board)
    if x.isna().all() or y.isna().all():
        raise InputError("nobody knows the costs of these sessions.", hint="Compare with a model, for its prices.")
    ends = {"x_low": x_low, "x_high": x_high, "y_low": y_low, "y_high": y_high}
    frame = board[["bound"]].assign(system=board["system"].map(unlearnt), x=x, y=y, **ends)
    signs = [-1 if one.more_is_better else 1 for one in (across, upright)]
    ranked = frame.assign(worse_x=signs[0] * x, worse_y=signs[1] * y).sort_values(["worse_x", "worse_y"])
    worse = ranked.loc[~ranked["bound"] & board.get("ranked", ~ranked["bound"]), "worse_y"]
    leads = worse < worse.cummin().shift(fill_value=float("inf"))
    return ranked.assign(best=leads.reindex(ranked.index, fill_value=False).astype(bool))


def _bars(frame: pd.DataFrame, way: str) -> list[Any]:
    ends = (frame[way] - frame[f"{way}_low"], frame[f"{way}_high"] - frame[way])
    return [end.fillna(0).clip(lower=0) for end in ends]


def _draw_points(ax: Axes, frame: pd.DataFrame) -> None:
    kinds = (
        ("bound", frame["bound"], "white", DARK),
        ("selector that another beats on both", ~frame["bound"] & ~frame["best"], PALE, PALE),
        ("selector that none beats on both", frame["best"], DARK, DARK),
    )
    for label, rows, face, edge in kinds:
        part = frame[rows]
        ax.scatter(part["x"], part["y"], s=46, facecolor=face, edgecolor=edge, zorder=3, label=label)


def _scale(ax: Axes, across: Figure, upright: Figure) -> None:
    """Make costs and tokens logarithmic, leave room for names, and put the legend below the picture."""
    ax.set(xscale="log" if across.logarithmic else "linear", yscale="log" if upright.logarithmic else "linear")
    ax.margins(0.12)
    for axis in [axis for one, axis in ((across, ax.xaxis), (upright, ax.yaxis)) if one.logarithmic]:
        plain_numbers(axis)
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="upper center", bbox_to_anchor=(0.5, -0.12), ncols=3)


def plain_numbers(axis: Any) -> None:
    """Write a logarithmic axis in plain numbers: at 1, 2 and 5 of each decade, where there are many at 1."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 60 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _plain(value)))
    axis.set_minor_formatter(NullFormatter())


def _plain(value: float) -> str:
    if value >= 1e6:
        return f"{value / 1e6:,g} M"
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def regret(board: pd.DataFrame, ax: Axes | None = None, title: str = "") -> Axes:
    """Draw how much more each system costs than the bound `oracle_cost`, in percent, with its 95 % interval.

    Costs are with fallback, so that nobody wins by missing. Bounds are hollow.

    Raises:
        InputError: Nobody knows the costs.
    """
    rows = board.dropna(subset=["regret"]).sort_values("regret", ascending=False)
    if rows.empty:
        raise InputError("nobody knows the regret of these systems.", hint="Compare with a model, for its prices.")
    ax = ax or _axes((8, 0.6 + 0.27 * len(rows)))
    names, places, percent = (
        [_literal(unlearnt(name)) for name in rows["system"]],
        range(len(rows)),
        100 * rows["regret"],
    )
    low, high = (
        _known(100 * sign * (rows[f"regret_{end}"] - rows["regret"])) for sign, end in ((-1, "low"), (1, "high"))
    )
    faces = ["white" if bound else DARK for bound in rows["bound"]]
    ax.barh(places, percent, color=faces, edgecolor=DARK, height=0.66, tick_label=names)
    ax.errorbar(percent, places, xerr=[low, high], fmt="none", ecolor="#7b8794", lw=1, capsize=2)
    for place, value, end in zip(places, percent, percent + high, strict=True):
        ax.annotate(f"{value:,.0f}", (end, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set(xlabel="cost above oracle_cost, % (95 % interval over sessions)", title=_literal(title))
    ax.set_ylim(-0.6, len(rows) - 0.4)
    ax.grid(axis="x", alpha=0.25)
    _percent_scale(ax, min(0.0, float((percent - low).min())), float((percent + high).max()))
    return ax


def _percent_scale(ax: Axes, least: float, most: float) -> None:
    """Make the x axis linear, or linear to 100 and logarithmic beyond where a few would hide all others."""
    from matplotlib.ticker import FuncFormatter

    wide = most > _WIDE
    if wide:
        ax.set_xscale("symlog", linthresh=100)
    ax.set_xlim(least, max(most, 1.0) * (4 if wide else 1.18))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def _known(bar: pd.Series[float]) -> pd.Series[float]:
    return bar.fillna(0).clip(lower=0)


def _axes(size: tuple[float, float]) -> Axes:
    import matplotlib.pyplot as plt

    ax: Axes = plt.subplots(figsize=size, layout="constrained")[1]
    return ax


def _literal(text: str) -> str:
    """Return a text that matplotlib draws as it is, never as a formula."""
    return text.replace("$", r"\$")
