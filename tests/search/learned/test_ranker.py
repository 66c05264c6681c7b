import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.search.strategies import catalogs, phrases
from tests.search.stubs import StubEncoder, fresh_cache
from toolkit.errors import InputError
from toolkit.search import Hybrid
from toolkit.search.learned.features import BASE, FEATURES, candidates, features
from toolkit.search.learned.ranker import FORMAT, Ranker, load_ranker, save_ranker
from toolkit.search.learned.ranker_fit import Example, examples, fit, leave_one_out, quality
from toolkit.tool import Tool

ENCODER = StubEncoder()
OWN = Ranker(np.eye(len(FEATURES))[0])
"""A ranker that knows the hybrid's own score and nothing else."""


@pytest.fixture(autouse=True, scope="module")
def _own_cache() -> Iterator[Path]:
    with fresh_cache() as folder:
        yield folder


def made(group: str = "a", queries: int = 40, useful: int = 4) -> list[Example]:
    """Return queries whose right candidate is the one with the highest feature `useful`."""
    rng = np.random.default_rng(7)
    rows = [rng.random((9, len(FEATURES))).astype(np.float32) for _ in range(queries)]
    return [Example(group, row, np.arange(9) == row[:, useful].argmax(), 1) for row in rows]


@given(catalogs, phrases)
@settings(max_examples=40)
def test_a_ranker_that_knows_the_fused_score_alone_changes_no_order(tools: list[Tool], query: str) -> None:
    plain, ranked = Hybrid(tools, ENCODER).rank(query), Hybrid(tools, ENCODER, ranker=OWN).rank(query)
    assert len(ranked) == len(plain)
    before = dict(Hybrid(tools, ENCODER).rank(query, k=50))
    assert [before[name] for name in ranked.names] == pytest.approx(list(plain.scores), abs=1e-5)


@given(catalogs, phrases, st.integers(0, 2**32))
@settings(max_examples=40)
def test_answers_depend_on_the_tools_asked_about_and_not_on_their_order(
    tools: list[Tool], query: str, seed: int
) -> None:
    ranker = Ranker(np.random.default_rng(seed).normal(size=len(FEATURES)))
    part = random.Random(seed).sample(tools, (len(tools) + 1) // 2)
    inside = Hybrid(tools, ENCODER, ranker=ranker).rank(query, frozenset(tool.name for tool in part))
    assert dict(inside) == pytest.approx(dict(Hybrid(part, ENCODER, ranker=ranker).rank(query)), abs=1e-4)
    assert all(0 < score <= 1 for score in inside.scores)


def test_features_are_finite_and_named() -> None:
    hybrid = Hybrid([Tool("tide_read", "Reads the tide."), Tool("kiln_on")], ENCODER)
    signals = hybrid.signals("read the tide. then heat the kiln for us")
    found = features(signals, candidates(signals))
    assert found.shape[1] == len(FEATURES) == 3 * len(BASE) and np.isfinite(found).all()


def test_candidates_are_the_best_with_all_that_tie_the_last() -> None:
    hybrid = Hybrid([*(Tool(f"tide_{i}") for i in range(9)), Tool("tide_tide", "The tide, the tide.")], ENCODER)
    signals = hybrid.signals("tide")
    assert len(candidates(signals, depth=3)) in (3, 9, 10)
    assert set(np.argsort(-np.round(signals.fused, 8), kind="stable")[:3]) <= set(candidates(signals, depth=3))


def test_a_fit_finds_the_feature_that_tells_and_carries_over() -> None:
    found = [*made("a"), *made("b"), *made("c")]
    weights = fit(found, penalty=0.0)
    assert int(np.argmax(weights[1:])) + 1 == 4
    assert quality(found, weights) > quality(found) + 0.2
    assert [row["set"] for row in leave_one_out(found)] == ["a", "b", "c"]
    assert all(row["gain"] > 0.1 for row in leave_one_out(found, penalty=0.0))


def test_the_same_data_and_seed_give_the_same_weights() -> None:
    assert (fit(made(), seed=3, most=20) == fit(made(), seed=3, most=20)).all()
    assert not (fit(made(), seed=3, most=20) == fit(made(), seed=4, most=20)).all()


def test_a_strong_pull_keeps_the_untrained_order() -> None:
    assert quality(made(), fit(made(), penalty=1e6)) == pytest.approx(quality(made()), abs=0.05)


def test_queries_without_a_right_candidate_teach_nothing() -> None:
    wrong = [Example("a", one.features, np.zeros(9, dtype=np.bool_), 1) for one in made()]
    with pytest.raises(InputError, match="nothing to learn"):
        fit(wrong)


def test_examples_hold_the_right_tools_of_each_query() -> None:
    hybrid = Hybrid([Tool("tide_read", "Reads the tide."), Tool("kiln_on")], ENCODER)
    (one,) = examples(hybrid, [("read the tide", frozenset(["tide_read", "elsewhere"])), ("x", frozenset())], "s")
    assert one.right.sum() == 1 and one.gold == 2 and one.group == "s"


def test_without_an_encoder_there_is_nothing_to_fit() -> None:
    with pytest.raises(InputError, match="encoder"):
        examples(Hybrid([Tool("a")], "no/such/model"), [], "s")


def test_a_file_gives_the_ranker_back_and_the_same_bytes(tmp_path: Path) -> None:
    path, again = tmp_path / "r.json", tmp_path / "s.json"
    save_ranker(Ranker(fit(made()), {"queries": 40}), path)
    found = load_ranker(path)
    save_ranker(found, again)
    assert path.read_bytes() == again.read_bytes() and path.stat().st_size < 2_000_000
    assert found.card == {"queries": 40}
    assert isinstance(Hybrid([Tool("a")], ENCODER, ranker=str(path)).ranker, Ranker)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"format": "selector-toolkit ranker 0"}, "expected 'selector-toolkit ranker 1'"),
        ({"features": ["fused"]}, "other features"),
        ({"weights": [1.0]}, "other features"),
        ({"weights": [float("nan")] * len(FEATURES)}, "other features"),
        ({"weights": "x"}, "no ranker"),
    ],
)
def test_a_file_of_another_version_is_refused_and_says_what_to_do(
    changed: dict[str, object], told: str, tmp_path: Path
) -> None:
    row = {"format": FORMAT, "features": FEATURES, "weights": [0.0] * len(FEATURES)}
    path = tmp_path / "r.json"
    path.write_text(json.dumps({**row, **changed}))
    with pytest.raises(InputError, match=told) as caught:
        load_ranker(path)
    assert "toolkit rank-fit" in str(caught.value)


@pytest.mark.parametrize("content", [None, b"", b"{", b"[]"])
def test_a_file_that_is_no_ranker_is_refused(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match="no ranker"):
        Hybrid([Tool("a")], ENCODER, ranker=str(path))
