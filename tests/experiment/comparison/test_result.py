"""`toolkit.compare`: one call from sessions to a leaderboard."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import toolkit
from tests.builders import ALWAYS, BRANCH, TOOLS, call, said, session, tool, turn
from tests.report.results import EVIL, result
from toolkit.report import run_folder

ONE = [session(turn("create a branch", said("", call(BRANCH.name))))]


def quick(**options: Any) -> Any:
    return toolkit.compare(ONE, options.pop("selectors", ["lazy"]), retriever="lexical", progress=False, **options)


def test_the_face_of_the_package_is_the_function() -> None:
    assert set(quick().summary["system"]) == {*ALWAYS, "lazy"}


def test_sessions_may_come_one_by_one() -> None:
    made = toolkit.compare(iter(ONE), [], retriever="lexical", progress=False)
    assert set(made.summary["system"]) == ALWAYS


def test_tools_around_may_be_any_tools() -> None:
    around = [tool(f"mcp.sea.t{n}") for n in range(5)]
    assert set(quick(catalog=around).turns["visible"]) == {len(TOOLS) + 5 + 1}


def test_tools_are_deferred_by_pattern() -> None:
    board = quick(selectors=["deferred"], defer=["mcp.*"]).summary.set_index("system")
    assert board.loc["deferred", "searched"] == 1


def test_a_comparison_shows_as_its_leaderboard() -> None:
    assert "prompt tokens/turn" in repr(result())
    assert "<table" in result()._repr_html_() and EVIL not in result()._repr_html_()


def test_saving_gives_the_folder_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_folder, "page", lambda *_: "<p>drawn elsewhere</p>")
    assert (result().save(tmp_path / "run") / "report.html").is_file()
