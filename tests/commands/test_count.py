"""`toolkit count` prints one table whatever its rows hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from toolkit.cli import app

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
