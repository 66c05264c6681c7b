"""A run folder holds everything, reads back equal, and is written file by whole file."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path

import pandas as pd
import pytest

from tests.report.results import EVIL, result
from toolkit.errors import InputError
from toolkit.experiment.comparison.result import Comparison

NAMES = [
    "passes.parquet",
    "problems.jsonl",
    "report.html",
    "run.toml",
    "sessions.parquet",
    "summary.csv",
    "turns.parquet",
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return result().save(tmp_path_factory.mktemp("run") / "deep" / "er")


def test_the_folder_holds_the_files_that_the_interface_names(folder: Path) -> None:
    assert sorted(one.name for one in folder.iterdir()) == NAMES


def test_a_run_reads_back_equal(folder: Path) -> None:
    back = Comparison.load(folder)
    for name in ("sessions", "turns", "passes"):
        pd.testing.assert_frame_equal(getattr(back, name), getattr(result(), name))
    pd.testing.assert_frame_equal(back.summary, result().summary, check_dtype=False)
    assert back.problems == result().problems
    assert dict(back.about) == dict(result().about)
    assert tomllib.loads((folder / "run.toml").read_text("utf-8")) == {"command": "compare", **result().about}


def test_every_problem_is_a_line_of_json(folder: Path) -> None:
    lines = [json.loads(line) for line in (folder / "problems.jsonl").read_text("utf-8").splitlines()]
    assert lines[-1] == {"path": EVIL, "line": 3, "code": EVIL, "message": EVIL}
    assert len(lines) == len(result().problems)


def test_the_summary_is_a_table_for_other_programs(folder: Path) -> None:
    assert list(pd.read_csv(folder / "summary.csv").columns) == list(result().summary.columns)


def test_a_folder_that_is_no_run_is_refused_and_what_it_lacks_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="lacks run.toml, summary.csv, passes.parquet"):
        Comparison.load(tmp_path)


@pytest.mark.parametrize("name", ["run.toml", "summary.csv", "passes.parquet", "problems.jsonl"])
def test_a_damaged_file_of_a_run_is_an_input_error_that_names_the_folder(
    folder: Path, tmp_path: Path, name: str
) -> None:
    folder = shutil.copytree(folder, tmp_path / "run")
    (folder / name).write_bytes(b"\x00{[")
    with pytest.raises(InputError, match="run") as raised:
        Comparison.load(folder)
    assert str(folder) in str(raised.value)
