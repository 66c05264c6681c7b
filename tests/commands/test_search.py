"""`toolkit search`: what `tools.search` would answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.builders import DATASET, written
from toolkit.cli import main

TOOLS = str(DATASET.with_name("tools.jsonl"))


def test_the_answer_is_a_table_best_first(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "create a git branch", "--catalog", TOOLS, "--retriever", "lexical"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["rank", "score", "name", "description"]
    assert any("mcp.git.git_create_branch" in line for line in lines[2:7])
    assert "tools match" in lines[-1]


def test_json_rows_say_rank_score_name_and_id(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "branch", "--catalog", TOOLS, "--retriever", "lexical", "--limit", "2", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["rank"] for row in rows] == [1, 2]
    assert set(rows[0]) >= {"rank", "score", "name", "id", "description"}
    assert rows[0]["score"] >= rows[1]["score"]


def test_words_that_no_tool_holds_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "flurbometer branch", "--catalog", TOOLS, "--retriever", "lexical"]) == 0
    assert "no tool holds: flurbometer" in capsys.readouterr().out


def test_no_match_is_an_empty_answer_and_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "flurbometer", "--catalog", TOOLS, "--retriever", "lexical", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_bad_row_of_the_catalog_is_told_and_the_search_runs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path / "t.jsonl", {"name": "close_issue"}, b"no json\n")
    assert main(["search", "close issue", "--catalog", str(path), "--retriever", "lexical", "--json"]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)[0]["name"] == "builtin.close_issue"
    assert f"{path}:2" in told.err


@pytest.mark.parametrize("options", [["--catalog", "nothing.jsonl"], [], ["--catalog", TOOLS, "--limit", "0"]])
def test_a_wrong_option_is_status_2(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "x", *options]) == 2
    assert capsys.readouterr().err.startswith("toolkit: ")
