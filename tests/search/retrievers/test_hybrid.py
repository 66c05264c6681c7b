import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.search.strategies import catalogs, phrases
from tests.search.stubs import StubEncoder, fresh_cache
from toolkit.errors import InputError, UnknownNameError
from toolkit.search import Hybrid, Lexical
from toolkit.search.retrievers.fusion import UNIT, Weights, fused, squashed, weighted, with_servers
from toolkit.search.terms.clauses import clauses
from toolkit.search.terms.verbs import offered, wanted
from toolkit.tool import Tool

ENCODER = StubEncoder()


@pytest.fixture(autouse=True, scope="module")
def _own_cache() -> Iterator[Path]:
    with fresh_cache() as folder:
        yield folder


@given(catalogs, phrases, st.integers(0, 2**32))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=40)
def test_answers_depend_on_the_tools_asked_about_and_not_on_their_order(
    tools: list[Tool], query: str, seed: int
) -> None:
    part = random.Random(seed).sample(tools, (len(tools) + 1) // 2)
    among = frozenset(tool.name for tool in part)
    inside, alone = Hybrid(tools, ENCODER).rank(query, among), Hybrid(part, ENCODER).rank(query)
    assert set(inside.names) <= among
    assert dict(inside) == pytest.approx(dict(alone), abs=1e-6)


@given(catalogs, st.text())
@settings(deadline=None, max_examples=40)
def test_any_text_is_answered_with_scores_between_0_and_1(tools: list[Tool], query: str) -> None:
    assert all(0 < score < 1 for score in Hybrid(tools, ENCODER).rank(query).scores)


def test_without_an_encoder_it_is_the_lexical_retriever_and_says_so() -> None:
    tools = [Tool("tide_read", "Reads the tide."), Tool("kiln_on")]
    hybrid = Hybrid(tools, "no/such/model")
    assert hybrid.rank("tide") == Lexical(tools).rank("tide")
    assert hybrid.notices == ("semantic_unavailable",)


def test_each_clause_brings_up_its_own_tool() -> None:
    tools = [Tool(f"filler_{i}", "Plants a garden bed with roses and soil.") for i in range(20)]
    tools += [Tool("weather_show", "Shows the weather."), Tool("mail_send", "Sends a mail.")]
    ranking = Hybrid(tools, ENCODER).rank("show me the weather of Rome. then send it by mail", k=2)
    assert set(ranking.names) == {"weather_show", "mail_send"}


def test_a_verb_that_contradicts_costs_rank() -> None:
    tools = [Tool("disk_delete", "A disk."), Tool("disk_create", "A disk.")]
    assert Hybrid(tools, ENCODER, conflict=1.0).rank("remove the disk").names[0] == "disk_delete"
    assert wanted("make a new disk") & offered(tools[1])
    assert not wanted("make a new disk") & offered(tools[0])


def test_fusion_of_one_row_is_cosine_above_the_mean_and_weighted_bm25_less_conflicts() -> None:
    dense, lexical, conflicts = np.array([[0.1, 0.5, 0.3]]), np.array([[2.0, 0.0, 1.0]]), np.array([[0.0, 1.0, 0.0]])
    weights = Weights(lexical=0.02, conflict=0.03)
    expected = (np.array([-0.2 + 0.04, 0.2 - 0.03, 0.02])) / UNIT
    assert fused(weighted(dense, lexical, conflicts, weights), dense, weights) == pytest.approx(expected)


def test_a_clause_counts_by_its_nearness_and_lifts_its_own_best_tool() -> None:
    rows = np.array([[0.4, 0.2, 0.0], [0.3, 0.1, 0.0], [0.0, 0.0, 0.2]])
    dense = np.array([[0.4, 0.4, 0.4], [0.5, 0.2, 0.1], [0.1, 0.1, 0.25]])
    weights = Weights(clauses=0.5, trust=1.0)
    assert fused(rows, dense, weights) == pytest.approx([0.5 + 0.5, 0.25 + 0.5 / 3, 0.5 * 0.5])


def test_server_means_are_those_of_a_loop() -> None:
    dense, servers = np.array([[0.1, 0.5, 0.3]]), np.array([0, 1, 0])
    assert with_servers(dense, servers, 0.5)[0] == pytest.approx([0.1 + 0.1, 0.5 + 0.25, 0.3 + 0.1])


@given(st.lists(st.floats(-1e6, 1e6)))
def test_squashing_keeps_the_order(values: list[float]) -> None:
    ordered = squashed(np.sort(np.array(values, dtype=float)))
    assert (np.diff(ordered) >= 0).all() and ((ordered > 0) & (ordered < 1)).all()


def test_scores_of_long_queries_stay_apart() -> None:
    assert (np.diff(squashed(np.arange(-50, 100, 1e-2))) > 0).all()


@given(st.text())
def test_clauses_are_parts_of_the_query(query: str) -> None:
    assert all(clause in query for clause in clauses(query)) and len(clauses(query)) != 1


def test_weights_are_options_and_the_repr_names_them() -> None:
    assert repr(Hybrid([], ENCODER, lexical=0.5)) == "hybrid(lexical=0.5)"
    with pytest.raises(UnknownNameError, match="lexical") as caught:
        Hybrid([], ENCODER, lexica=1.0)
    assert caught.value.nearest == "lexical"
    for value in ("a", True, float("nan")):
        with pytest.raises(InputError, match="finite number"):
            Hybrid([], ENCODER, lexical=value)  # type: ignore[arg-type]
