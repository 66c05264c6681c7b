"""Which system is cheapest hangs on how much of a fallback is charged, and the line that says so is right."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.experiment.comparison.order import Line, Stretch, cheapest_by_fallback, lower_envelope, said

COSTS = st.floats(0, 100, allow_nan=False).map(lambda number: round(number, 2))
LINES = st.lists(
    st.builds(Line, st.text(max_size=3), COSTS, COSTS), min_size=1, max_size=6, unique_by=lambda n: n.system
)


@given(LINES, st.floats(0, 1))
def test_the_envelope_names_the_cheapest_at_every_share(lines: list[Line], share: float) -> None:
    stretches = lower_envelope(lines)
    costs = {line.system: line.base + share * line.fallback for line in lines}
    chosen = next(one.system for one in stretches if share <= one.end)
    assert costs[chosen] == pytest.approx(min(costs.values()), abs=1e-6)


@given(LINES)
def test_stretches_go_up_to_one_and_each_system_has_one(lines: list[Line]) -> None:
    stretches = lower_envelope(lines)
    ends = [one.end for one in stretches]
    assert ends == sorted(ends) and ends[-1] == 1.0
    assert len({one.system for one in stretches}) == len(stretches)


def board(**more: object) -> pd.DataFrame:
    rows = {
        "system": ["a", "b", "oracle_cost"],
        "ranked": [True, True, True],
        "cost_usd": [1.0, 2.0, 0.1],
        "fallback_usd": [4.0, 0.0, 0.0],
        "prompt_tokens": [10, 20, 1],
        "fallback_prompt_tokens": [100, 0, 0],
    }
    return pd.DataFrame({**rows, **more})


def test_bounds_that_no_host_could_run_and_what_is_not_ranked_are_left_out() -> None:
    assert cheapest_by_fallback(board()) == [Stretch("a", 0.25), Stretch("b", 1.0)]
    assert cheapest_by_fallback(board(ranked=[False, True, True])) == [Stretch("b", 1.0)]
    assert said(cheapest_by_fallback(board(ranked=[False] * 3))) == ""


def test_tokens_count_where_a_cost_is_not_known() -> None:
    assert cheapest_by_fallback(board(cost_usd=[1.0, float("nan"), 0.1]))[0] == Stretch("a", 0.1)


def test_one_that_is_always_cheapest_is_said_so() -> None:
    assert said([Stretch("a", 1.0)]) == "a is cheapest whatever share of the fallback is charged."
