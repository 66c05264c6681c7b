"""Counts are kept on disk by digest, and equal to fresh ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.errors import ToolkitWarning
from toolkit.tokens.vocabulary import kept_counts
from toolkit.tokens.vocabulary.kept_counts import KeptCounts


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    return tmp_path


def run(*texts: str, version: str = "1") -> tuple[list[int], list[str]]:
    """What a new process counts for texts, and what it had to count itself."""
    counted: list[str] = []
    counts = KeptCounts(lambda text: counted.append(text) or len(text), "letters", version)
    found = [counts(text) for text in texts]
    counts.keep()
    return found, counted


def test_a_later_run_counts_nothing_twice_and_gets_the_same(folder: Path) -> None:
    assert run("one", "three", "one") == ([3, 5, 3], ["one", "three"])
    assert run("three", "one", "eleven") == ([5, 3, 6], ["eleven"])


def test_counts_of_another_version_are_not_used(folder: Path) -> None:
    run("one")
    assert run("one", version="2")[1] == ["one"]


def test_no_text_is_written(folder: Path) -> None:
    run("my private words")
    (file,) = (folder / "counts").iterdir()
    assert b"private" not in file.read_bytes() and file.stat().st_mode & 0o077 == 0


def test_a_file_that_is_cut_is_left_alone_and_counted_without(folder: Path) -> None:
    run("one", "three")
    (file,) = (folder / "counts").iterdir()
    file.write_bytes(file.read_bytes()[:5000])
    for _ in range(2):
        with pytest.warns(ToolkitWarning, match="left alone"):
            assert run("one", "three")[1] == ["one", "three"]
    assert file.stat().st_size == 5000


def test_new_counts_are_written_in_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept_counts, "_BATCH", 3)
    counts = KeptCounts(len, "letters", "1")
    written = [len(list(folder.rglob("*.sqlite"))) for text in ("a", "b", "c") if counts(text)]
    assert written == [0, 0, 1]


def test_a_folder_that_cannot_be_written_changes_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", "/dev/null/x")
    assert run("one", "one") == ([3, 3], ["one"])
