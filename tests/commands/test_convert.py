"""`toolkit import`: what is written and what is said."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import atif, written
from toolkit.cli import main


def test_a_folder_is_imported_and_the_second_run_keeps_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    written(tmp_path / "in" / "a.jsonl", atif("a"))
    written(tmp_path / "in" / "b.json", {"theme": "dark"})
    arguments = ["import", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--json"]
    rows = []
    for _ in range(2):
        assert main(arguments) == 0
        rows += json.loads(capsys.readouterr().out)
    assert [(row["files"], row["written"], row["kept"]) for row in rows] == [(2, 1, 0), (2, 0, 1)]


def test_nothing_to_read_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path / "b.json", {"theme": "dark"})
    assert main(["import", str(path), "--out", str(tmp_path / "out")]) == 2
    assert "no session could be read" in capsys.readouterr().err
