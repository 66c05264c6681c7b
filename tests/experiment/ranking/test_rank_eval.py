import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DATASET
from toolkit import Host
from toolkit.errors import InputError
from toolkit.experiment.ranking.rank_eval import (
    DEPTH,
    Query,
    Run,
    check_gold,
    compared,
    drawn_queries,
    holm,
    ndcg,
    randomisation,
    rank_eval,
    read_queries,
    reciprocal_rank,
    runs,
)
from toolkit.formats.catalogs.load import load_catalog
from toolkit.tool import Tool

TOOLS = [Tool(f"mcp.sea.{name}", text, id=name) for name, text in (("tide", "water"), ("wind", "air"), ("fog", "air"))]
QUERIES = [
    Query("1", "tide", frozenset({"tide"})),
    Query("2", "air", frozenset({"wind"})),
    Query("3", "nothing", frozenset()),
]
KEYS = {"retriever", "queries", "tools", "recall@1", "recall@3", "recall@5", "recall@10", "ndcg@10", "ndcg@10_low"}
KEYS |= {"ndcg@10_high", "mrr", "p50_ms", "p95_ms", "brier", "ece"}


def test_a_row_has_the_keys_of_the_interface_and_its_measures() -> None:
    (row,) = rank_eval(TOOLS, QUERIES, ["lexical"])
    assert row.keys() == KEYS
    assert (row["retriever"], row["queries"], row["tools"]) == ("lexical", 2, 3)
    assert (row["recall@1"], row["recall@3"], row["mrr"]) == (0.5, 1.0, 0.75)
    assert row["ndcg@10"] == pytest.approx((1 + 1 / np.log2(3)) / 2)
    assert row["ndcg@10_low"] <= row["ndcg@10"] <= row["ndcg@10_high"]


def test_a_sample_is_drawn_without_replacement_and_by_its_seed() -> None:
    queries = [Query(str(i), "tide", frozenset({"tide"})) for i in range(30)]
    drawn = drawn_queries(queries, 10, 3)
    expected = np.random.default_rng(3).choice(30, 10, replace=False)
    assert [query.id for query in drawn] == [str(i) for i in expected]


def test_no_query_with_gold_is_an_error() -> None:
    with pytest.raises(InputError, match="right tool"):
        rank_eval(TOOLS, QUERIES[2:], ["lexical"])


ids = st.lists(st.sampled_from("abcdefghijklmno"), unique=True, max_size=12)


@given(ids, st.frozensets(st.sampled_from("abcdefghijklmno"), min_size=1))
def test_ndcg_is_the_gain_over_that_of_the_best_order(ranked: list[str], gold: frozenset[str]) -> None:
    gains = [(id in gold) / np.log2(i + 2) for i, id in enumerate(ranked[:10])]
    ideal = sum(1 / np.log2(i + 2) for i in range(min(10, len(gold))))
    assert ndcg(ranked, gold) == pytest.approx(sum(gains) / ideal)
    assert reciprocal_rank(ranked, gold) == next((1 / (i + 1) for i, id in enumerate(ranked) if id in gold), 0)


def test_the_randomisation_test_is_near_the_exact_one() -> None:
    differences = np.array([0.5, 0.25, 0.0, 0.75, -0.25, 0.5, 0.25, 0.5])
    signs = itertools.product([-1, 1], repeat=len(differences))
    exact = np.mean([abs(np.dot(sign, differences)) >= differences.sum() - 1e-12 for sign in signs])
    assert randomisation(differences) == pytest.approx(exact, abs=0.02)


def test_equal_runs_do_not_differ() -> None:
    done = runs(TOOLS, QUERIES, ["lexical", "lexical(min_coverage=0.5)"])
    (row,) = compared(done)
    assert (row["difference"], row["p"], row["p_holm"]) == (0.0, 1.0, 1.0)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_keeps_the_order_and_never_lowers(chances: list[float]) -> None:
    corrected = holm(chances)
    assert all(after >= before for before, after in zip(chances, corrected, strict=True))
    assert sorted(corrected) == [corrected[i] for i in np.argsort(chances, kind="stable")]


def test_queries_are_read_and_a_bad_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "queries.jsonl"
    path.write_text(json.dumps({"query": "q", "gold": ["a"]}) + "\n\n")
    assert read_queries(path) == [Query("1", "q", frozenset("a"))]
    path.write_text('{"query": "q"}\n')
    with pytest.raises(InputError, match="queries.jsonl:1"):
        read_queries(path)


def test_per_query_rows_say_what_was_ranked() -> None:
    (run,) = runs(TOOLS, QUERIES, ["lexical"])
    assert [row["ranked"] for row in run.per_query()] == [["tide"], ["fog", "wind"]]


def test_right_tools_that_the_catalog_lacks_are_counted_and_none_at_all_is_an_error() -> None:
    tools = [Tool("builtin.read", "Reads.", id="read")]
    asked = [Query("1", "read it", frozenset({"read", "gone"})), Query("2", "write it", frozenset({"read"}))]
    (told,) = check_gold(tools, asked, "q.jsonl")
    assert told.code == "gold_unknown" and "1 of 3 right tools (of 1 query)" in told.message
    assert check_gold(tools, asked[1:], "q.jsonl") == []
    with pytest.raises(InputError, match="q.jsonl: no right tool"):
        check_gold(tools, [Query("1", "read it", frozenset({"other"}))], "q.jsonl")


def test_what_is_measured_is_what_a_host_s_search_answers() -> None:
    catalog = [one for one in load_catalog(DATASET.with_name("tools.jsonl")) if one.source != "core"]
    asked = read_queries(DATASET.with_name("queries.jsonl"))
    for spec in ("lexical", "hybrid(static)", "regex"):
        (run,) = runs(catalog, asked[:40], [spec])
        host = Host(catalog, lambda told, view: ([], [tool.name for tool in told]), retriever=spec)
        ids = {tool.name: tool.id for tool in catalog}
        for query, ranked in zip(run.queries, run.ranked, strict=True):
            found = host.start_turn("x").start_pass().search(query.text, DEPTH)
            assert ranked == tuple(ids[name] for name, _ in found)


def test_a_query_that_names_a_tool_is_answered_so_and_bare_it_is_not() -> None:
    tools = [Tool("mcp.sea.read_tide", "Zeta."), Tool("mcp.air.wind", "Reads the tide: read tide, tide read.")]
    query = Query("1", "please use read_tide for the tide that I read", frozenset({"mcp.sea.read_tide"}))
    (through,), (alone,) = (runs(tools, [query], ["regex"], bare=bare) for bare in (False, True))
    assert through.ranked[0][:1] == ("mcp.sea.read_tide",)
    assert alone.retriever.endswith("(bare)") and alone.ranked != through.ranked


def test_the_reliability_of_chances_is_that_of_their_definition() -> None:
    queries = (Query("1", "a", frozenset("x")), Query("2", "b", frozenset("z")))
    run = Run("r", queries, 3, (("x", "y"), ("y", "z")), (0.0, 0.0), ((0.9, 0.2), (0.6, 0.4)))
    assert run.reliability()["brier"] == pytest.approx((0.01 + 0.04 + 0.36 + 0.36) / 4)
    assert run.reliability()["ece"] == pytest.approx((0.1 + 0.2 + 0.6 + 0.6) / 4)
    assert math.isnan(Run("r", queries, 3, (("x",), ("y",)), (0.0, 0.0)).reliability()["ece"])
