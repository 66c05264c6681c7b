"""When a selector pays: costs per turn as ratios to `all`, over catalog sizes and over lengths of session."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from toolkit.experiment.stats import ratio_interval
from toolkit.replaying.system import BOUNDS

COSTS = {
    "": "cost_usd",
    "with_fallback_": "cost_with_fallback_usd",
    "no_cache_": "cost_no_cache_usd",
}
"""Prefix of a summary's columns → the cost that they are of."""


def summary(turns: pd.DataFrame, seed: int, tasks: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a size and system: its cost per turn, the ratio to `all`, and the turns for which it pays.

    Intervals are 95 % intervals of ratios of sums, over tasks: `tasks` says of which a session is. A system of which
    a prompt is larger than the context window does not `fit` there, and has no costs.
    """
    rows = []
    for size, at_size in turns.groupby("size"):
        fitting = {str(system): _priced(mine) for system, mine in at_size.groupby("system", sort=False)}
        for system, mine in fitting.items():
            row = {"size": size, "system": system, "tools": fitting["all"]["visible"].mean()}
            asked, everything = mine[mine["passes"] > 0], fitting["all"]
            rows.append(
                {**row, **_facts(asked), **_ratios(asked, everything, seed, tasks), **_lengths(asked, everything)}
            )
    return pd.DataFrame(rows)


def _priced(mine: pd.DataFrame) -> pd.DataFrame:
    """Return a system's turns, without costs where a prompt of it cannot be sent."""
    fits = not mine["passes_over_window"].any()
    return mine if fits else mine.assign(**dict.fromkeys(COSTS.values(), float("nan")))


def _facts(mine: pd.DataFrame) -> dict[str, Any]:
    n, calls = len(mine), max(1, int(mine["calls"].sum()))
    return {
        "sessions": mine["session_id"].nunique(),
        "fits": not mine["passes_over_window"].any(),
        "turns": n,
        "declared": mine["declared"].mean(),
        "search_trips_per_turn": mine["search_trips"].sum() / n,
        "cache_read_share": mine["cache_read_tokens"].sum() / max(1, mine["prompt_tokens"].sum()),
        "served_share": mine["served"].sum() / calls,
        "comparable_share": mine["comparable"].mean(),
        "prompt_tokens_per_turn": mine["prompt_tokens"].sum() / n,
        **{f"{prefix}usd_per_turn": mine[column].sum(skipna=False) / n for prefix, column in COSTS.items()},
    }


def _ratios(mine: pd.DataFrame, everything: pd.DataFrame, seed: int, tasks: Mapping[str, Any]) -> dict[str, float]:
    columns = list(COSTS.values())
    tops, bottoms = (frame.groupby("session_id")[columns].sum(min_count=1) for frame in (mine, everything))
    groups: list[Any] = [tasks.get(str(id), id) for id in tops.index]
    found: dict[str, float] = {}
    for prefix, column in COSTS.items():
        ends = ratio_interval(tops[column], bottoms[column].loc[tops.index], seed, groups)
        found |= {f"{prefix}ratio{end}": value for end, value in zip(("", "_low", "_high"), ends, strict=True)}
    return found


def _lengths(mine: pd.DataFrame, everything: pd.DataFrame) -> dict[str, Any]:
    """The first and the last number of turns at which the sessions, cut off there, cost less than under `all`."""
    ours, theirs = (frame.groupby("turn_no")["cost_with_fallback_usd"].sum().cumsum() for frame in (mine, everything))
    ratio = ours / theirs
    first, last = span([bool(one < 1) for one in ratio])
    turns = list(ratio.index)
    return {
        "pays_from_turn": turns[first] if first is not None else np.nan,
        "pays_to_turn": turns[last] if last is not None else np.nan,
        "longest_session": turns[-1],
    }


def span(pays: list[bool]) -> tuple[int | None, int | None]:
    """Return where the last unbroken row of True begins and ends.

    >>> span([False, True, True, False]), span([False])
    ((1, 2), (None, None))
    """
    if True not in pays:
        return None, None
    last = len(pays) - 1 - pays[::-1].index(True)
    before = [place for place in range(last) if not pays[place]]
    return (before[-1] + 1 if before else 0), last


def crossings(board: pd.DataFrame) -> pd.DataFrame:
    """Return one row a selector: from how many tools on it costs less than `all` at every larger size measured.

    Between two sizes the place is interpolated. NaN: not up to the largest size. Equal to `smallest`: at all sizes.
    Sizes at which one of the two does not fit the context window are left out; `largest` is the largest of the others.
    """
    rows = []
    for system, mine in board[~board["system"].isin(BOUNDS)].groupby("system", sort=False):
        mine = mine.sort_values("size")
        mine = mine[mine["ratio"].notna()]
        if mine.empty:
            continue
        row: dict[str, Any] = {"system": system, "smallest": mine["tools"].iloc[0], "largest": mine["tools"].iloc[-1]}
        for prefix in COSTS:
            row[f"{prefix}pays_from_tools"] = crossing(list(mine["tools"]), list(mine[f"{prefix}ratio"]))
        rows.append(row)
    return pd.DataFrame(rows)


def crossing(tools: list[float], ratios: list[float]) -> float:
    """Return from where on ratios stay below 1, linear between two places; NaN when the last does not.

    >>> crossing([20, 40, 60], [1.2, 0.8, 0.7])
    30.0
    """
    above = [place for place, ratio in enumerate(ratios) if not ratio < 1]
    if not above:
        return float(tools[0])
    at = above[-1]
    if at == len(tools) - 1:
        return float("nan")
    share = (ratios[at] - 1) / (ratios[at] - ratios[at + 1])
    return float(tools[at] + share * (tools[at + 1] - tools[at]))
