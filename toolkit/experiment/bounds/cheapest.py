"""The last word of `oracle_cost`: where a system of the table did a session for less, that is the cheapest known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from toolkit.replaying.system import BOUNDS, ORACLE_COST

if TYPE_CHECKING:
    import pandas as pd

COST = "cost_with_fallback_usd"


def at_most_every_system(passes: pd.DataFrame, turns: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return pass and turn rows in which `oracle_cost` costs at most what every system that is no bound does.

    Its own schedule declares or withholds. A system that searches can be cheaper, and so can one whose offers share a
    prefix; in such sessions the rows of `oracle_cost` are that system's.
    """
    rows = turns.groupby(["session_id", "system"])
    fits = rows["passes_over_window"].sum() == 0
    usd = rows[COST].sum(min_count=1).where(fits).unstack("system")
    others = usd.drop(columns=list(BOUNDS), errors="ignore")
    if ORACLE_COST not in usd or others.empty:
        return passes, turns
    cheaper = others[others.min(axis=1) < usd[ORACLE_COST].fillna(float("inf"))]
    winners = {str(id): str(name) for id, name in cheaper.idxmin(axis=1).items()} if len(cheaper) else {}
    return (_replaced(passes, winners), _replaced(turns, winners)) if winners else (passes, turns)


def _replaced(frame: pd.DataFrame, winners: dict[str, str]) -> pd.DataFrame:
    import pandas as pd

    winner = frame["session_id"].map(winners)
    stay = (frame["system"] != ORACLE_COST) | winner.isna()
    return pd.concat([frame[stay], frame[frame["system"] == winner].assign(system=ORACLE_COST)], ignore_index=True)
