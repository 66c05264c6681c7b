from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import MissingExtraError, ToolkitWarning
from toolkit.search import Dense
from toolkit.search.encoders import models as encoders
from toolkit.search.encoders.static import (
    Static,
    components,
    distilled,
    frequency_weights,
    kept_or_made,
    static_store,
    wordpieces,
    words,
)
from toolkit.tool import Tool

PIECES = ["[PAD]", "[UNK]", *"abcdefgh", "tide", "kiln", "read", "heat", "##s", "##er", "##a", "水"]


def ids_encode(rows: Sequence[Sequence[int]]) -> Any:
    return np.random.default_rng(1).normal(size=(100, 24))[[row[0] for row in rows]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    encoders.encoder.cache_clear()
    yield
    encoders.encoder.cache_clear()


def test_a_text_is_the_mean_of_its_pieces() -> None:
    model = distilled(PIECES, ids_encode)
    table = model.vectors.astype(np.float32)
    expected = table[[PIECES.index(piece) for piece in ("tide", "##s", "read", "##er")]].mean(axis=0)
    assert model(["Tides reader!?"])[0] == pytest.approx(expected, rel=1e-5)


@given(st.lists(st.text(), max_size=4))
def test_any_text_has_a_finite_row(texts: list[str]) -> None:
    found = MODEL(texts)
    assert found.shape == (len(texts), 24) and np.isfinite(found).all()


@given(st.text(alphabet="abcdehitrs", max_size=12))
def test_pieces_spell_the_word(word: str) -> None:
    found = [PIECES[i] for i in wordpieces(word, {piece: i for i, piece in enumerate(PIECES)})]
    assert not found or "".join(piece.removeprefix("##") for piece in found) == word


def test_words_are_those_of_the_tokenizer_that_it_was_distilled_from() -> None:
    assert list(words("Größe_x 水平 naïve!")) == ["große", "_", "x", "水", "平", "naive", "!"]


def test_a_text_without_pieces_is_zero() -> None:
    assert not MODEL(["", "zzz"]).any()


def test_special_pieces_weigh_nothing_and_frequent_ones_less() -> None:
    weights = frequency_weights(["[PAD]", *map(str, range(3000))])
    assert weights[0] == 0 and (np.diff(weights[1:]) >= 0).all() and weights[-1] > 2 * weights[1]


def test_components_are_uncorrelated_and_evened_out() -> None:
    rows = np.random.default_rng(2).normal(size=(300, 6)) * [16, 9, 4, 2, 1, 0.1]
    found = components(rows.astype(np.float32), 4)
    spread = np.cov(found.T)
    assert np.sqrt(np.diag(spread)) == pytest.approx(np.sqrt([16, 9, 4, 2]), rel=0.2)
    assert np.abs(spread - np.diag(np.diag(spread))).max() < 1e-3


def test_a_model_is_made_once_and_then_read() -> None:
    made: list[int] = []

    def make() -> Static:
        made.append(1)
        return MODEL

    first, second = kept_or_made("d" * 64, make), kept_or_made("d" * 64, make)
    assert made == [1] and (first.vectors == second.vectors).all() and first.pieces == second.pieces
    kept_or_made("e" * 64, make)
    assert made == [1, 1]


@pytest.mark.parametrize("broken", [b"no database", None])
def test_in_place_of_a_broken_file_the_model_is_made_and_the_file_left_alone(broken: bytes | None) -> None:
    kept_or_made("d" * 64, lambda: MODEL)
    path = static_store("d" * 64).path
    left = path.read_bytes()[:5000] if broken is None else broken
    path.write_bytes(left)
    made: list[int] = []
    with pytest.warns(ToolkitWarning, match="left alone"):
        kept_or_made("d" * 64, lambda: made.append(1) or MODEL)
    assert made and path.read_bytes() == left


def test_dense_static_ranks_with_it_and_needs_minilm_only_to_make_it(monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [Tool("tide_read", "Reads tides."), Tool("kiln_heat", "Heats a kiln.")]
    monkeypatch.setattr(encoders, "available", lambda name: False)
    with pytest.raises(MissingExtraError):
        Dense(tools, "static")
    monkeypatch.setattr(encoders, "available", lambda name: True)
    monkeypatch.setattr(encoders, "minilm_folder", lambda: Path("."))
    monkeypatch.setattr(encoders, "_distil", lambda: MODEL)
    assert Dense(tools, "static").rank("heat the kiln").names[0] == "kiln_heat"
    encoders.encoder.cache_clear()
    monkeypatch.setattr(encoders, "minilm_folder", lambda: pytest.fail("it is kept"))
    assert repr(Dense(tools, "static")) == "dense(static)"


MODEL = distilled(PIECES, ids_encode)
