"""Intervals over sessions: seeded, around the ratio of sums, and honest where there is nothing to estimate."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.experiment.stats import ratio_interval

COUNTS = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), min_size=2, max_size=8)


def test_a_ratio_is_of_sums_and_no_mean_of_ratios() -> None:
    assert ratio_interval([1, 9], [10, 10], 0)[0] == 0.5
    assert ratio_interval([1, 1], [1, 3], 0)[0] == 0.5


def test_equal_ratios_have_an_interval_of_no_width() -> None:
    assert ratio_interval([1, 2, 3], [2, 4, 6], 0) == (0.5, 0.5, 0.5)


def test_fewer_than_two_items_have_no_interval() -> None:
    for items in ([], [3]):
        _, low, high = ratio_interval(items, items, 0)
        assert math.isnan(low) and math.isnan(high)


@settings(max_examples=15, deadline=None)
@given(COUNTS, st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval_around_values_that_occurred(
    pairs: list[tuple[int, int]], seed: int
) -> None:
    tops, bottoms = zip(*pairs, strict=True)
    first, second = ratio_interval(tops, bottoms, seed), ratio_interval(tops, bottoms, seed)
    assert np.array_equal(first, second, equal_nan=True)
    ratios = [top / bottom for top, bottom in pairs]
    ratio, low, high = first
    assert min(ratios) - 1e-9 <= ratio <= max(ratios) + 1e-9
    assert math.isnan(low) or min(ratios) - 1e-9 <= low <= high <= max(ratios) + 1e-9


def test_an_interval_narrows_with_more_sessions() -> None:
    rng = np.random.default_rng(1)
    few, many = (ratio_interval(rng.integers(50, 150, n), [100] * n, 0) for n in (10, 1000))
    assert many[2] - many[1] < few[2] - few[1]
    assert few[1] < few[0] < few[2]
