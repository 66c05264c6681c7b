"""`toolkit cache` shows and clears what the toolkit keeps, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from toolkit.cli import main
from toolkit.store import kept


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    kept("vectors", {"digest": "d"}).put({1: bytes(5000)})
    kept("counts", {"digest": "d"}).put({1: b"1"})
    for name in ("vectors/notes.txt", "datasets/own/tools.jsonl", "datasets/set/provenance.json", "calibrations.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("[]")
    return tmp_path


def files(folder: Path) -> set[str]:
    return {
        one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file() and one.suffix != ".sqlite"
    }


def sizes(capsys: pytest.CaptureFixture[str]) -> dict[str, int]:
    capsys.readouterr()
    assert main(["cache", "--json"]) == 0
    return {row["kind"]: row["bytes"] for row in json.loads(capsys.readouterr().out)}


def test_it_says_what_lies_where_and_how_large(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = sizes(capsys)
    assert found["vectors"] >= 5000 and found["queries"] == 0 and found["datasets"] == 2
    assert main(["cache"]) == 0
    assert f"MB in {folder}." in capsys.readouterr().out


def test_a_kind_is_cleared_alone(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--clear", "vectors"]) == 0
    assert "vectors: 1 file removed" in capsys.readouterr().err
    found = sizes(capsys)
    assert found["vectors"] == 0 and found["counts"] > 0


def test_clearing_all_leaves_the_users_files_and_what_cannot_be_made_again(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["cache", "--clear", "all"]) == 0
    assert files(folder) == {"vectors/notes.txt", "datasets/own/tools.jsonl", "calibrations.json"}
    assert main(["cache", "--clear", "calibrations.json"]) == 0
    assert not (folder / "calibrations.json").exists()


def test_an_unknown_kind_is_refused_and_nothing_cleared(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "--clear", "vectors", "--clear", "vektors"]) == 2
    assert "Did you mean 'vectors'?" in capsys.readouterr().err
    assert sizes(capsys)["vectors"] >= 5000


def test_where_nothing_is_kept_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path / "none"))
    assert set(sizes(capsys).values()) == {0}
