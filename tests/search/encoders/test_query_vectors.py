import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from toolkit.search.encoders.query_vectors import QueryVectors
from toolkit.search.encoders.record_log import RecordLog
from toolkit.search.encoders.tool_vectors import content_key
from toolkit.testing.index_cases import StubEncoder

HEADER = {"format": "f", "model": "m", "digest": "d"}


@pytest.fixture
def path(tmp_path: Path) -> Iterator[Path]:
    yield tmp_path / "queries" / "q.log"


def asked(path: Path, *queries: str) -> tuple[np.ndarray, list[str]]:
    """The vectors of queries as a new process would have them, and what it had to encode for them."""
    encoder = StubEncoder(dim=8)
    vectors = QueryVectors(encoder, RecordLog(path, HEADER, 1000))(queries)
    return vectors, [query for batch in encoder.asked for query in batch]


def keyed(*keys: int) -> np.ndarray:
    return np.array(keys, np.uint64)


def test_cached_vectors_equal_fresh_ones_to_the_bit_and_nothing_is_encoded_twice(path: Path) -> None:
    fresh, _ = asked(path, "read the tide", "heat the oven soon")
    cached, encoded = asked(path, "heat the oven soon", "read the tide", "new")
    assert cached[1::-1].tobytes() == fresh.tobytes() and encoded == ["new"]


def test_no_text_is_written_and_others_may_not_read_the_file(path: Path) -> None:
    asked(path, "my private query")
    assert b"private" not in path.read_bytes() and path.stat().st_mode & 0o077 == 0


def test_a_query_is_appended_and_the_file_is_not_rewritten(path: Path) -> None:
    asked(path, "one")
    before, file = path.read_bytes(), path.stat().st_ino
    asked(path, "two", "three")
    assert path.read_bytes().startswith(before) and path.stat().st_ino == file


@pytest.mark.parametrize("cut", [1, 9, 40])
def test_a_file_that_is_cut_holds_what_stands_before_the_cut_and_goes_on_growing(path: Path, cut: int) -> None:
    asked(path, "one", "two")
    path.write_bytes(path.read_bytes()[:-cut])
    assert asked(path, "one", "two", "three")[1] == (["two", "three"] if cut < 44 else ["one", "two", "three"])
    assert asked(path, "one", "two", "three")[1] == []


def test_records_that_were_changed_or_torn_are_encoded_again(path: Path) -> None:
    asked(path, "one", "two")
    whole = bytearray(path.read_bytes())
    whole[-20] ^= 1
    path.write_bytes(bytes(whole) + bytes(44) + b"torn")
    assert asked(path, "one", "two")[1] == ["two"]
    assert asked(path, "one", "two")[1] == []


@pytest.mark.parametrize(
    "broken", [b"", b"{}\n", b"[]\n", b'\xff\n{"dim": "x"}\n', b"no line", b'{"format": "f", "digest": "d"}\n']
)
def test_a_file_that_is_none_counts_as_empty_and_is_written_again(path: Path, broken: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(broken)
    assert asked(path, "one")[1] == ["one"]
    assert asked(path, "one")[1] == []


def test_a_file_of_another_model_or_dimension_counts_as_empty(path: Path) -> None:
    asked(path, "one")
    assert not RecordLog(path, {**HEADER, "digest": "e"}, 9).find([content_key(("one",))])
    RecordLog(path, HEADER, 1000).add(keyed(1), np.ones((1, 4), np.float32))
    assert RecordLog(path, HEADER, 1000).find([1])[1].shape == (4,)


def test_a_full_file_keeps_its_newer_half(path: Path) -> None:
    log = RecordLog(path, HEADER, most=10)
    for key in range(1, 12):
        log.add(keyed(key), np.full((1, 4), key, np.float32))
    found = log.find(range(1, 12))
    assert sorted(found) == [6, 7, 8, 9, 10, 11]
    assert all((row == key).all() for key, row in found.items())


def test_a_vector_that_is_zero_is_encoded_again_by_the_next_process(path: Path) -> None:
    assert asked(path, "", "one")[1] == ["", "one"]
    assert asked(path, "", "one")[1] == [""]


def test_numbers_are_kept_as_vectors_are(path: Path) -> None:
    log = RecordLog(path, HEADER, 1000)
    log.add(keyed(1, 2), np.array([7, 1 << 20], np.uint32))
    assert RecordLog(path, HEADER, 1000).find([1, 2, 3]) == {1: 7, 2: 1 << 20}
    assert [part.tolist() for part in RecordLog(path, HEADER, 1000).read()] == [[1, 2], [7, 1 << 20]]


def test_a_log_sees_what_another_one_adds(path: Path) -> None:
    one, other = RecordLog(path, HEADER, 1000), RecordLog(path, HEADER, 1000)
    for key in range(1, 7):
        (one if key % 2 else other).add(keyed(key), np.full((1, 4), key, np.float32))
    assert sorted(one.find(range(9))) == sorted(other.find(range(9))) == [1, 2, 3, 4, 5, 6]


def test_a_folder_that_cannot_be_written_leaves_the_vectors_in_memory() -> None:
    encoder = StubEncoder(dim=8)
    vectors = QueryVectors(encoder, RecordLog(Path("/dev/null/x/q.log"), HEADER, 9))
    assert (vectors(["one"]) == vectors(["one"])).all() and encoder.asked == [["one"]]


def _write(arguments: tuple[str, int]) -> None:
    path, start = arguments
    log = RecordLog(Path(path), HEADER, 1000)
    for key in range(start, start + 200):
        log.add(keyed(key), np.full((1, 4), key, np.float32))


def test_processes_that_append_to_one_file_lose_nothing(path: Path) -> None:
    RecordLog(path, HEADER, 1000).add(keyed(1), np.ones((1, 4), np.float32))
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_write, [(str(path), 1000), (str(path), 2000)])
    found = RecordLog(path, HEADER, 1000).find([1, *range(1000, 1200), *range(2000, 2200)])
    assert len(found) == 401 and all((row == key).all() for key, row in found.items())
