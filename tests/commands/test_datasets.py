"""`toolkit datasets`: which public sets there are, and getting one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.datasets.wheels import answer, bfcl_members, function, json_lines, pinned, question, wheel
from toolkit.cli import main
from toolkit.formats.datasets import downloading
from toolkit.formats.datasets import sets as known
from toolkit.formats.datasets.downloading import DownloadError

KEYS = {"name", "about", "tools", "queries", "sessions", "download_bytes", "package", "licence", "folder"}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tiny package of bfcl-single, to which the list of sets is pinned."""
    rows = json_lines(question("q1", "Add two numbers.", function("add")), question("q2", "Sing.", function("sing")))
    members = bfcl_members(multiple=rows, answers_multiple=json_lines(answer("q1", "add")))
    path = wheel(tmp_path / "bfcl_eval-1-py3-none-any.whl", members)
    sets = {**known.data_sets(), "bfcl-single": pinned("bfcl-single", path)}
    monkeypatch.setattr(known, "data_sets", lambda: sets)
    return path


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    assert main(["datasets", "list", "--json"]) == 0
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)}


def test_the_list_has_what_each_set_holds_and_where_it_comes_from(capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(capsys)
    assert set(rows) == {"bfcl-single", "bfcl-multi-turn", "livemcpbench", "nestful"}
    assert set(rows["nestful"]) == KEYS
    assert (rows["nestful"]["package"], rows["nestful"]["folder"]) == ("nestful-wrapper==0.1.7", None)


def test_a_table_is_printed_without_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "list"]) == 0
    told = capsys.readouterr().out
    assert told.split()[:4] == ["name", "tools", "queries", "sessions"]
    assert "toolkit datasets fetch NAME" in told


def test_a_fetched_set_is_listed_told_and_ranked(
    archive: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", "fetch", "bfcl-single", "--archive", str(archive)]) == 0
    told = capsys.readouterr()
    folder = cache / "datasets" / "bfcl-single"
    assert "bfcl-single is there: 2 tools, 1 queries (Apache-2.0)" in told.out and str(folder) in told.out
    assert "1 × bad_row" in told.err
    assert listed(capsys)["bfcl-single"]["folder"] == str(folder)
    command = told.out.partition("Try: toolkit ")[2].split()
    assert main([*command, "--retriever", "lexical", "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["queries"], row["tools"], row["recall@1"]) == (1, 2, 1.0)


def test_a_second_fetch_downloads_nothing(
    archive: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(downloading, "download", lambda one, place: asked.append(one.name) or archive)
    for words in ("is there: 2 tools", "was there already: 2 tools"):
        assert main(["datasets", "fetch", "bfcl-single"]) == 0
        assert words in capsys.readouterr().out
    assert asked == ["bfcl-single"]


def test_out_is_the_folder_that_is_made(archive: Path, tmp_path: Path, cache: Path) -> None:
    assert main(["datasets", "fetch", "bfcl-single", "--archive", str(archive), "--out", str(tmp_path / "o")]) == 0
    assert (tmp_path / "o" / "tools.jsonl").exists() and not cache.exists()


def test_an_unknown_name_is_status_2_and_told_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["datasets", "fetch", "bfcl-singel"]) == 2
    assert "Did you mean 'bfcl-single'?" in capsys.readouterr().err


def test_a_download_that_fails_is_status_2_and_leaves_nothing(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: Any) -> Path:
        raise DownloadError("pip could not download it.", hint="Check the network.")

    monkeypatch.setattr(downloading, "download", fails)
    assert main(["datasets", "fetch", "nestful"]) == 2
    assert "Check the network." in capsys.readouterr().err
    assert not cache.exists()


def test_another_digest_is_status_2_and_leaves_nothing(
    archive: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["datasets", "fetch", "nestful", "--archive", str(archive)]) == 2
    assert "is not what was pinned" in capsys.readouterr().err
    assert not cache.exists()


def test_a_folder_that_holds_something_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    assert main(["datasets", "fetch", "nestful", "--out", str(tmp_path)]) == 2
    assert "give another --out" in capsys.readouterr().err


def test_an_interruption_is_status_130(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: Any) -> Path:
        raise KeyboardInterrupt

    monkeypatch.setattr(downloading, "download", interrupted)
    assert main(["datasets", "fetch", "nestful"]) == 130
    assert not cache.exists()
