"""The picture of a break-even: what a turn costs in growing catalogs, and for which lengths of session that pays."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from toolkit.experiment.break_even.study import BreakEven
from toolkit.replaying.system import BOUNDS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#2f6690", "#d1495b", "#66a182", "#edae49", "#7d5ba6", "#4c5b70")
ALL_COLOUR, FAINT = "#222222", "#8f98a6"
_DOTTED = {"linestyle": ":", "linewidth": 1.2}
_MARKED = {"marker": "o", "markersize": 4}


def draw(found: BreakEven) -> tuple[Axes, Axes]:
    """Draw both panels side by side, with a line below that says what the figures are of."""
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5.6))
    cost_against_size(found, left)
    turns_that_pay(found, right)
    figure.tight_layout(rect=(0, 0.11, 1, 1))
    figure.text(
        0.01, 0.012, _literal("\n".join(textwrap.wrap(caption(found.about), 190))), fontsize=7.5, color="#444444"
    )
    return left, right


def save(found: BreakEven, path: str | Path) -> None:
    """Write the picture as a file (.png, .svg…)."""
    import matplotlib.pyplot as plt

    figure: Any = draw(found)[0].figure
    figure.savefig(path, dpi=150)
    plt.close(figure)


def cost_against_size(found: BreakEven, ax: Axes | None = None) -> Axes:
    """USD per turn against catalog size, one line a selector; a ring marks where it crosses that of `all`.

    Calls that were not served are charged with their fallback. The dashed lines are the price model's, which misses
    none. The oracle, which knows the future, is the thin dotted one.
    """
    ax = ax or _axes()
    tools = found.summary.groupby("size")["tools"].first()
    for system, colour in _styles(found.summary):
        mine = found.summary[found.summary["system"] == system].set_index("size")["with_fallback_usd_per_turn"]
        style: dict[str, Any] = _DOTTED if system == "oracle" else _MARKED
        ax.plot(tools[mine.index], mine, color=colour, label=_label(found, system), zorder=3, **style)
    _draw_modelled(ax, found)
    for row in found.crossings.to_dict("records"):
        _mark(ax, found, {str(key): value for key, value in row.items()})
    ax.set(xlabel="tools in the catalog", ylabel="USD per turn, with fallback", title="What a turn costs")
    ax.set_ylim(bottom=0, top=1.3 * found.summary["with_fallback_usd_per_turn"].max())
    ax.set_xlim(0.8 * tools.min(), 1.6 * tools.max())
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return ax


def turns_that_pay(found: BreakEven, ax: Axes | None = None) -> Axes:
    """The lengths of session for which each selector costs less than `all`, against catalog size.

    Bars are measured: sessions cut off after so many turns; an arrow says that it still pays at the longest recorded,
    a cross that it never does. The dashed lines are the last turn at which it pays in the price model.
    """
    ax = ax or _axes()
    selectors = list(found.crossings["system"])
    for place, (system, colour) in enumerate(_styles(found.summary, selectors)):
        shift = 1 + 0.05 * (place - (len(selectors) - 1) / 2)
        for row in found.summary[(found.summary["system"] == system) & found.summary["ratio"].notna()].to_dict(
            "records"
        ):
            _bar(ax, row["tools"] * shift, {str(key): value for key, value in row.items()}, colour)
        last = found.modelled[found.modelled["system"] == system].groupby("tools").apply(_last_turn)
        ax.plot(last.index, last, color=colour, linestyle="--", linewidth=1.2, label=_literal(f"{system}, price model"))
    _log(ax, found)
    _draw_longest(ax, int(found.summary["longest_session"].max()))
    ax.set(
        xlabel="tools in the catalog", ylabel="turns in the session", title="Lengths of session that cost less than all"
    )
    ax.grid(alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="upper left")
    return ax


def caption(about: Mapping[str, Any]) -> str:
    """Return what a figure is of: data, model, counter, prices, cache, profile, seed."""
    around = f" and a catalog of {about['catalog_tools']:,} tools" if about["catalog_tools"] else ""
    retriever = about["systems"][0]["retriever"]
    return (
        f"{about['sessions']} sessions, {about['recorded_turns']} turns of {', '.join(about['sources']) or 'no file'}"
        f"{around}; tools drawn by seed {about['seed']} out of {about['pool_tools']:,}. "
        f"Tokens: {about['counter']} ({about['counter_method']}). Prices: {about['prices']}. Cache: {about['cache']}. "
        f"Profile {about['profile']}, retriever {retriever}. Solid: replayed; dashed: price model with the replays' "
        "averages, which misses none. Solid: calls that were not served are charged with a fallback pass, as is each "
        "length of session that pays."
    )


def _axes() -> Axes:
    import matplotlib.pyplot as plt

    ax: Axes = plt.subplots(figsize=(7, 5), layout="constrained")[1]
    return ax


def _styles(summary: pd.DataFrame, systems: list[str] | None = None) -> Iterator[tuple[str, str]]:
    """Yield (system, colour); a selector has the same colour in both panels."""
    selectors = [name for name in summary["system"].unique() if name not in BOUNDS]
    colours = {"all": ALL_COLOUR, "oracle": FAINT}
    colours |= {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(selectors)}
    yield from ((name, colours[name]) for name in systems or ["all", *selectors, "oracle"])


def _draw_modelled(ax: Axes, found: BreakEven) -> None:
    usual = found.modelled[found.modelled["usual"]]
    selectors = list(usual["system"].unique())
    for system, colour in _styles(found.summary, selectors):
        mine = usual[usual["system"] == system]
        ax.plot(mine["tools"], mine["usd_per_turn"], color=colour, linestyle="--", linewidth=1, alpha=0.8)
    everything = usual[usual["system"] == selectors[0]] if selectors else usual
    ax.plot(
        everything["tools"], everything["all_usd_per_turn"], color=ALL_COLOUR, linestyle="--", linewidth=1, alpha=0.8
    )


def _mark(ax: Axes, found: BreakEven, row: Mapping[str, Any]) -> None:
    """Put a ring where a selector's line crosses that of `all`."""
    at = row["with_fallback_pays_from_tools"]
    if at != at or at == row["smallest"]:
        return
    import numpy as np

    everything = found.summary[found.summary["system"] == "all"].sort_values("tools")
    height = float(np.interp(at, everything["tools"], everything["with_fallback_usd_per_turn"]))
    ax.plot([at], [height], marker="o", markersize=12, fillstyle="none", color="#222222", zorder=4)
    text = _literal(f"{row['system']}\npays from {at:.0f} tools")
    box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
    ax.annotate(text, (at, height), xytext=(9, -27), textcoords="offset points", fontsize=8, zorder=5, bbox=box)


def _draw_longest(ax: Axes, longest: int) -> None:
    ax.axhline(longest, color=FAINT, linewidth=0.8)
    ax.annotate("longest recorded", (1, longest), xycoords=("axes fraction", "data"), xytext=(-3, 3), ha="right",
                textcoords="offset points", fontsize=8, color=FAINT)  # fmt: skip


def _bar(ax: Axes, x: float, row: Mapping[str, Any], colour: str) -> None:
    first, last = row["pays_from_turn"], row["pays_to_turn"]
    if first != first:
        ax.plot([x], [0.92], marker="x", color=colour, markersize=6)
        return
    goes_on = last == row["longest_session"]
    ax.plot([x, x], [first if first > 1 else 0.86, last], color=colour, linewidth=5, alpha=0.55, solid_capstyle="butt")
    ax.plot([x], [last], marker="^" if goes_on else "_", color=colour, markersize=8)


def _last_turn(rows: pd.DataFrame) -> float:
    """The last length of session that pays in the price model; NaN where none does, outside the frame where all do."""
    pays = rows.loc[rows["ratio"] < 1, "turns"]
    last = float(pays.max()) if len(pays) else float("nan")
    return 4 * last if last == rows["turns"].max() else last


def _log(ax: Axes, found: BreakEven) -> None:
    """Make both axes logarithmic, with plain numbers."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.set_yscale("log")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axis.set_minor_formatter(NullFormatter())
    ax.set_ylim(0.86, found.modelled["turns"].max())


def _label(found: BreakEven, system: str) -> str:
    """Name a line: how many calls it served, and where it does not pay at all."""
    if system in BOUNDS:
        return f"{system} (bound)"
    served = found.summary.loc[found.summary["system"] == system, "served_share"]
    rows = found.crossings[found.crossings["system"] == system]
    dearer = rows[rows["with_fallback_pays_from_tools"].isna()]
    never = f", dearer up to {dearer['largest'].iloc[0]:.0f} tools" if len(dearer) else ""
    return _literal(f"{system}: {served.min():.0%} to {served.max():.0%} of calls served{never}")


def _literal(text: str) -> str:
    """Return a text that matplotlib draws as it is, never as a formula."""
    return text.replace("$", r"\$")
