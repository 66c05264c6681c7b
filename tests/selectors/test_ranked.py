"""Selectors that go by one ranking: `lexical`, `hybrid`, `threshold`, `servers`."""

from __future__ import annotations

import pytest

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS
from tests.selectors.views import Ranker, declared, split, view
from toolkit.errors import InputError, UnknownNameError
from toolkit.selectors import resolve
from toolkit.tool import Tool

ALL = {one.name for one in TOOLS}


@pytest.mark.parametrize("name", ["lexical", "hybrid"])
def test_the_k_best_of_its_own_retriever_are_declared_and_everything_is_searchable(name: str) -> None:
    ranker = Ranker(MAIL.name, LOG.name, READ.name)
    assert split(f"{name}(k=2)", view("write to Ann", ranker=ranker)) == ({MAIL.name, LOG.name}, ALL)
    assert split(name, view("", "newest", ranker=ranker)) == ({MAIL.name, LOG.name, READ.name}, ALL)
    assert ranker.asked == [("write to Ann", 2, name), ("newest", 8, name)]


@pytest.mark.parametrize("name", ["lexical", "hybrid", "servers", "mmr"])
@pytest.mark.parametrize("k", ["0", "-1", "2.5", "True", "x"])
def test_a_k_is_a_whole_number_of_at_least_1(name: str, k: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: k must be a whole number of at least 1"):
        resolve(f"{name}(k={k})")


@pytest.mark.parametrize(
    ("score", "expected"), [(0.95, []), (0.5, [MAIL.name]), (0.4, [MAIL.name, LOG.name, READ.name])]
)
def test_a_threshold_declares_what_reaches_the_score(score: float, expected: list[str]) -> None:
    ranker = Ranker(MAIL.name, LOG.name, READ.name, scores=[0.9, 0.4, 0.4])
    assert declared(f"threshold(score={score})", view("x", ranker=ranker)) == expected
    assert ranker.asked == [("x", len(TOOLS), "hybrid")]


def test_a_threshold_lets_a_named_tool_through_before_a_better_score() -> None:
    ranker = Ranker(READ.name, MAIL.name, LOG.name, scores=[0.0, 0.9, 0.1])
    assert declared("threshold(score=0.5)", view("x", ranker=ranker)) == [READ.name, MAIL.name]


def test_servers_are_declared_whole_in_the_order_of_their_best_tool() -> None:
    ranker = Ranker(LOG.name, MAIL.name, BRANCH.name, READ.name)
    assert declared("servers(k=1)", view("x", ranker=ranker)) == [BRANCH.name, LOG.name]
    assert declared("servers(k=2)", view("x", ranker=ranker)) == [BRANCH.name, LOG.name, MAIL.name]
    assert split("servers(k=9)", view("x", ranker=ranker)) == (ALL, ALL)


def test_core_tools_are_no_server() -> None:
    shown = Tool("ui.show", source="core")
    assert declared("servers(k=1)", view("x", ranker=Ranker("ui.show", MAIL.name)), (shown, *TOOLS)) == [MAIL.name]


@pytest.mark.parametrize("name", ["threshold", "servers", "mmr", "budget", "next_tool"])
def test_a_retriever_that_is_not_known_is_told_before_a_run(name: str) -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'lexical'"):
        resolve(f"{name}(retriever='lexicl')")
    with pytest.raises(InputError, match="retriever must be a spec"):
        resolve(f"{name}(retriever=3)")


@pytest.mark.parametrize("score", ["-0.1", "'high'", "True", "1e999"])
def test_a_score_is_a_number_of_at_least_0(score: str) -> None:
    with pytest.raises(InputError, match="^threshold: score must be a number of at least 0"):
        resolve(f"threshold(score={score})")
