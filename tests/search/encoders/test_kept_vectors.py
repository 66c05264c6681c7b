"""Vectors are made once and come back equal to the bit; how a file lives is the store's (`tests/test_store.py`)."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.stubs import StubEncoder
from toolkit.search.encoders import kept_vectors
from toolkit.search.encoders.kept_vectors import KeptVectors, query_vectors
from toolkit.store import Store


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))


def asked(*queries: str, digest: str = "") -> tuple[np.ndarray, list[str]]:
    """The vectors of queries as a new process would have them, and what it had to encode for them."""
    kept_vectors._opened.cache_clear()
    encoder = StubEncoder(dim=8, digest=digest)
    vectors, _ = query_vectors(encoder, queries)
    return vectors, [query for batch in encoder.asked for query in batch]


def rows(*numbers: float) -> np.ndarray:
    return np.repeat(np.array(numbers, np.float32)[:, None], 4, axis=1)


def test_kept_vectors_equal_fresh_ones_to_the_bit_and_nothing_is_encoded_twice() -> None:
    fresh, _ = asked("read the tide", "heat the oven soon")
    kept, encoded = asked("heat the oven soon", "read the tide", "new")
    assert kept[1::-1].tobytes() == fresh.tobytes() and encoded == ["new"]


def test_no_text_is_written_and_others_may_not_read_the_file(tmp_path: Path) -> None:
    asked("my private query")
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    assert b"private" not in file.read_bytes() and file.stat().st_mode & 0o077 == 0


def test_another_model_has_vectors_of_its_own() -> None:
    asked("one")
    assert asked("one", digest="other")[1] == ["one"]


def test_a_vector_that_is_zero_is_encoded_again_by_the_next_process() -> None:
    assert asked("", "one")[1] == ["", "one"]
    assert asked("", "one")[1] == [""]


@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=5), st.integers(1, 5))
def test_whatever_stays_in_memory_each_key_has_its_row_and_is_made_once(
    tmp_path_factory: pytest.TempPathFactory, batches: list[list[int]], recent: int
) -> None:
    vectors = KeptVectors(Store(tmp_path_factory.mktemp("v") / "v.sqlite"), "<f2", recent)
    made: list[int] = []
    for keys in batches:

        def make(at: Sequence[int], keys: list[int] = keys) -> np.ndarray:
            made.extend(keys[place] for place in at)
            return rows(*(keys[place] + 1 for place in at))

        if keys:
            assert (vectors.fetch(keys, make) == rows(*(key + 1 for key in keys))).all()
    assert len(made) == len(set(made))


def test_an_encoder_that_changed_its_dimension_is_asked_for_all(tmp_path: Path) -> None:
    vectors = KeptVectors(Store(tmp_path / "v.sqlite"), "<f2")
    vectors.fetch([1, 2], lambda at: rows(1, 2)[:, :3])
    assert (vectors.fetch([1, 3, 2], lambda at: rows(*(at_ + 1 for at_ in at))) == rows(1, 2, 3)).all()
    assert (vectors.fetch([2, 1], lambda at: pytest.fail("kept")) == rows(3, 1)).all()


def test_where_nothing_can_be_written_vectors_stay_in_memory() -> None:
    vectors = KeptVectors(Store(Path("/dev/null/x/v.sqlite")), "<f4")
    assert (vectors.fetch([1], lambda at: rows(1)) == vectors.fetch([1], lambda at: pytest.fail("made twice"))).all()


def test_whoever_interrupts_keeps_the_parts_that_are_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_vectors, "_PART", 2)
    asked: list[list[int]] = []

    def make(places: Sequence[int]) -> np.ndarray:
        asked.append(list(places))
        if len(asked) == 2:
            raise KeyboardInterrupt
        return rows(*(place + 1.0 for place in places))

    with pytest.raises(KeyboardInterrupt):
        KeptVectors(Store(tmp_path / "v.sqlite"), "<f4").fetch([10, 11, 12], make)
    found = KeptVectors(Store(tmp_path / "v.sqlite"), "<f4").fetch([10, 11, 12], make)
    assert asked == [[0, 1], [2], [2]] and found[:, 0].tolist() == [1, 2, 3]
