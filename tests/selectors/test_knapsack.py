"""The knapsack is exact: it is worth what trying everything finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.selectors.knapsack import best

ITEMS = st.lists(st.tuples(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0, 3.0]), st.integers(0, 12)), max_size=9)


def worth_of(items: list[tuple[float, int]], budget: int) -> tuple[float, list[int]]:
    taken = best(np.array([w for w, _ in items]), np.array([c for _, c in items], dtype=np.int64), budget).tolist()
    assert sum(items[place][1] for place in taken) <= budget
    return sum(items[place][0] for place in taken), taken


def tried(items: list[tuple[float, int]], budget: int) -> float:
    choices = (choice for size in range(len(items) + 1) for choice in combinations(items, size))
    return max(sum(w for w, _ in choice) for choice in choices if sum(c for _, c in choice) <= budget)


def filled(items: list[tuple[float, int]], budget: int) -> float:
    """Return the best worth by the textbook's table, item by item and token by token."""
    table = [0.0] * (budget + 1)
    for worth, cost in items:
        for tokens in range(budget, cost - 1, -1):
            table[tokens] = max(table[tokens], table[tokens - cost] + worth)
    return table[budget]


@given(ITEMS, st.integers(0, 40))
def test_nothing_that_fits_is_worth_more(items: list[tuple[float, int]], budget: int) -> None:
    assert worth_of(items, budget)[0] == tried(items, budget)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("alike", [True, False])
def test_many_items_are_worth_what_the_textbook_finds(seed: int, alike: bool) -> None:
    numbers = np.random.default_rng(seed)
    costs = numbers.integers(1, 60, 120).tolist()
    items = [(cost / 64 if alike else float(numbers.integers(1, 999)) / 1024, cost) for cost in costs]
    for budget in (0, 1, 59, 300, 1_000, 9_999):
        assert worth_of(items, budget)[0] == pytest.approx(filled(items, budget), rel=1e-9)


def test_of_equal_items_no_more_are_taken_than_fit() -> None:
    assert len(worth_of([(1.0, 7)] * 500, 100)[1]) == 14


def test_what_is_worth_nothing_is_left_and_what_costs_nothing_is_taken() -> None:
    assert worth_of([(0.0, 0), (0.0, 1), (0.5, 0), (1.0, 5), (1.0, 6)], 5)[1] == [2, 3]
