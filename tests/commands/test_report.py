"""`toolkit report`: the page again from a run folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.report.results import result
from toolkit.cli import main
from toolkit.report import html, run_folder


def test_the_page_is_written_again_and_the_leaderboard_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = result().save(tmp_path / "run")
    before = (folder / "report.html").read_text("utf-8")
    (folder / "report.html").unlink()
    assert main(["report", str(folder)]) == 0
    after = (folder / "report.html").read_text("utf-8")
    assert before.partition("<img")[0] == after.partition("<img")[0]
    assert "oracle (bound)" in capsys.readouterr().out


def test_json_is_the_leaderboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (run_folder, html):
        monkeypatch.setattr(module, "page", lambda *_: "<p>drawn elsewhere</p>")
    folder = result().save(tmp_path / "run")
    assert main(["report", str(folder), "--json"]) == 0
    assert [row["system"] for row in json.loads(capsys.readouterr().out)] == list(result().summary["system"])


def test_a_folder_that_is_no_run_is_status_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path)]) == 2
    assert "is no run folder" in capsys.readouterr().err
