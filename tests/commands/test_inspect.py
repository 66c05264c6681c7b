"""`toolkit inspect`: what is in these files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import DATASET, atif, written
from toolkit.cli import main

KEYS = {"path", "format", "sessions", "turns", "passes", "calls", "tools", "definitions", "usage_passes", "problems"}


def test_json_has_the_keys_of_the_interface_and_counts_what_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(DATASET), "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert set(row) >= KEYS
    assert (row["format"], row["sessions"], row["definitions"], row["problems"]) == ("atif", 41, "recorded", 1)
    assert row["turns"] == 154 and row["calls"] == 228


def test_every_file_is_a_row_and_what_could_not_be_read_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written(tmp_path / "a.jsonl", atif("a"), b"no json\n")
    written(tmp_path / "b.jsonl", b"")
    assert main(["inspect", str(tmp_path), "--json"]) == 0
    told = capsys.readouterr()
    rows = {Path(row["path"]).name: row for row in json.loads(told.out)}
    assert (rows["a.jsonl"]["sessions"], rows["a.jsonl"]["problems"]) == (1, 1)
    assert (rows["b.jsonl"]["format"], rows["b.jsonl"]["problems"]) == ("unknown", 1)
    assert "a.jsonl:2" in told.err and "[empty]" in told.err


def test_a_table_is_printed_without_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(DATASET)]) == 0
    assert capsys.readouterr().out.split()[:3] == ["path", "format", "sessions"]


def test_a_path_that_does_not_exist_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(tmp_path / "nothing")]) == 2
    assert "does not exist" in capsys.readouterr().err


def test_a_folder_without_a_session_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "settings.json", {"theme": "dark"})
    assert main(["inspect", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert "1 × not_a_session" in told and "no session could be read" in told


def test_several_files_have_a_line_a_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(tmp_path / "a.jsonl", atif("a"))
    written(tmp_path / "b.jsonl", {"user": "Read it.", "tools": ["read"]})
    assert main(["inspect", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[-2:]] == [["atif", "1"], ["plain", "1"]]
