"""Cases made from public bug reports: every one whose kind is known here passes."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.cases.running import CHECKERS, Case, check, main, read_cases
from toolkit.testing import cases as face

FILE = Path(__file__).with_name("open_cases.jsonl")
ALL = [case for name in ("open_cases.jsonl", "more_cases.jsonl") for case in read_cases(FILE.with_name(name))]
NOT_CHECKED_HERE = {"import": "what importers read is checked in tests/formats"}
CASES = [case for case in ALL if case["kind"] not in NOT_CHECKED_HERE]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['id']}-{case['kind']}")
def test_a_case_passes(case: Case) -> None:
    needs = case["expected"].get("needs") or case["input"].get("needs")
    if needs == "semantic" and find_spec("sentence_transformers") is None:
        pytest.skip("needs sentence-transformers")
    assert check(case) == []


def test_a_wrong_expectation_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = FILE.read_text("utf-8").splitlines()[0].replace('"expected": {', '"expected": {"empty": true, ', 1)
    path = tmp_path / "wrong.jsonl"
    path.write_text(wrong + "\n", "utf-8")
    assert main([str(path)]) == 1
    assert capsys.readouterr().out.endswith("0 passed, 1 failed\n")


def test_a_case_of_another_kind_is_left_out_and_the_counts_stand_last(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.jsonl"
    path.write_text('{"id": "x", "kind": "weather", "input": {}, "expected": {}}\n', "utf-8")
    assert main([str(path)]) == 0
    assert capsys.readouterr().out == "1 of kinds not known here were left out.\n0 passed, 0 failed\n"


def test_every_kind_is_checked_or_stands_in_the_list_of_those_that_are_not() -> None:
    assert {case["kind"] for case in ALL} == CHECKERS.keys() | NOT_CHECKED_HERE.keys()


def test_the_command_runs_the_cases_and_says_so_where_the_checkers_are_not_at_hand(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert face.main([]) == 2 and "Example: " in capsys.readouterr().out
    assert face.main(["nowhere.jsonl"]) == 2 and "nowhere.jsonl" in capsys.readouterr().err
    monkeypatch.setattr(face, "_RUNNERS", "tests_elsewhere.cases.running")
    assert face.main([str(FILE)]) == 2
    assert "it is in the tests of the repository" in capsys.readouterr().err
