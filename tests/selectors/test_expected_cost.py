"""`expected_cost` declares the set whose expected cost is least, and says why."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import DATASET, LOG, MAIL, READ, TOOLS, tool
from tests.selectors.test_need import PAST
from tests.selectors.views import Ranker, declared, split, view
from toolkit.engine import HostView
from toolkit.engine.view import EarlierTurn
from toolkit.errors import InputError, UnknownNameError
from toolkit.formats.sessions import load_sessions
from toolkit.host import Host
from toolkit.selectors import resolve
from toolkit.selectors.expected_cost import ExpectedCost
from toolkit.selectors.forecast import PRIOR, PRIOR_WITH_COUNTS, Forecast, facts_of, forecast
from toolkit.selectors.need import FEATURES, arrays
from toolkit.selectors.usage import Usage
from toolkit.tool import SEARCH

LARGE = [tool(f"mcp.far.t{n}", "Does something else altogether. " * 40) for n in range(300)]
CALLED = EarlierTurn("before", (LOG.name,), passes=2)


def naive_cost(found: Forecast, names: set[str], search: bool, new: bool) -> float:
    """Return what a set costs, tool by tool in plain words."""
    total = found.kept * found.search * search + found.rewriting * (found.history + found.search * search) * new
    for place, name in enumerate(found.names):
        if name in names:
            total += found.tokens[place] * (found.kept + found.rewriting * new)
        else:
            total += found.searching[place] if search else found.withholding[place]
    return total


def forecasts(host: HostView, tools: Any = TOOLS, usage: Usage = Usage()) -> Forecast:
    from toolkit.prices.price import USUAL

    return forecast(tools, host, usage, USUAL, 1.0)


def every_plan(found: Forecast, host: HostView, withholds: bool) -> Iterator[float]:
    for kept in product((False, True), repeat=len(found.names)):
        names = {name for name, stays in zip(found.names, kept, strict=True) if stays and name != SEARCH}
        for search in (True, False)[: 1 + withholds]:
            yield naive_cost(found, names, search, True)
    if host.turn_no > 1:
        yield naive_cost(found, {*host.declared_before} - {SEARCH}, SEARCH in host.declared_before, False)


views = st.builds(
    lambda ranked, before, history, tokens: view(
        "words",
        CALLED,
        ranker=Ranker(*ranked),
        declared_before=tuple(before),
        history_tokens=history,
        tokens=lambda name: tokens,
    ),
    st.permutations([one.name for one in TOOLS]),
    st.lists(st.sampled_from([one.name for one in TOOLS] + [SEARCH]), unique=True, max_size=3),
    st.integers(0, 50_000),
    st.integers(1, 5000),
)


@pytest.mark.parametrize("usage", [None, PAST], ids=["unfitted", "fitted"])
@settings(max_examples=40, deadline=None)
@given(host=views)
def test_no_other_set_is_expected_to_cost_less(host: HostView, usage: Usage | None) -> None:
    found = forecasts(host, usage=usage or Usage())
    chosen = ExpectedCost(usage=usage)(TOOLS, host)
    stands = {*host.declared_before} - {SEARCH}
    search = bool(chosen.searchable)
    same = {*chosen.declared} == stands and search == (SEARCH in host.declared_before)
    ways = [naive_cost(found, {*chosen.declared}, search, new) for new in ({True, not same})]
    assert min(ways) == pytest.approx(min(every_plan(found, host, usage is not None)), rel=1e-9)


def test_a_long_history_keeps_the_set_that_stands() -> None:
    def chosen(history: int) -> list[str]:
        ranker = Ranker(*(one.name for one in TOOLS[::-1]))  # within the first five a search finds them
        past = {"declared_before": (READ.name, SEARCH), "history_tokens": history}
        host = view("words", CALLED, ranker=ranker, tokens=lambda name: 50, **past)
        return declared("expected_cost", host)

    assert MAIL.name in chosen(0)
    assert chosen(100_000) == [READ.name]


def test_a_set_that_cannot_stand_any_more_is_chosen_anew() -> None:
    host = view("words", CALLED, ranker=Ranker(MAIL.name), declared_before=("mcp.gone.tool",), history_tokens=10**7)
    assert MAIL.name in declared("expected_cost", host, (*TOOLS, *LARGE))


def test_small_tools_are_declared_where_a_miss_would_declare_everything() -> None:
    many = [tool(f"mcp.far.n{n}", "Does something else altogether. " * 40) for n in range(900)]
    ranker = Ranker(MAIL.name, *(one.name for one in many))
    names, _ = split("expected_cost", view("words", ranker=ranker), (*TOOLS, *many))
    assert {READ.name, MAIL.name} <= names
    assert len(names) < len(many) / 2


def test_dearer_definitions_are_declared_less() -> None:
    def count(tokens: int) -> int:
        host = view("words", ranker=Ranker(*(one.name for one in LARGE)), tokens=lambda name: tokens)
        return len(declared("expected_cost", host, (*TOOLS, *LARGE)))

    # a miss costs as much more as the definitions do: what falls is the share of the trip
    assert 0 < count(5000) <= count(5)


def test_earlier_sessions_say_what_to_declare() -> None:
    sessions = load_sessions(DATASET)
    catalog = sessions[0].catalog
    fitted = resolve("expected_cost").fit(sessions)
    in_turns = Usage.of(sessions).in_turns
    often = max((one.name for one in catalog), key=lambda name: in_turns.get(name, 0))
    seldom = min((one.name for one in catalog), key=lambda name: in_turns.get(name, 0))
    host = view("words", ranker=Ranker(*(one.name for one in catalog)))
    rows = {row.name: row for row in fitted.explain(SimpleNamespace(told=tuple(catalog), view=host))}
    assert rows[often].needed > rows[seldom].needed
    assert rows[often].searching / rows[often].declaring > rows[seldom].searching / rows[seldom].declaring


def test_a_forecast_of_another_version_is_refused_before_a_run() -> None:
    old = Usage().adding(expected_cost={"features": ["constant"], "calls": 9.0})
    with pytest.raises(InputError, match="another version"):
        ExpectedCost(usage=old)


def test_counts_alone_take_the_priors_that_stand_beside_counts() -> None:
    assert facts_of(Usage.of(load_sessions(DATASET)[:3])) == PRIOR_WITH_COUNTS
    assert facts_of(Usage()) == PRIOR


def test_a_model_whose_price_nobody_knows_is_refused_before_a_run() -> None:
    with pytest.raises(UnknownNameError):
        resolve("expected_cost(model='clade-sonet')")


def test_each_row_says_what_declaring_and_searching_cost() -> None:
    selector = ExpectedCost()
    turn = Host((*TOOLS, *LARGE), selector, retriever="lexical").start_turn("send a letter to somebody")
    rows = {row.name: row for row in selector.explain(turn)}
    assert SEARCH not in rows
    assert {row.name for row in rows.values() if row.declared} == {*turn.declared} - {SEARCH}
    assert rows[MAIL.name].declaring < rows[MAIL.name].searching
    assert rows[MAIL.name].needed == max(row.needed for row in rows.values() if row.name.startswith("mcp."))
    gains = [row.declaring - row.searching for row in selector.explain(turn)]
    assert gains == sorted(gains)


def test_a_saved_one_is_built_again_by_its_spec(tmp_path: Path) -> None:
    fitted = ExpectedCost().fit(load_sessions(DATASET)).save(tmp_path / "usage.json")
    assert resolve(repr(fitted)) == fitted
    assert repr(ExpectedCost(model="gpt-5", horizon=0.5)) == "expected_cost(horizon=0.5, model='gpt-5')"


@pytest.mark.parametrize("spec", ["expected_cost(horizon=2)", "expected_cost(usage='nowhere.json')"])
def test_what_it_cannot_take_is_refused_before_a_run(spec: str) -> None:
    with pytest.raises(InputError):
        resolve(spec)


def test_nothing_told_is_nothing_declared() -> None:
    assert split("expected_cost", visible=()) == (set(), set())


def test_every_feature_has_a_weight() -> None:
    assert {len(one) for one in (PRIOR.now.weights, PRIOR.now.plain, PRIOR.later.weights, PRIOR.later.plain)} == {
        len(FEATURES)
    }
    assert np.isfinite(PRIOR.now(np.ones((1, len(FEATURES))))).all()
    assert arrays(TOOLS).told.names
