"""`budget(tokens)` declares what is worth most within a budget."""

from __future__ import annotations

import pytest

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS
from tests.selectors.views import Ranker, declared, split, view
from toolkit.errors import InputError
from toolkit.selectors import resolve

SIZES = {BRANCH.name: 60, LOG.name: 50, MAIL.name: 50, READ.name: 1}


def test_two_that_fit_together_stand_in_the_place_of_a_larger_one() -> None:
    ranker = Ranker(BRANCH.name, LOG.name, MAIL.name, scores=[0.9, 0.8, 0.7])
    host = view("do it", ranker=ranker, tokens=SIZES.__getitem__)
    assert declared("budget(tokens=100)", host) == [LOG.name, MAIL.name]
    assert declared("budget(tokens=60)", host) == [BRANCH.name]
    assert declared("budget(tokens=0)", host) == []
    assert ranker.asked[0] == ("do it", 1000, None)


def test_a_tool_that_the_input_names_is_worth_its_place() -> None:
    host = view("x", ranker=Ranker(BRANCH.name, LOG.name, scores=[0.0, 0.8]), tokens=SIZES.__getitem__)
    assert declared("budget(tokens=100)", host) == [LOG.name]
    assert declared("budget(tokens=110)", host) == [BRANCH.name, LOG.name]


def test_what_is_not_declared_is_searchable() -> None:
    assert split("budget(tokens=0)")[1] == {one.name for one in TOOLS}


@pytest.mark.parametrize("spec", ["budget(tokens=-1)", "budget(tokens=1.5)", "budget(among=0)"])
def test_a_budget_is_a_whole_number(spec: str) -> None:
    with pytest.raises(InputError, match="whole number"):
        resolve(spec)
