"""Pictures of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

from toolkit.report.frontier_plot import frontier, regret

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BUCKETS = {
    "system_tokens": "system",
    "declared_tokens": "declared definitions",
    "search_tool_tokens": "tools.search itself",
    "history_tokens": "history",
    "search_history_tokens": "searches in the history",
    "input_tokens": "input",
}
_COLOURS = ("#4c5b70", "#d1495b", "#edae49", "#8fa3bf", "#f4d58d", "#66a182")


@dataclass(frozen=True, slots=True)
class Plots:
    """The pictures of one comparison; each returns a matplotlib Axes."""

    summary: pd.DataFrame
    turns: pd.DataFrame
    about: Mapping[str, Any]

    def pareto(self, ax: Axes | None = None) -> Axes:
        """Prompt tokens a turn against calls that were out of reach: `frontier()`, lower left is better."""
        return self.frontier(ax=ax)

    def frontier(self, x: str = "tokens", y: str = "missed", ax: Axes | None = None) -> Axes:
        """One figure of each system against another, and the selectors that no other beats on both.

        Args:
            x: `cost`, `tokens`, `missed`, `served` or `trips`; see `toolkit.report.frontier_plot.FIGURES`.
            y: The same.
            ax: Where to draw; a new picture if None.
        """
        return frontier(self.summary, x, y, ax, _title(self.about))

    def regret(self, ax: Axes | None = None) -> Axes:
        """How much more each system costs than the bound `oracle_cost`, one bar a system."""
        return regret(self.summary, ax, _title(self.about))

    def buckets(self, ax: Axes | None = None) -> Axes:
        """What a turn's prompts are made of, one bar a system."""
        ax = ax or _axes()
        per_turn = self.turns.groupby("system")[list(_BUCKETS)].sum().div(self.turns.groupby("system").size(), axis=0)
        per_turn = per_turn.loc[list(self.summary["system"])[::-1]]
        left = pd.Series(0.0, index=per_turn.index)
        for (column, name), colour in zip(_BUCKETS.items(), _COLOURS, strict=True):
            ax.barh(
                [_literal(system) for system in per_turn.index], per_turn[column], left=left, color=colour, label=name
            )
            left = left + per_turn[column]
        ax.set(xlabel="prompt tokens per turn", title="What the prompts are made of")
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        return ax


def _axes() -> Axes:
    import matplotlib.pyplot as plt

    ax: Axes = plt.subplots(figsize=(8, 5), layout="constrained")[1]
    return ax


def _literal(text: str) -> str:
    """Return a text that matplotlib draws as it is, never as a formula."""
    return text.replace("$", r"\$")


def _title(about: Mapping[str, Any]) -> str:
    around = f", {about['catalog_tools']:,} tools around their own" if about["catalog_tools"] else ""
    model = f"; {about['model']}" if about["prices"] else ""
    return f"{about['sessions']} recorded sessions{around}{model}"


def save(ax: Axes, path: str | Path | BinaryIO, form: str | None = None) -> None:
    """Write the picture that an Axes stands in, and close it."""
    import matplotlib.pyplot as plt

    figure: Any = ax.figure
    figure.savefig(path, format=form, dpi=150)
    plt.close(figure)


def server_costs(rows: list[tuple[str, int, int, str]], counter: str, ax: Axes | None = None) -> Axes:
    """Tokens of every server on each pass that declares it, costliest on top."""
    shown = rows[:25][::-1]
    ax = ax or _axes()
    ax.barh(
        [f"{server} ({tools})" for server, tools, _, _ in shown],
        [tokens for _, _, tokens, _ in shown],
        color=_COLOURS[1],
    )
    for place, (_, _, tokens, _) in enumerate(shown):
        ax.annotate(f"{tokens:,}", (tokens, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8)
    ax.set(xlabel="tokens on every pass", title=f"What each server's definitions cost\n{counter}")
    ax.margins(x=0.12)
    return ax
