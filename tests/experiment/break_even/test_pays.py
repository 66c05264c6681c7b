"""The sentence, the lengths and the picture go by one cost: that which charges what was not served."""

from __future__ import annotations

import pandas as pd

from toolkit.experiment.break_even.pays import COSTS, crossings, summary

NUMBERS = ["calls", "served", "declared", "search_trips", "cache_read_tokens", "prompt_tokens"]


def turns(missed: float = 0.0, over: int = 0) -> pd.DataFrame:
    """Return three sessions of two turns at two sizes: `s` costs half of `all`, and `missed` a turn for its misses."""
    rows = []
    for size in (10, 20):
        for system, cost, extra in (("all", 2.0, 0.0), ("s", 1.0, missed)):
            for session in "abc":
                for number in (1, 2):
                    costs = dict(zip(COSTS.values(), (cost, cost + extra, cost), strict=True))
                    too_large = over if size == 20 and system == "all" else 0
                    row = {"size": size, "system": system, "session_id": session, "turn_no": number, "passes": 1}
                    rows.append({**row, **costs, "visible": size, "comparable": True, "passes_over_window": too_large})
    return pd.DataFrame(rows).assign(**dict.fromkeys(NUMBERS, 1))


def test_a_selector_whose_misses_eat_up_the_saving_does_not_pay_by_any_of_the_figures() -> None:
    board = summary(turns(missed=1.5), 0, {})
    mine = board[board["system"] == "s"]
    assert (mine["ratio"] == 0.5).all() and (mine["with_fallback_ratio"] == 1.25).all()
    assert mine["pays_from_turn"].isna().all()
    row = crossings(board).iloc[0]
    assert row["with_fallback_pays_from_tools"] != row["with_fallback_pays_from_tools"] and row["pays_from_tools"] == 10


def test_what_does_not_fit_the_window_has_no_costs_and_no_ratio_is_to_it() -> None:
    board = summary(turns(over=1), 0, {}).set_index(["size", "system"])
    assert board["fits"].to_dict() == {(10, "all"): True, (10, "s"): True, (20, "all"): False, (20, "s"): True}
    assert board["usd_per_turn"].isna().to_dict()[(20, "all")] and board.loc[(20, "s"), "usd_per_turn"] == 1.0
    assert board["ratio"].isna().to_dict() == {(10, "all"): False, (10, "s"): False, (20, "all"): True, (20, "s"): True}
    assert crossings(board.reset_index())["largest"].to_list() == [10]


def test_sessions_of_one_task_are_one_in_the_interval() -> None:
    alone = summary(turns(missed=0.3), 0, {})
    assert alone["with_fallback_ratio_low"].notna().all(), "all ratios are the same: they need no interval"
    varied = turns(missed=0.3)
    varied.loc[varied["session_id"] == "a", list(COSTS.values())] *= varied["turn_no"] + (varied["system"] == "s")
    assert summary(varied, 0, dict.fromkeys("abc", "one"))["ratio_low"].isna().any()
