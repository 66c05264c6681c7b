"""BFCL's single turn becomes one catalog and queries with gold."""

from __future__ import annotations

from pathlib import Path

from tests.formats.datasets.wheels import answer, bfcl_members, function, json_lines, question, wheel
from toolkit.formats.datasets.bfcl_single import convert
from toolkit.formats.datasets.converted import Converted
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem


def converted(folder: Path, **splits: str) -> tuple[Converted, list[Problem]]:
    problems: list[Problem] = []
    path = wheel(folder / "bfcl_eval-1-py3-none-any.whl", bfcl_members(**splits))
    return convert(Package(path), problems), problems


def test_a_question_gets_the_ids_of_its_own_functions_and_of_those_that_answer_it(tmp_path: Path) -> None:
    one = question("q1", "Add 2 and 3.", function("add", a="float"), function("sub"))
    found, problems = converted(
        tmp_path, parallel=json_lines(one), answers_parallel=json_lines(answer("q1", "add", "add"))
    )
    assert found.queries == [
        {"id": "q1", "query": "Add 2 and 3.", "gold": ["add"], "candidates": ["add", "sub"], "split": "parallel"}
    ]
    assert found.tools[0] == {
        "id": "add",
        "name": "add",
        "description": "Does it.",
        "input_schema": {"type": "object", "properties": {"a": {"type": "number"}}},
        "server": "bfcl",
    }
    assert not problems


def test_homonyms_are_told_apart_by_id_and_each_question_means_its_own(tmp_path: Path) -> None:
    rows = [
        question(f"q{i}", "Add.", function("add", text)) for i, text in enumerate(("Adds.", "Adds a row.", "Adds."))
    ]
    answers = json_lines(*(answer(f"q{i}", "add") for i in range(3)))
    found, _ = converted(tmp_path, multiple=json_lines(*rows), answers_multiple=answers)
    assert [tool["id"] for tool in found.tools] == ["add", "add#2"]
    assert [tool["name"] for tool in found.tools] == ["add", "add"]
    assert [query["gold"] for query in found.queries] == [["add"], ["add#2"], ["add"]]


def test_a_question_that_no_function_answers_has_empty_gold(tmp_path: Path) -> None:
    found, problems = converted(tmp_path, irrelevance=json_lines(question("q1", "Sing.", function("add"))))
    assert [(query["gold"], query["candidates"]) for query in found.queries] == [([], ["add"])]
    assert not problems


def test_what_the_user_said_last_is_the_query(tmp_path: Path) -> None:
    one = question("q1", "", function("add"))
    one["question"] = [
        [{"role": role, "content": text} for role, text in (("user", "Hi"), ("assistant", "?"), ("user", "Sing"))]
    ]
    found, _ = converted(tmp_path, irrelevance=json_lines(one))
    assert [query["query"] for query in found.queries] == ["Sing"]


def test_a_row_without_answer_or_with_a_foreign_one_is_skipped_and_counted(tmp_path: Path) -> None:
    rows = [question(id, "Add.", function("add")) for id in ("q1", "q2", "q3")]
    answers = json_lines(answer("q1", "add"), answer("q2", "divide"))
    found, problems = converted(tmp_path, multiple=json_lines(*rows), answers_multiple=answers)
    assert [query["id"] for query in found.queries] == ["q1"]
    assert [one.code for one in problems] == ["bad_row", "bad_row"]
    assert [one.line for one in problems] == [2, 3]
    assert "'divide' is none of the tools" in problems[0].message and "no answer to 'q3'" in problems[1].message
    assert [tool["id"] for tool in found.tools] == ["add"]
