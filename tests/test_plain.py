"""Whatever a value is, what is written of it can be read."""

from __future__ import annotations

import datetime
import decimal
import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.plain import plain
from toolkit.tool import Tool, compact_json


class Wordless:
    def __str__(self) -> str:
        raise RuntimeError("no words")


def circle() -> list[Any]:
    one: list[Any] = []
    one.extend([one, one])
    return one


def deep(levels: int) -> list[Any]:
    one: list[Any] = []
    for _ in range(levels):
        one = [one]
    return one


MADE: dict[str, Callable[[], Any]] = {
    "no digits": lambda: 10**5000,
    "many digits": lambda: -(10**400),
    "wordless": Wordless,
    "a class": lambda: object,
    "a set": lambda: {1, 2},
    "half a character": lambda: "\ud800",
    "too deep to show": lambda: deep(5000),
    "deep": lambda: deep(300),
    "a circle": circle,
}
ODD = sorted(MADE)
LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters()),
    st.binary(),
    st.complex_numbers(),
    st.decimals(),
    st.fractions(),
    st.dates(),
    st.sampled_from(ODD).map(lambda name: MADE[name]()),
)
KEYS = st.one_of(st.text(max_size=3), st.integers(), st.binary(max_size=3), st.tuples(st.integers()), st.none())
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner) | st.dictionaries(KEYS, inner) | st.tuples(inner, inner), max_leaves=12
)


@given(VALUES)
def test_any_value_is_written_so_that_it_is_read_back_the_same(value: Any) -> None:
    written = plain(value)
    assert msgspec.json.decode(compact_json(written)) == written == plain(written)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner),
)


@given(JSON)
def test_what_is_json_stays_as_it_is(value: Any) -> None:
    assert plain(value) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (b"1", "b'1'"),
        (decimal.Decimal("1.50"), "1.50"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        ((1, {2: 3}), [1, {"2": 3}]),
    ],
)
def test_what_json_cannot_hold_is_the_text_that_it_is_shown_as(value: Any, shown: Any) -> None:
    assert plain(value) == shown


@pytest.mark.parametrize("schema", [{"default": float("inf")}, '{"default": Infinity}', '{"default": 1e999}'])
def test_an_infinite_default_of_a_schema_is_text(schema: Any) -> None:
    assert json.loads(Tool("builtin.read", "", schema).schema_text) == {"default": "Infinity"}
