"""A set appears whole or not at all, says where it comes from, and is read by the other commands."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.formats.datasets.wheels import answer, bfcl_members, function, json_lines, pinned, question, wheel
from toolkit.errors import InputError
from toolkit.formats.catalogs.load import load_catalog
from toolkit.formats.datasets.fetching import PROVENANCE, QUERIES, SESSIONS, TOOLS, fetch, is_there
from toolkit.formats.datasets.sets import DataSet, data_sets
from toolkit.formats.sessions import load_sessions

DOWNLOADS = pytest.mark.skipif("TOOLKIT_DOWNLOAD" not in os.environ, reason="TOOLKIT_DOWNLOAD=1 downloads packages")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    rows = json_lines(question("q1", "Add.", function("add")), question("q2", "Sing.", function("sing")))
    members: Mapping[str, Any] = {
        **bfcl_members(multiple=rows, answers_multiple=json_lines(answer("q1", "add"))),
        "../../evil.txt": "out",
        "/evil.txt": "out",
    }
    (tmp_path / "packages").mkdir()
    return wheel(tmp_path / "packages" / "bfcl_eval-1-py3-none-any.whl", members)


@pytest.fixture
def chosen(path: Path) -> DataSet:
    return pinned("bfcl-single", path)


def test_a_fetched_set_has_its_files_and_where_they_come_from(path: Path, chosen: DataSet, tmp_path: Path) -> None:
    problems = fetch(chosen, tmp_path / "deep" / "out", lambda one, place: path)
    out = tmp_path / "deep" / "out"
    assert sorted(one.name for one in out.iterdir()) == ["README.md", PROVENANCE, QUERIES, TOOLS]
    about = json.loads((out / PROVENANCE).read_text())
    assert (about["set"], about["sha256"], about["licence"]) == ("bfcl-single", chosen.sha256, "Apache-2.0")
    assert (about["counts"], about["skipped"]) == ({"tools": 2, "queries": 1, "sessions": 0}, {"bad_row": 1})
    assert [one.code for one in problems] == ["bad_row"]
    readme = (out / "README.md").read_text()
    assert chosen.sha256 in readme and "1 × bad_row" in readme and chosen.note in readme


def test_no_name_inside_a_package_leads_out_of_the_folder(path: Path, chosen: DataSet, tmp_path: Path) -> None:
    before = set(tmp_path.rglob("*"))
    fetch(chosen, tmp_path / "out", lambda one, place: path)
    new = set(tmp_path.rglob("*")) - before
    assert {one.name for one in new} == {"out", "README.md", PROVENANCE, QUERIES, TOOLS}
    assert not list(tmp_path.rglob("evil.txt")) and not Path("/evil.txt").exists()


def test_a_set_is_there_as_long_as_its_files_are_as_they_were_written(
    path: Path, chosen: DataSet, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    assert not is_there(chosen, out)
    fetch(chosen, out, lambda one, place: path)
    assert is_there(chosen, out)
    assert not is_there(data_sets()["bfcl-single"], out)
    with (out / TOOLS).open("a") as file:
        file.write("\n")
    assert not is_there(chosen, out)
    (out / TOOLS).unlink()
    assert not is_there(chosen, out)
    (out / PROVENANCE).write_text("[]")
    assert not is_there(chosen, out)


def test_an_empty_folder_is_taken_and_a_full_one_is_left_alone(path: Path, chosen: DataSet, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    fetch(chosen, tmp_path / "empty", lambda one, place: path)
    assert is_there(chosen, tmp_path / "empty")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="give another --out"):
        fetch(chosen, tmp_path / "full", lambda one, place: path)
    assert [one.name for one in (tmp_path / "full").iterdir()] == ["mine.txt"]


def test_a_file_in_the_place_of_the_folder_is_told_before_anything_is_downloaded(
    chosen: DataSet, tmp_path: Path
) -> None:
    (tmp_path / "out").write_text("mine")

    def get(one: DataSet, place: Path) -> Path:
        raise AssertionError("downloaded")

    with pytest.raises(InputError, match="is a file"):
        fetch(chosen, tmp_path / "out", get)


def test_the_current_folder_is_not_swapped_under_our_feet(
    path: Path, chosen: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(InputError, match="is the current folder"):
        fetch(chosen, Path("."), lambda one, place: path)


def test_an_interruption_leaves_nothing_behind(
    path: Path, chosen: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: Any) -> Path:
        raise KeyboardInterrupt

    before = set(tmp_path.rglob("*"))
    with pytest.raises(KeyboardInterrupt):
        fetch(chosen, tmp_path / "out", interrupted)
    monkeypatch.setattr("toolkit.formats.datasets.fetching._readme", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch(chosen, tmp_path / "out", lambda one, place: path)
    assert set(tmp_path.rglob("*")) == before


def test_a_set_that_another_process_has_just_put_there_is_taken_as_it_is(
    path: Path, chosen: DataSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"

    def first(one: DataSet, place: Path) -> Path:
        fetch(chosen, out, lambda one, place: path)
        return path

    fetch(chosen, out, first)
    assert is_there(chosen, out)
    assert [one.name for one in tmp_path.glob(".out.*")] == []


@DOWNLOADS
@pytest.mark.parametrize("chosen", data_sets().values(), ids=lambda one: one.name)
def test_the_real_package_gives_the_counts_of_the_list(chosen: DataSet, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert fetch(chosen, out) == ()
    about = json.loads((out / PROVENANCE).read_text())
    assert about["counts"] == {"tools": chosen.tools, "queries": chosen.queries, "sessions": chosen.sessions}
    ids = {tool["id"] for tool in map(json.loads, (out / TOOLS).read_text().splitlines())}
    assert len(ids) == chosen.tools
    assert {one.code for one in load_catalog(out / TOOLS).problems} <= {"duplicate_name"}
    if chosen.queries:
        gold = [one for line in (out / QUERIES).read_text().splitlines() for one in json.loads(line)["gold"]]
        assert gold and set(gold) <= ids
    if chosen.sessions:
        assert len(load_sessions(out / SESSIONS)) == chosen.sessions
