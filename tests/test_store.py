"""A store gives back what was put, or nothing; it never ends a run."""

from __future__ import annotations

import multiprocessing
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import ToolkitWarning
from toolkit.store import Store, content_key, kept, whole, write_whole

KEYS = st.integers(-(1 << 63), (1 << 63) - 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    yield Store(tmp_path / "kind" / "s.sqlite")


@given(st.dictionaries(KEYS, st.binary(max_size=40), max_size=8), st.sets(KEYS, max_size=3))
def test_what_was_put_comes_back_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, values: dict[int, bytes], others: set[int]
) -> None:
    one = Store(tmp_path_factory.mktemp("s") / "s.sqlite")
    one.put(values)
    assert one.get([*values, *others]) == values
    assert sorted(one.values()) == sorted(values.values())


def test_of_two_values_of_one_key_the_later_stays(store: Store) -> None:
    store.put({1: b"a"})
    store.put({1: b"b"})
    assert store.get([1]) == {1: b"b"}


def test_only_the_owner_may_read_a_file(store: Store) -> None:
    store.put({1: b"a"})
    assert store.path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("damage", [b"garbage", b"SQLite format 3\0" + bytes(200), None])
def test_a_file_that_is_damaged_counts_as_absent_and_is_left_alone(store: Store, damage: bytes | None) -> None:
    store.put({key: bytes(3000) for key in range(50)})
    data = store.path.read_bytes()
    left = data[: len(data) // 2] if damage is None else damage
    store.path.write_bytes(left)
    assert len(store.get(range(50))) < 50
    with pytest.warns(ToolkitWarning, match="left alone, and nothing is kept there"):
        store.put({key: bytes(3000) for key in range(50)})
    assert store.path.read_bytes() == left


def test_an_empty_file_is_begun(store: Store) -> None:
    store.path.parent.mkdir()
    store.path.touch()
    store.put({1: b"a"})
    assert store.get([1]) == {1: b"a"}


def test_a_value_with_a_changed_byte_is_absent_and_its_neighbours_are_not(store: Store) -> None:
    store.put({1: b"one" * 9, 2: b"two" * 9})
    store.path.write_bytes(store.path.read_bytes().replace(b"twotwo", b"twXtwo", 1))
    assert store.get([1, 2]) == {1: b"one" * 9}


def test_a_file_that_something_else_made_is_left_alone_and_told_of(store: Store) -> None:
    store.path.parent.mkdir()
    with sqlite3.connect(store.path) as other:
        other.execute("CREATE TABLE kept (name TEXT)")
        other.execute("INSERT INTO kept VALUES ('mine')")
    other.close()
    assert store.get([1]) == {} and store.values() == []
    with pytest.warns(ToolkitWarning, match=str(store.path)):
        store.put({1: b"a"})
    with sqlite3.connect(store.path) as other:
        assert other.execute("SELECT name FROM kept").fetchall() == [("mine",)]


def test_a_user_s_text_in_the_place_of_a_store_stays_as_it_is(store: Store) -> None:
    store.path.parent.mkdir()
    store.path.write_text("notes of mine\n" * 100)
    with pytest.warns(ToolkitWarning, match="not a database"):
        store.put({1: b"a"})
    assert store.path.read_text() == "notes of mine\n" * 100


def test_values_that_are_made_otherwise_have_another_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    kept("vectors", {"format": "1", "digest": "d"}).put({1: b"a"})
    assert kept("vectors", {"digest": "d", "format": "1"}).get([1]) == {1: b"a"}
    assert kept("vectors", {"digest": "d", "format": "2"}).get([1]) == {}


@pytest.mark.parametrize("place", ["/dev/null/x/s.sqlite", "/proc/s.sqlite"])
def test_where_nothing_can_be_written_nothing_is_kept_and_nothing_raised(place: str) -> None:
    one = Store(Path(place))
    with pytest.warns(ToolkitWarning, match="nothing is kept"):
        one.put({1: b"a"})
    assert one.get([1]) == {}


def test_a_file_that_may_only_be_read_is_read() -> None:
    code = (
        "import os, sys; from toolkit.store import *; os.geteuid() or os.setuid(65534)\n"
        "s = Store(Path(sys.argv[1])); s.put({2: b'b'}); print(s.get([1, 2]))"
    )
    with tempfile.TemporaryDirectory() as folder:
        one = Store(Path(folder) / "s.sqlite")
        one.put({1: b"a"})
        one.path.chmod(0o444)
        Path(folder).chmod(0o555)
        found = subprocess.run([sys.executable, "-c", code, one.path], capture_output=True, text=True, timeout=60)
        Path(folder).chmod(0o755)
    assert found.stdout.strip() == "{1: b'a'}", found.stderr


def test_a_full_disk_costs_the_new_values_and_keeps_the_old(store: Store) -> None:
    store.put({1: b"a"})
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000));"
        f"from toolkit.store import *; s = Store(Path({str(store.path)!r}));"
        "s.put({2: bytes(100_000)}); print(s.get([1, 2]))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert found.stdout.strip() == "{1: b'a'}", found.stderr
    assert store.get([1, 2]) == {1: b"a"}


def _write(arguments: tuple[str, int]) -> None:
    path, start = arguments
    for key in range(start, start + 100):
        Store(Path(path)).put({key: str(key).encode()})


def test_processes_that_write_one_file_lose_nothing(store: Store) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        pool.map(_write, [(str(store.path), 0), (str(store.path), 1000)])
    found = store.get([*range(100), *range(1000, 1100)])
    assert len(found) == 200 and all(value == str(key).encode() for key, value in found.items())


def test_threads_share_a_store(store: Store) -> None:
    workers = [threading.Thread(target=_write, args=((str(store.path), 1000 * n),)) for n in range(3)]
    for one in workers:
        one.start()
    for one in workers:
        one.join()
    assert len(store.values()) == 300


def test_a_writer_that_is_killed_leaves_whole_values(store: Store) -> None:
    store.put({-1: b"before"})
    code = (
        f"from toolkit.store import *; s = Store(Path({str(store.path)!r}))\n"
        "for n in range(10**6): s.put({n: bytes(20_000)})"
    )
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", code])
        time.sleep(0.4)
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        assert set(map(len, store.values())) <= {6, 20_000} and store.get([-1]) == {-1: b"before"}
    store.put({-2: b"after"})
    assert store.get([-2]) == {-2: b"after"}


def test_a_full_store_keeps_its_newer_half(tmp_path: Path) -> None:
    one = Store(tmp_path / "s.sqlite", most=60_000)
    for key in range(60):
        one.put({key: bytes(2000)})
    found = sorted(one.get(range(60)))
    assert 10 <= len(found) < 40 and found == list(range(60 - len(found), 60))
    assert one.path.stat().st_size <= 60_000


def test_a_file_says_how_its_values_were_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    one = kept("vectors", {"digest": "d"}, {"model": "m"})
    one.put({1: b"a"})
    with sqlite3.connect(one.path) as file:
        assert dict(file.execute("SELECT * FROM about")) == {"digest": "d", "model": "m"}


def test_keys_differ_where_texts_are_cut_differently() -> None:
    assert content_key(("ab", "c")) != content_key(("a", "bc"))
    assert content_key(("\ud800",)) != content_key(("?",))


def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "f"
    write_whole(path, b"old")
    with pytest.raises(ValueError), whole(path) as draft:
        draft.write_bytes(b"half")
        raise ValueError
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
    with pytest.raises(OSError):
        write_whole(tmp_path / "none" / "f", b"")
