"""What commands print: JSON that is JSON, tables that line up, problems on standard error."""

from __future__ import annotations

import json

import numpy as np
import pytest

from toolkit.commands.output import need, no_sessions, print_json, print_table, tell_problems
from toolkit.errors import MissingExtra
from toolkit.formats.files import Problem


def test_json_is_a_list_with_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": np.int64(1), "b": float("nan")}, {"a": 2, "b": "ü"}])
    out = capsys.readouterr().out
    assert json.loads(out) == [{"a": 1, "b": None}, {"a": 2, "b": "ü"}]
    assert out.splitlines()[1] == '{"a": 1, "b": null},'


def test_no_rows_are_an_empty_list(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([])
    assert json.loads(capsys.readouterr().out) == []


def test_numbers_stand_to_the_right_and_words_to_the_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [("a", 10), ("long name", 2)])
    assert capsys.readouterr().out.splitlines() == ["name        n", "---------  --", "a          10", "long name   2"]


def test_a_table_without_rows_is_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "n"), [])
    assert capsys.readouterr().out.splitlines()[0].split() == ["name", "n"]


def test_problems_are_counted_by_kind_and_the_first_shown(capsys: pytest.CaptureFixture[str]) -> None:
    tell_problems([Problem("a", n, "bad", "it is.") for n in range(1, 11)], ", all in b")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "10 problems: 10 × bad"
    assert lines[1] == "  a:1: it is. [bad]"
    assert lines[-1] == "  … and 2 more, all in b"


def test_without_problems_nothing_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    tell_problems([])
    assert capsys.readouterr().err == ""


def test_a_missing_package_says_how_to_get_it() -> None:
    with pytest.raises(MissingExtra, match=r"pip install 'selector-toolkit\[report\]'"):
        need("a_package_that_nobody_has", "report")


def test_the_first_problem_stands_in_the_error_for_files_without_a_session() -> None:
    assert "a:2: it is. [bad]" in str(no_sessions([Problem("a", 2, "bad", "it is.")]))
