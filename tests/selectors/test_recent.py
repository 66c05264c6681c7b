"""`recent(n)` keeps declared what the last turns called."""

from __future__ import annotations

import pytest

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS
from tests.selectors.views import declared, split, view
from toolkit.engine.view import EarlierTurn
from toolkit.errors import InputError
from toolkit.selectors import resolve

PAST = (EarlierTurn("a", (MAIL.name,)), EarlierTurn("b", (READ.name, LOG.name, READ.name)), EarlierTurn("c"))


@pytest.mark.parametrize(
    ("n", "expected"), [(1, []), (2, [READ.name, LOG.name]), (3, [READ.name, LOG.name, MAIL.name])]
)
def test_the_last_n_turns_count_the_newest_call_first(n: int, expected: list[str]) -> None:
    assert declared(f"recent(n={n})", view("d", *PAST)) == expected


def test_what_is_no_longer_told_is_not_declared() -> None:
    assert declared("recent(n=3)", view("d", *PAST), (BRANCH, MAIL)) == [MAIL.name]


def test_the_first_turn_declares_nothing_and_all_is_searchable() -> None:
    assert split("recent") == (set(), {one.name for one in TOOLS})


def test_n_is_a_whole_number_of_at_least_1() -> None:
    with pytest.raises(InputError, match="^recent: n must be a whole number of at least 1"):
        resolve("recent(n=0)")
