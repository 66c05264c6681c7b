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


def test_explain_says_term_field_and_score_and_they_add_up(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--catalog", TOOLS, "--retriever", "lexical", "--limit", "3", "--explain"]
    assert main(["search", "branch history", *options, "--json"]) == 0
    for row in json.loads(capsys.readouterr().out):
        assert set(row["why"][0]) == {"term", "field", "score"}
        assert sum(one["score"] for one in row["why"]) == pytest.approx(row["score"], abs=0.01)
    assert main(["search", "branch history", *options]) == 0
    told = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert told[told.index(["name", "term", "field", "score"]) + 2][0].startswith("mcp.")


def test_a_tool_that_the_query_names_is_explained_by_its_name(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--catalog", TOOLS, "--retriever", "lexical", "--limit", "1", "--explain", "--json"]
    assert main(["search", "use git_create_branch", *options]) == 0
    assert json.loads(capsys.readouterr().out)[0]["why"][0]["field"] == "exact name"


@pytest.mark.parametrize("options", [["--regex"], ["--retriever", "regex"], ["--regex", "--retriever", "regex"]])
def test_a_regular_expression_finds_names(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "git_(log|diff)$", "--catalog", TOOLS, *options, "--explain"]) == 0
    told = capsys.readouterr().out
    assert "mcp.git.git_log" in told and "no tool holds" not in told
    assert any(line.split()[1:] == ["git_log", "name", "4.0"] for line in told.splitlines() if line)


def test_an_invalid_pattern_is_status_2_and_names_the_cause(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "[git", "--catalog", TOOLS, "--regex"]) == 2
    told = capsys.readouterr().err
    assert "'[git' is no regular expression: unterminated character set" in told


def test_regex_beside_another_retriever_is_status_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "git", "--catalog", TOOLS, "--regex", "--retriever", "lexical"]) == 2
    assert "--regex" in capsys.readouterr().err


def test_a_hybrid_without_its_encoder_answers_and_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--catalog", TOOLS, "--retriever", "hybrid('no/such/model')", "--json"]
    assert main(["search", "git branch", *options]) == 0
    told = capsys.readouterr()
    assert json.loads(told.out)[0]["name"].startswith("mcp.git.")
    assert told.err.startswith("notice: semantic_unavailable: ")
