"""The price model beside what was measured: sessions whose turns are all alike, at the averages of the replays."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from toolkit.experiment.break_even.price_model import Outcome, Outline, over_turns
from toolkit.prices.price import Price, price
from toolkit.prompt_cache.rules import CacheRules, rules_for
from toolkit.replaying.search_billing import SearchBilling
from toolkit.replaying.system import BOUNDS
from toolkit.tokens.counter import counter_of

LONGEST = 40
"""The longest session, in turns, that the model is asked for."""


def modelled(turns: pd.DataFrame, passes: pd.DataFrame, model: str, search: SearchBilling) -> pd.DataFrame:
    """Return one row a selector, catalog size and length of session, sizes up to four times the largest measured.

    A row with `usual` True has the replays' own mean length.
    """
    listed, cache = price(model), rules_for(model)
    rows = []
    for system in [name for name in turns["system"].unique() if name not in BOUNDS]:
        plan, trips = plan_of(turns, passes, system, model, search)
        for tools in _sizes(turns):
            for found in _between(replace(plan, tools=tools, turns=LONGEST), trips, listed, cache, search):
                rows.append((system, tools, found.turns, *_per_turn(found), found.ratio, found.turns == plan.turns))
    names = ["system", "tools", "turns", "all_usd_per_turn", "usd_per_turn", "ratio", "usual"]
    return pd.DataFrame(rows, columns=names)


def plan_of(
    turns: pd.DataFrame, passes: pd.DataFrame, system: str, model: str, search: SearchBilling
) -> tuple[Outline, float]:
    """Return the averages of a system's replays as a plan, and its search trips per turn, which are no whole number."""
    overhead = counter_of(model).overhead(10)
    (mine, mine_passes), (every, every_passes) = (_of(system, turns, passes), _of("all", turns, passes))
    definition = (every_passes["declared_tokens"].mean() - overhead) / max(1.0, every["visible"].mean())
    trips = mine["search_trips"].sum()
    plan = Outline(
        definition=round(definition),
        overhead=overhead,
        system=round(every_passes["system_tokens"].mean()),
        turns=round(_ends(every)["turn_no"].mean()),
        passes=max(1, round(every["passes"].mean())),
        message=round(_message(every_passes)),
        output=round(every_passes["output_tokens"].mean()),
        needed=round(mine["searched"].mean()) if search.where == "tools" else 0,
        search_tool=round(mine_passes["search_tool_tokens"].mean()),
        search_words=max(0, round(_ends(mine_passes)["search_history_tokens"].sum() / max(1, trips) - search.trip)),
        declared=max(0, round((mine_passes["declared_tokens"].mean() - overhead) / max(1.0, definition))),
        fresh=_changes(mine_passes),
    )
    return plan, float(trips / len(mine))


def _of(system: str, *frames: pd.DataFrame) -> list[pd.DataFrame]:
    return [frame[frame["system"] == system] for frame in frames]


def _ends(frame: pd.DataFrame) -> pd.DataFrame:
    """The last row of each session at each size."""
    return frame.groupby(["size", "session_id"], sort=False).last()


def _message(passes: pd.DataFrame) -> float:
    """What a pass adds to the history, on average over sessions."""
    last, times = _ends(passes), passes.groupby(["size", "session_id"], sort=False).size()
    return float(((last["history_tokens"] + last["input_tokens"]) / times).mean())


def _changes(passes: pd.DataFrame) -> bool:
    """Say whether most turns after the first begin with other declared tools than the one before."""
    begins = passes[passes["turn_no"] > 1].groupby(["size", "session_id", "turn_no"], sort=False)["cache_break"].first()
    return bool((begins == "tools_changed").mean() > 0.5)


def _sizes(turns: pd.DataFrame) -> list[int]:
    low, high = int(turns["size"].min()), int(turns["size"].max())
    return sorted({*(int(size) for size in turns["size"]), *map(round, np.geomspace(low, 4 * high, 9))})


def _between(plan: Outline, trips: float, price: Price, cache: CacheRules, search: SearchBilling) -> Iterator[Outcome]:
    """Yield the outcomes at a broken number of trips: between those of the whole numbers around it."""
    whole = (math.floor(trips), math.ceil(trips))
    both = (over_turns(replace(plan, searches=searches), price, cache, search) for searches in whole)
    for low, high in zip(*both, strict=True):
        yield replace(low, cost_search=low.cost_search + trips % 1 * (high.cost_search - low.cost_search))


def _per_turn(found: Outcome) -> Iterator[float]:
    yield from (found.cost_all / found.turns, found.cost_search / found.turns)
