import multiprocessing
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from toolkit.search import Dense, Hybrid
from toolkit.search.encoders.encoder import EncoderError, Identity, checked
from toolkit.search.encoders.tool_vectors import VectorStore, content_key, read_table
from toolkit.testing.index_cases import StubEncoder
from toolkit.tool import Tool

TOOLS = [Tool("tide_read", "Reads the tide."), Tool("kiln_on", "Heats the oven."), Tool("ink_low", "Ink level.")]
HEADER = {"format": "f", "model": "m", "digest": "d"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    yield


def test_scores_are_the_weighted_mean_of_the_cosines_of_the_views() -> None:
    encoder = StubEncoder(dim=64)
    full, name, query = checked(encoder.encode, ["tide read: Reads the tide.", "tide read", "the tide"])
    expected = (full @ query + 0.1 * (name @ query)) / 1.1
    assert Dense(TOOLS, encoder).similarities(["the tide"])[0][2] == pytest.approx(expected, abs=1e-3)


def test_a_changed_tool_is_embedded_alone() -> None:
    encoder = StubEncoder()
    Dense(TOOLS, encoder)
    encoder.asked.clear()
    Dense([*TOOLS[:2], Tool("ink_low", "Another text.")], encoder)
    assert encoder.asked == [["ink low: Another text.", "ink low"]]


def test_a_subset_scores_as_in_the_whole() -> None:
    dense = Dense(TOOLS, StubEncoder())
    assert set(dense.rank("tide", ["kiln_on", "tide_read"]).names) <= {"kiln_on", "tide_read"}


@pytest.mark.parametrize("broken", [b"", b"{}\n", b"not json\n123", b'{"rows": "x"}\n', None])
def test_a_broken_file_counts_as_empty_and_is_written_again(broken: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    VectorStore(path, HEADER).fetch([1, 2], lambda missing: np.ones((len(missing), 4), np.float32))
    path.write_bytes(path.read_bytes()[:-3] if broken is None else broken)
    made: list[int] = []
    store = VectorStore(path, HEADER)
    store.fetch([1, 2], lambda missing: made.extend(missing) or np.ones((len(missing), 4), np.float32))
    assert made == [0, 1] and len(read_table(path, HEADER).keys) == 2


def test_of_a_file_only_the_asked_rows_are_read(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    VectorStore(path, HEADER).fetch([3, 1, 2], lambda missing: np.eye(3, dtype=np.float32))
    table = read_table(path, HEADER, np.array([2, 3, 9], np.uint64))
    assert table.keys.tolist() == [2, 3] and table.vectors.tolist() == [[0, 0, 1], [1, 0, 0]]


def test_a_file_with_one_changed_byte_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    VectorStore(path, HEADER).fetch([1], lambda missing: np.ones((1, 4), np.float32))
    path.write_bytes(path.read_bytes()[:-1] + b"\xff")
    assert len(read_table(path, HEADER).keys) == 0


def test_a_store_keeps_the_vectors_that_another_wrote_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    first, second = VectorStore(path, HEADER), VectorStore(path, HEADER)
    for store, key in ((first, 1), (second, 2), (first, 3)):
        store.fetch([key], lambda missing: np.ones((1, 4), np.float32))
    assert read_table(path, HEADER).keys.tolist() == [1, 2, 3]


def test_a_file_of_another_version_counts_as_empty(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    VectorStore(path, HEADER).fetch([1], lambda missing: np.ones((1, 4), np.float32))
    assert len(read_table(path, {**HEADER, "format": "g"}).keys) == 0
    assert len(read_table(path, {**HEADER, "model": "alias"}).keys) == 1


def _write(arguments: tuple[str, int]) -> None:
    path, start = arguments
    for key in range(start, start + 20):
        VectorStore(Path(path), HEADER).fetch([key], lambda at, key=key: np.full((1, 4), key, np.float32))


def test_processes_that_write_one_cache_never_read_half_a_file(tmp_path: Path) -> None:
    path = tmp_path / "v.bin"
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_write, [(str(path), 0), (str(path), 100)])
    table = read_table(path, HEADER)
    assert len(table.keys) >= 20
    assert (table.vectors[:, 0] == table.keys).all()


def test_a_folder_that_cannot_be_written_leaves_vectors_in_memory() -> None:
    store = VectorStore(Path(os.devnull) / "x" / "v.bin", HEADER)
    assert store.fetch([1], lambda missing: np.ones((1, 4), np.float32)).shape == (1, 4)


def test_keys_differ_where_texts_are_cut_differently() -> None:
    assert content_key(("ab", "c")) != content_key(("a", "bc"))


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_rows_that_are_no_direction_become_zero(value: float) -> None:
    assert not checked(lambda texts: [[value, value]], ["a"]).any()


def test_an_encoder_that_raises_or_answers_another_shape_is_an_encoder_error() -> None:
    def raises(texts: Sequence[str]) -> Any:
        raise RuntimeError("no")

    for encode in (raises, lambda texts: [1.0], lambda texts: [[1.0]] * 5):
        with pytest.raises(EncoderError):
            checked(encode, ["a", "b"])


class Moody(StubEncoder):
    """Fails on queries, not on tools."""

    identity = Identity("moody", "moody")

    def encode(self, texts: Sequence[str]) -> Any:
        if "now" in texts:
            raise RuntimeError("out of memory")
        return super().encode(texts)


def test_an_encoder_that_fails_at_a_query_leaves_the_lexical_answer_and_a_notice() -> None:
    hybrid = Hybrid([*TOOLS, Tool("now")], Moody())
    assert hybrid.rank("now").names == ("now",)
    assert hybrid.notices == ("semantic_unavailable",)
