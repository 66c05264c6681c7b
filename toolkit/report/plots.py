"""Pictures of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import pandas as pd

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
        """Prompt tokens a turn against calls that were out of reach; the bounds are drawn hollow.

        Lower left is better. The line joins the systems that no other beats on both.
        """
        ax = ax or _axes()
        frame = self.summary.assign(
            x=self.summary["prompt_tokens"] / self.summary["turns"].clip(lower=1),
            y=100 * (self.summary["missed"] + self.summary["blocked"]) / self.summary["calls"].clip(lower=1),
        ).sort_values("x")
        errors = [frame["x"] - frame["prompt_tokens_per_turn_low"], frame["prompt_tokens_per_turn_high"] - frame["x"]]
        ax.errorbar(frame["x"], frame["y"], xerr=_clean(errors), fmt="none", ecolor="#b8c0cc", zorder=1)
        for bound, face in ((False, "#2f6690"), (True, "white")):
            part = frame[frame["bound"] == bound]
            ax.scatter(
                part["x"],
                part["y"],
                s=60,
                facecolor=face,
                edgecolor="#2f6690",
                zorder=3,
                label="bound" if bound else "selector",
            )
        chosen = frame[~frame["bound"]]
        best = chosen[chosen["y"] < chosen["y"].cummin().shift(fill_value=float("inf"))]
        ax.step(best["x"], best["y"], where="post", color="#2f6690", alpha=0.35, zorder=2)
        _label(ax, frame)
        ax.set(
            xlabel="prompt tokens per turn (95 % interval)",
            ylabel="calls missed or blocked (%)",
            title=_title(self.about),
        )
        _log_axis(ax)
        ax.set_ylim(bottom=min(-2, ax.get_ylim()[0]))
        ax.grid(alpha=0.25)
        ax.legend(frameon=False, loc="upper right")
        return ax

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


def _log_axis(ax: Axes) -> None:
    """Make the x axis logarithmic, with whole numbers at 1, 2 and 5 of each decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_formatter(NullFormatter())


def _clean(errors: list[pd.Series]) -> list[pd.Series]:
    return [error.fillna(0).clip(lower=0) for error in errors]


def _label(ax: Axes, frame: pd.DataFrame) -> None:
    """Name every point; points that lie on each other share one label."""
    spots = frame.groupby([frame["x"].round(-1), frame["y"].round(0)], sort=False)
    for number, (_, group) in enumerate(spots):
        text = _literal(", ".join(group["system"]))
        above = number % 2 == 0
        offset = (5, 9) if above else (5, -14)
        ax.annotate(
            text, (group["x"].iloc[0], group["y"].iloc[0]), xytext=offset, textcoords="offset points", fontsize=9
        )


def _literal(text: str) -> str:
    """Return a text that matplotlib draws as it is, never as a formula."""
    return text.replace("$", r"\$")


def _title(about: Mapping[str, Any]) -> str:
    around = f", {about['catalog_tools']:,} tools around their own" if about["catalog_tools"] else ""
    return f"{about['sessions']} recorded sessions{around}"


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
