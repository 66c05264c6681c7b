import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.naive import best, bm25f
from tests.search.strategies import catalogs, phrases
from toolkit.errors import InputError
from toolkit.search import Lexical
from toolkit.tool import Tool


@given(catalogs, phrases)
def test_scores_are_those_of_the_naive_bm25f(tools: list[Tool], query: str) -> None:
    expected = bm25f(query, tools)
    ranking = Lexical(tools).rank(query, k=100)
    assert dict(ranking) == pytest.approx({name: score for name, score in expected.items() if score > 0}, rel=1e-5)


@given(catalogs, phrases, st.data())
def test_a_subset_scores_as_if_it_were_the_catalog(tools: list[Tool], query: str, data: st.DataObject) -> None:
    subset = data.draw(st.lists(st.sampled_from(tools), unique=True)) if tools else []
    among = [tool.name for tool in subset]
    whole = Lexical(tools)
    expected = Lexical(subset).rank(query, k=100)
    assert whole.rank(query, among, k=100).names == expected.names
    assert whole.rank(query, frozenset(among), k=100).scores == pytest.approx(expected.scores, rel=1e-6)


@given(catalogs, phrases, st.integers(0, 2**32), st.integers(0, 15))
def test_the_order_of_the_catalog_changes_nothing(tools: list[Tool], query: str, seed: int, k: int) -> None:
    shuffled = random.Random(seed).sample(tools, len(tools))
    assert Lexical(tools).rank(query, k=k) == Lexical(shuffled).rank(query, k=k)


@given(catalogs, phrases, st.integers(0, 15))
def test_the_best_k_are_those_of_a_plain_sort(tools: list[Tool], query: str, k: int) -> None:
    lexical = Lexical(tools)
    scores = {tool.name: 0.0 for tool in tools} | dict(lexical.rank(query, k=100))
    assert list(lexical.rank(query, k=k).names) == best(scores, tools, scores, k)


@given(catalogs, st.text())
@settings(max_examples=50)
def test_any_text_is_answered(tools: list[Tool], query: str) -> None:
    assert all(score > 0 for score in Lexical(tools).rank(query).scores)


@given(catalogs, phrases)
def test_reasons_add_up_to_the_score(tools: list[Tool], query: str) -> None:
    lexical = Lexical(tools)
    for name, score in lexical.rank(query, k=3):
        assert sum(reason.score for reason in lexical.explain(query, name)) == pytest.approx(score, rel=1e-5)


def test_equal_scores_stand_read_only_first_and_then_by_name() -> None:
    tools = [Tool("c_probe"), Tool("a_probe"), Tool("b_probe", annotations={"readOnlyHint": True})]
    assert Lexical(tools).rank("probe").names == ("b_probe", "a_probe", "c_probe")


def test_a_name_outside_the_catalog_in_among_is_ignored() -> None:
    assert Lexical([Tool("probe")]).rank("probe", {"probe", "nobody"}).names == ("probe",)


def test_long_queries_must_be_covered_when_asked_for() -> None:
    tools = [Tool("fence_paint"), Tool("mayor_diary"), Tool("oil_level"), Tool("canvas_roof")]
    lexical = Lexical(tools, min_coverage=0.5)
    assert not lexical.rank("paint portrait mayor oil canvas")
    assert lexical.rank("oil level").names == ("oil_level",)


def test_a_coverage_outside_its_range_is_refused() -> None:
    with pytest.raises(InputError, match="min_coverage"):
        Lexical([], min_coverage=2)


@pytest.mark.parametrize("query", ["", "the of and", "🙂", "\ud800", "a" * 100_000, "tide " * 20_000, "\x00"])
def test_odd_queries_are_answered(query: str) -> None:
    tools = [Tool("tide_read", "Reads the tide."), Tool("empty")]
    for lexical in (Lexical(tools), Lexical(tools[:1]), Lexical([])):
        assert len(lexical.rank(query, k=1000)) <= 2


def test_odd_schemas_are_indexed() -> None:
    schemas = [True, "7", "[]", {"properties": []}, {"properties": {"a": True}, "anyOf": {}}, {"enum": 5}]
    tools = [Tool(f"t{i}", "word " * 3000, schema) for i, schema in enumerate(schemas)]
    assert len(Lexical(tools).rank("word")) == len(tools)


def test_the_repr_is_its_spec() -> None:
    assert repr(Lexical([], min_coverage=0.5)) == "lexical(min_coverage=0.5)"
