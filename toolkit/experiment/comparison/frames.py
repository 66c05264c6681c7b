"""Frames: pass, turn and session rows as pandas tables, and the leaderboard over them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from toolkit.bench import Costs, Priced, costs
from toolkit.experiment.comparison.run import TurnRow
from toolkit.experiment.stats import ratio_interval
from toolkit.ledger import PassRow
from toolkit.prices.price import Price
from toolkit.replaying.system import BOUNDS, ORACLE_COST, System

TOKENS = ["prompt_tokens", "cached_prompt_tokens", "uncached_prompt_tokens", "output_tokens"]
BUCKETS = [
    "system_tokens",
    "declared_tokens",
    "search_tool_tokens",
    "history_tokens",
    "search_history_tokens",
    "input_tokens",
]
CACHE = ["cache_read_tokens", "cache_write_tokens"]
COSTS = list(Costs._fields)
_PRICED = [
    "prompt_tokens",
    *CACHE,
    "cached_prompt_tokens",
    "output_tokens",
    "fallback_prompt_tokens",
    "fallback_passes",
]
COUNTS = ["selector_trips", "search_trips", "calls", "served", "searched", "missed", "blocked", "stale_calls"]
WHOLE = ["fallback_prompt_tokens", "prompt_tokens_with_fallback", "passes_over_window"]
TURNS_THAT = {"comparable_turns": "comparable", "failed_turns": "failed", "retriever_fallbacks": "retriever_fell_back"}
"""Column of the sessions → the column of the turns that it counts."""
REGRET = ["regret", "regret_low", "regret_high"]
KEYS = ["session_id", "system"]


def pass_frame(rows: Sequence[PassRow], prices: Mapping[str, Price | None], charged: float = 1.0) -> pd.DataFrame:
    """Return one row a pass, with its cost.

    Args:
        rows: Ledger rows.
        prices: Session id → price of its model, or None when nobody knows it.
        charged: Share of a fallback that counts.
    """
    frame = pd.DataFrame.from_records(rows, columns=list(PassRow._fields))
    for name, values in zip(COSTS, _costs(frame, prices, charged), strict=True):
        frame[name] = values
    again = (frame["fallback_prompt_tokens"] * charged).round().astype("int64")
    frame["prompt_tokens_with_fallback"] = frame["prompt_tokens"] + again
    frame["window"] = frame["window"].astype("float64")
    frame["passes_over_window"] = (frame["prompt_tokens"] > frame["window"]).astype("int64")
    return frame


def _costs(frame: pd.DataFrame, prices: Mapping[str, Price | None], charged: float) -> list[list[float]]:
    """Return USD a pass, in the order of `COSTS`."""
    columns = [frame[name] for name in _PRICED]
    rows = zip(frame["session_id"], *columns, strict=True)
    made = [costs(prices.get(id), Priced(*numbers), charged) for id, *numbers in rows]
    return [list(column) for column in zip(*made, strict=True)] if made else [[] for _ in COSTS]


def turn_frame(rows: Sequence[TurnRow], passes: pd.DataFrame) -> pd.DataFrame:
    """Return one row a turn: what became of its calls, and the tokens of its passes."""
    frame = pd.DataFrame.from_records(rows, columns=list(TurnRow._fields))
    by_turn = passes.groupby([*KEYS, "turn_no"], sort=False)
    sums = by_turn[[*BUCKETS, *TOKENS, *CACHE, *WHOLE]].sum()
    sums[COSTS] = by_turn[COSTS].sum(min_count=1)
    sums["passes"] = by_turn.size()
    sums["window"] = by_turn["window"].first()
    frame = frame.join(sums, on=[*KEYS, "turn_no"])
    whole = ["passes", *BUCKETS, *TOKENS, *CACHE, *WHOLE]
    frame[whole] = frame[whole].fillna(0).astype("int64")
    return frame


def session_frame(turns: pd.DataFrame) -> pd.DataFrame:
    """Return one row a session and system; `turns` counts those in which a model was asked."""
    groups = turns.groupby(KEYS, sort=False)
    frame = groups[[*COUNTS, "passes", *BUCKETS, *TOKENS, *CACHE, *WHOLE, "query_fallbacks"]].sum()
    frame[COSTS] = groups[COSTS].sum(min_count=1)
    asked = turns[turns["passes"] > 0].groupby(KEYS, sort=False)
    frame["turns"] = asked.size()
    frame["window"] = groups["window"].first()
    for turns_that, column in TURNS_THAT.items():
        frame[turns_that] = asked[column].sum()
    counted = ["turns", *TURNS_THAT]
    frame[counted] = frame[counted].fillna(0).astype("int64")
    return frame.reset_index()


def leaderboard(
    sessions: pd.DataFrame, systems: Sequence[System], seed: int, tasks: Mapping[str, Any] | None = None
) -> pd.DataFrame:
    """Return one row a system, cheapest first by `sort_column`; what is not `ranked` stands last.

    A system is not ranked, and has no costs, when one of its prompts is larger than the context window; it is not
    ranked either when its selector failed in every turn.
    Of a run that is not finished, the sessions count that every system in it has.
    Intervals are 95 % intervals of the ratio of sums to `all`, over tasks: `tasks` says of which a session is, and
    each is its own if None. `regret` is the same ratio of `cost_with_fallback_usd` to `oracle_cost`, less 1.
    """
    finished = set(sessions["system"])
    whole = everywhere(sessions)
    rows = [_summary(whole, system, seed, tasks or {}) for system in systems if system.name in finished]
    frame = pd.DataFrame(rows)
    order = ["ranked", sort_column(frame)]
    return frame.sort_values(order, ascending=[False, True], kind="stable").reset_index(drop=True)


def sort_column(summary: pd.DataFrame) -> str:
    """Return what a leaderboard is sorted by: the cost that pays for what was missed, or the tokens of that."""
    cost = "cost_with_fallback_usd"
    return cost if summary.loc[summary["ranked"], cost].notna().any() else "prompt_tokens_with_fallback"


def everywhere(sessions: pd.DataFrame) -> pd.DataFrame:
    """Return the sessions that every system of a session frame has."""
    times = sessions.groupby("session_id")["system"].transform("size")
    return sessions[times == sessions["system"].nunique()]


def _at_best(sessions: pd.DataFrame, mine: pd.DataFrame) -> pd.Series[float]:
    """Return what the same sessions cost under `oracle_cost`; no number where it did not run."""
    best = sessions[sessions["system"] == ORACLE_COST].set_index("session_id")["cost_with_fallback_usd"]
    return best.reindex(mine.index)


def _summary(sessions: pd.DataFrame, system: System, seed: int, tasks: Mapping[str, Any]) -> dict[str, Any]:
    mine = sessions[sessions["system"] == system.name].set_index("session_id")
    everything = sessions[sessions["system"] == "all"].set_index("session_id").loc[mine.index]
    sums = mine[[*TOKENS, *CACHE, *COUNTS, *WHOLE, "query_fallbacks", "passes", "turns", *TURNS_THAT]].sum()
    fits, failed = sums["passes_over_window"] == 0, 0 < sums["turns"] == sums["failed_turns"]
    mine = mine if fits else mine.assign(**dict.fromkeys(COSTS, float("nan")))
    groups = [tasks.get(id, id) for id in mine.index]
    ratio, low, high = ratio_interval(mine["prompt_tokens"], everything["prompt_tokens"], seed, groups)
    regret = ratio_interval(mine["cost_with_fallback_usd"], _at_best(sessions, mine), seed, groups)
    per_turn, turn_low, turn_high = ratio_interval(mine["prompt_tokens"], mine["turns"], seed, groups)
    return {
        "system": system.name,
        "bound": system.name in BOUNDS,
        "selector": system.name.partition(" [")[0],
        "retriever": system.retriever,
        "profile": system.profile,
        "query_model": system.query_model,
        "sessions": len(mine),
        "ranked": bool(fits and not failed),
        "window": mine["window"].min(),
        **{str(key): int(value) for key, value in sums.items()},
        **{name: mine[name].sum(min_count=len(mine)) for name in COSTS},
        **dict(zip(REGRET, (value - 1 for value in regret), strict=True)),
        "prompt_ratio": ratio,
        "prompt_ratio_low": low,
        "prompt_ratio_high": high,
        "prompt_tokens_per_turn": per_turn,
        "prompt_tokens_per_turn_low": turn_low,
        "prompt_tokens_per_turn_high": turn_high,
    }
