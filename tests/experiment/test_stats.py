"""Intervals over sessions: seeded, around the ratio of sums, and honest where there is nothing to estimate."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolkit.experiment.stats import LEAST, ratio_interval

COUNTS = st.lists(st.tuples(st.integers(1, 1000), st.integers(1, 1000)), min_size=10, max_size=14)


def test_a_ratio_is_of_sums_and_no_mean_of_ratios() -> None:
    assert ratio_interval([1, 9], [10, 10], 0)[0] == 0.5
    assert ratio_interval([1, 1], [1, 3], 0)[0] == 0.5


def test_equal_ratios_have_an_interval_of_no_width() -> None:
    assert ratio_interval([1, 2, 3], [2, 4, 6], 0) == (0.5, 0.5, 0.5)


def test_fewer_tasks_than_any_method_can_do_have_no_interval() -> None:
    few, enough = np.arange(1, LEAST), np.arange(1, LEAST + 1)
    assert math.isnan(ratio_interval(few, few**2, 0)[1])
    assert not math.isnan(ratio_interval(enough, enough**2, 0)[1])
    assert math.isnan(ratio_interval([*few, 3], [*few, 7], 0, [*few, 1])[1])


@settings(max_examples=15, deadline=None)
@given(COUNTS, st.integers(0, 5))
def test_the_same_seed_gives_the_same_interval_around_the_ratio(pairs: list[tuple[int, int]], seed: int) -> None:
    tops, bottoms = zip(*pairs, strict=True)
    first, second = ratio_interval(tops, bottoms, seed), ratio_interval(tops, bottoms, seed)
    assert np.array_equal(first, second, equal_nan=True)
    ratio, low, high = first
    assert math.isnan(low) or 0 < low <= ratio <= high


def test_repeats_of_a_task_do_not_make_an_interval_narrower() -> None:
    rng = np.random.default_rng(3)
    tops, bottoms = rng.lognormal(size=25), rng.lognormal(size=25)
    once = ratio_interval(tops, bottoms, 0)
    assert ratio_interval(np.repeat(tops, 4), np.repeat(bottoms, 4), 0, np.repeat(np.arange(25), 4)) == pytest.approx(
        once
    )


def test_intervals_hold_what_they_promise_on_heavy_tails_of_25_sessions() -> None:
    rng = np.random.default_rng(5)
    sizes = rng.lognormal(sigma=1.2, size=4000)
    tops = sizes * rng.beta(1, 3, size=4000)
    truth, held = tops.sum() / sizes.sum(), 0
    for seed in range(200):
        drawn = rng.integers(4000, size=25)
        _, low, high = ratio_interval(tops[drawn], sizes[drawn], seed)
        held += low <= truth <= high
    assert held >= 0.93 * 200


def test_an_interval_narrows_with_more_sessions() -> None:
    rng = np.random.default_rng(1)
    few, many = (ratio_interval(rng.integers(50, 150, n), [100] * n, 0) for n in (10, 1000))
    assert many[2] - many[1] < few[2] - few[1]
    assert few[1] < few[0] < few[2]
