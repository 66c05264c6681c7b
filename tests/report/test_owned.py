"""A run folder is a command's own, or nothing in it is touched."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest

from tests.report.results import result
from toolkit.errors import InputError
from toolkit.report.owned import check_own, command_of, fresh, owned


def left_alone(folder: Path, command: str = "compare") -> str:
    before = {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    with pytest.raises(InputError) as raised:
        check_own(folder, command)
    assert {one: one.read_bytes() for one in folder.rglob("*") if one.is_file()} == before
    return str(raised.value)


def test_a_new_an_empty_and_an_own_folder_are_free(tmp_path: Path) -> None:
    check_own(tmp_path / "new", "compare")
    check_own(tmp_path, "compare")
    with owned(tmp_path, "compare"):
        (tmp_path / "notes.txt").write_text("the user's")
    check_own(tmp_path, "compare")


@pytest.mark.parametrize("name", ["notes.txt", "summary.csv", "run.toml", "parts/x"])
def test_a_folder_with_a_users_file_is_refused_and_says_what_to_do(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("[mine")
    assert "Give another --out, or --force" in left_alone(tmp_path)
    check_own(tmp_path, "compare", force=True)


def test_a_folder_of_another_command_is_refused_and_the_command_named(tmp_path: Path) -> None:
    with owned(tmp_path, "diagnose"):
        pass
    assert "holds a run of toolkit diagnose" in left_alone(tmp_path)


def test_a_default_folder_has_the_time_in_its_name_and_is_always_a_new_one(tmp_path: Path) -> None:
    now = datetime(2026, 11, 30, 10, 15)
    first = fresh("compare", tmp_path, now)
    first.mkdir()
    assert first.name == "compare-20261130-101500"
    assert fresh("compare", tmp_path, now).name == "compare-20261130-101500-2"


def test_latest_points_to_the_last_run_also_to_one_that_was_interrupted(tmp_path: Path) -> None:
    with owned(tmp_path / "a", "compare", latest=True):
        pass
    with pytest.raises(KeyboardInterrupt), owned(tmp_path / "b", "compare", latest=True):
        raise KeyboardInterrupt
    assert (tmp_path / "latest").resolve() == tmp_path / "b" and command_of(tmp_path / "latest") == "compare"


def test_a_users_own_latest_stays(tmp_path: Path) -> None:
    (tmp_path / "latest").mkdir()
    with owned(tmp_path / "a", "compare", latest=True):
        pass
    assert (tmp_path / "latest").is_dir() and not (tmp_path / "latest").is_symlink()


def test_bad_input_leaves_no_folder_and_takes_none_away(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    for name in ("new", "there"):
        with pytest.raises(InputError), owned(tmp_path / name, "compare", latest=True):
            (tmp_path / name / "parts").mkdir()
            raise InputError("no.")
    assert not (tmp_path / "new").exists() and (tmp_path / "there").is_dir()


@pytest.mark.parametrize("name", ["summary.csv", "report.html", "passes.parquet", "run.toml", "problems.jsonl"])
def test_saving_takes_the_place_of_no_file_that_a_comparison_did_not_write(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("mine = 1")
    with pytest.raises(InputError, match=name):
        result().save(tmp_path)
    assert [(one.name, one.read_text("utf-8")) for one in tmp_path.iterdir()] == [(name, "mine = 1")]
