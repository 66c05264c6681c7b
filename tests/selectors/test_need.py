"""What a turn is known to need: evidence, rates of use, and the logistic models over them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS, call, said, session, tool, turn
from tests.selectors.views import Ranker, view
from toolkit.engine.view import EarlierTurn
from toolkit.selectors.need import FEATURES, TEXT, Chance, arrays, evidence, fit_chance, fit_weights, probability
from toolkit.selectors.usage import Usage

PAST = Usage.of([session(turn("look", said("", call(LOG.name))), turn("send", said("", call(MAIL.name))))])


def column(feature: str, host: Any = None, usage: Usage = Usage(), tools: Any = TOOLS) -> dict[str, float]:
    rows = evidence(tools, host or view("words"), usage)
    return dict(zip(arrays(tools).told.names, rows[:, FEATURES.index(feature)].tolist(), strict=True))


def test_a_better_place_for_the_input_is_more_evidence_and_the_unranked_share_the_middle() -> None:
    rank = column("rank", view("words", ranker=Ranker(MAIL.name, LOG.name)))
    assert rank[MAIL.name] == 0
    assert rank[LOG.name] == -1
    assert rank[READ.name] == rank[BRANCH.name] == -2


def test_a_server_stands_where_its_best_tool_does() -> None:
    rank = column("server_rank", view("words", ranker=Ranker(MAIL.name, LOG.name)))
    assert rank[BRANCH.name] == rank[LOG.name] == -1


def test_what_the_session_used_is_counted_turn_by_turn() -> None:
    host = view("words", EarlierTurn("a", (LOG.name, LOG.name, READ.name)), EarlierTurn("b", (LOG.name,)))
    assert column("times_used", host)[LOG.name] == pytest.approx(np.log2(3))
    assert column("used", host) == {READ.name: 1, LOG.name: 1, BRANCH.name: 0, MAIL.name: 0}
    assert column("used_last_turn", host)[LOG.name] == 1
    assert column("used_last_turn", host)[READ.name] == 0


def test_earlier_sessions_raise_what_they_used_and_its_server_and_lower_the_rest() -> None:
    tools, servers = column("tool_rate", usage=PAST), column("server_rate", usage=PAST)
    assert tools[LOG.name] > 0 > tools[BRANCH.name]
    assert servers[MAIL.name] > 0 > servers[READ.name]


def test_nothing_used_in_a_large_server_says_more_than_nothing_used_in_a_small_one() -> None:
    large = [tool(f"mcp.large.t{n}") for n in range(50)]
    rates = column("server_rate", usage=PAST, tools=(*TOOLS, *large, tool("mcp.small.t")))
    assert rates["mcp.large.t0"] < rates["mcp.small.t"] < 0


def test_without_earlier_sessions_rates_say_nothing() -> None:
    assert set(column("tool_rate").values()) == set(column("server_rate").values()) == {0.0}


def test_what_followed_the_last_turns_tools_is_likelier_after_them() -> None:
    follows = column("follows", view("words", EarlierTurn("a", (LOG.name,))), PAST)
    assert follows[MAIL.name] > 0
    assert follows[BRANCH.name] == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32 - 1), st.floats(0.05, 5))
def test_weights_are_those_of_the_penalised_likelihood(seed: int, pull: float) -> None:
    draw = np.random.default_rng(seed)
    rows, start = draw.normal(size=(40, 3)), draw.normal(size=3)
    happened, times = draw.integers(0, 2, 40).astype(float), draw.integers(1, 4, 40).astype(float)

    def loss(weights: Any) -> float:
        z = rows @ weights
        return float((times * (np.logaddexp(0, z) - happened * z)).sum() + pull / 2 * ((weights - start) ** 2).sum())

    naive = minimize(loss, start, method="BFGS").x
    assert fit_weights(rows, happened, times, start, pull) == pytest.approx(naive, abs=1e-3)


def test_a_row_that_stands_for_many_counts_as_many() -> None:
    rows, happened = np.array([[1.0], [1.0], [1.0]]), np.array([1.0, 0.0, 0.0])
    folded = fit_weights(rows[:2], happened[:2], np.array([1.0, 2.0]), [0.0])
    assert folded == pytest.approx(fit_weights(rows, happened, np.ones(3), [0.0]))


def test_what_ranks_last_keeps_the_chance_of_its_use() -> None:
    none = (0.0,) * len(FEATURES)
    sharp = (0.0, 10.0, *none[2:])
    row = np.zeros((1, len(FEATURES)))
    row[0, FEATURES.index("rank")] = -10
    assert probability(row, sharp) < 1e-9
    assert Chance(sharp, none, 0.2)(row) == pytest.approx(0.1)


def test_fitting_finds_how_often_words_say_nothing() -> None:
    draw = np.random.default_rng(0)
    size = 40_000
    rows = np.zeros((size, len(FEATURES)))
    rows[:, 0] = 1
    rows[:, FEATURES.index("rank")] = -draw.choice([0.0, 8.0], size)
    none = (0.0,) * len(FEATURES)
    truth = Chance((-1.0, 1.5, *none[2:]), (-1.5, *none[1:]), 0.25)
    happened = (draw.random(size) < truth(rows)).astype(float)
    found = fit_chance(rows, happened, np.ones(size), Chance(none, none, 0.1))
    for place in (0.0, -8.0):
        here = rows[:, FEATURES.index("rank")] == place
        assert found(rows[here][:1])[0] == pytest.approx(happened[here].mean(), rel=0.15)
    assert [weight for weight, text in zip(found.plain, TEXT, strict=True) if text] == [0.0] * 3
