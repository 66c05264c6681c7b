"""What commands print: JSON that is JSON, tables that line up, problems on standard error."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.builders import DATASET
from toolkit.cli import main
from toolkit.commands.output import (
    check_file,
    check_folder,
    print_json,
    print_table,
    tell_problems,
)
from toolkit.errors import InputError
from toolkit.formats.files import Problem

CATALOG, QUERIES = DATASET.with_name("tools.jsonl"), DATASET.with_name("queries.jsonl")


def test_json_is_a_list_with_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": np.int64(1), "b": float("nan")}, {"a": 2, "b": "ü"}])
    out = capsys.readouterr().out
    assert json.loads(out) == [{"a": 1, "b": None}, {"a": 2, "b": "ü"}]
    assert out.splitlines()[1] == '{"a": 1, "b": null},'


def test_no_rows_are_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([])
    assert json.loads(capsys.readouterr().out) == []


def test_numbers_stand_to_the_right_and_words_to_the_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [("a", 10), ("long name", 2)])
    assert capsys.readouterr().out.splitlines() == ["name        n", "---------  --", "a          10", "long name   2"]


def test_a_table_without_rows_is_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [])
    assert capsys.readouterr().out.splitlines()[0].split() == ["name", "n"]


def test_problems_are_counted_by_kind_and_the_first_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tell_problems([Problem("a", n, "bad", "it is.") for n in range(1, 11)], ", all in b")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "10 problems: 10 × bad"
    assert lines[1] == "  a:1: it is. [bad]"
    assert lines[-1] == "  … and 2 more, all in b"


def test_without_problems_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    tell_problems([])
    assert capsys.readouterr().err == ""


def test_a_place_where_no_folder_can_stand_is_told_and_a_good_one_is_not_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(InputError, match="no folder can stand at .* it is a file"):
            check_folder(place)
    check_folder(tmp_path)
    check_folder(tmp_path / "new" / "run")
    assert not (tmp_path / "new").exists()


def test_a_place_where_no_file_can_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="it is a folder"):
        check_file(tmp_path, b"x")
    with pytest.raises(InputError, match="there is no folder"):
        check_file(tmp_path / "none" / "file", b"x")
    check_file(tmp_path / "file", b"x")
    assert not (tmp_path / "file").exists()


@pytest.mark.parametrize("command", ["compare", "diagnose", "fit"])
def test_a_command_asks_whether_it_can_write_before_it_reads(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "out"
    bad.mkdir() if command == "fit" else bad.touch()
    assert main([command, str(tmp_path / "no sessions"), "--out", str(bad)]) == 2
    assert "Give another --out." in capsys.readouterr().err


WRITING: dict[str, tuple[str, list[str]]] = {
    "fit": ("usage.json", ["fit", str(DATASET), "--limit", "2", "--retriever", "lexical", "--out", "FILE"]),
    "break-even": (
        "cost.svg",
        *[["break-even", str(DATASET), "--limit", "2", "--retriever", "lexical", "--sizes", "20", "--plot", "FILE"]],
    ),
    "catalog cost": ("cost.png", ["catalog", "cost", str(CATALOG), "--plot", "FILE"]),
    "rank-eval": (
        "rows.jsonl",
        *[["rank-eval", "--catalog", str(CATALOG), "--queries", str(QUERIES), "--retriever", "lexical"]],
    ),
    "selector-server": ("schema.json", ["selector-server", "--schema", "FILE"]),
}


@pytest.mark.parametrize("command", WRITING)
def test_a_file_that_is_there_is_written_only_when_the_command_made_it(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, words = WRITING[command]
    file = tmp_path / name
    asked = [str(file) if word == "FILE" else word for word in words]
    asked += ["--per-query", str(file)] if command == "rank-eval" else []
    file.write_text("a text of mine\n")
    assert main(asked) == 2
    assert f"{name} is there already, and this command did not write it" in capsys.readouterr().err
    assert file.read_text() == "a text of mine\n"
    assert main([*asked, "--force"]) == 0 and file.read_bytes() != b"a text of mine\n"
    assert main(asked) == 0, "its own file is written again"
