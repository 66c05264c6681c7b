"""`toolkit count` prints one table whatever its rows hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from tests.builders import written
from toolkit.cli import app, main

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "hi"}


def run(tmp_path: Path, *bodies: Any, flags: tuple[str, ...] = ()) -> Any:
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(body) + "\n" for body in bodies))
    return CliRunner().invoke(app, ["count", *flags, str(tmp_path / "some.jsonl")])


def test_rows_with_other_parts_stand_under_the_right_columns(tmp_path: Path) -> None:
    claude = {"model": "claude-sonnet-4-5", "system": "Be brief.", "max_tokens": 9, "messages": [USER]}
    said = run(
        tmp_path, {"model": "gpt-4o", "messages": [USER]}, claude, {"model": "gpt-4o", "messages": [SYSTEM, USER]}
    )
    assert said.exit_code == 0
    lines = said.stdout.splitlines()
    head = next(line for line in lines if "messages" in line and "system" in line)
    assert head.split()[-1] == "notes" and len([line for line in lines if "some.jsonl" in line]) == 3


def test_what_is_odd_is_said_and_the_row_counted(tmp_path: Path) -> None:
    odd = {"model": "gpt-4o", "messages": [USER], "tools": [{"type": "hologram_2027"}]}
    said = run(tmp_path, odd, flags=("--json",))
    (row,) = json.loads(said.stdout)
    assert row["method"] == "not countable" and row["high"] is None and "hologram_2027" in said.stderr


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ({}, "nothing that a model is asked"),
        ({"schema_version": "ATIF-v1.7", "agent": {"name": "a"}, "steps": []}, "toolkit inspect"),
        ({"type": "user", "message": {"role": "user", "content": "hi"}}, "toolkit inspect"),
        ({"name": "read", "description": "Reads.", "input_schema": {}}, "toolkit catalog cost"),
        ({"tools": [{"name": "read"}]}, "toolkit catalog cost"),
        ([1], "an object was expected"),
        ({"query": "a", "gold": ["b"]}, "nothing that a model is asked"),
    ],
)
def test_what_is_no_request_is_not_counted(
    row: Any, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "x.jsonl", row)
    assert main(["count", str(path)]) == 2
    told = capsys.readouterr()
    assert says in told.err and f"{path}:1" in told.err and told.out == ""


def test_a_model_that_nobody_knows_is_refused_and_one_of_a_known_family_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "x.jsonl", {"messages": [{"role": "user", "content": "hi"}]})
    assert main(["count", str(path), "--model", "gpt5"]) == 2
    assert "Did you mean 'gpt-5'?" in capsys.readouterr().err
    assert main(["count", str(path), "--model", "gpt-5.99"]) == 0
    assert "by the rules of its family" in capsys.readouterr().err
