"""BFCL's multi turn becomes sessions of reference calls, with the tools that each pass had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.formats.datasets.wheels import function, json_lines, wheel
from toolkit.errors import InputError
from toolkit.formats.datasets.bfcl_multi_turn import CATEGORIES, CLASSES, convert, reference_call
from toolkit.formats.datasets.bfcl_single import FOLDER
from toolkit.formats.datasets.converted import Converted
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem
from toolkit.tool import Tool

LS, SORT = "mcp.GorillaFileSystem.ls", "mcp.GorillaFileSystem.sort"


def converted(folder: Path, category: str, answers: list[list[str]], **task: Any) -> tuple[Converted, list[Problem]]:
    members = {f"{FOLDER}/multi_turn_func_doc/{stem}.json": "" for stem in CLASSES.values()}
    for other in CATEGORIES:
        members[f"{FOLDER}/BFCL_v4_multi_turn_{other}.json"] = ""
        members[f"{FOLDER}/possible_answer/BFCL_v4_multi_turn_{other}.json"] = ""
    files = [function("ls", a="boolean"), function("sort", file_name="string")]
    members[f"{FOLDER}/multi_turn_func_doc/gorilla_file_system.json"] = json_lines(*files)
    members[f"{FOLDER}/multi_turn_func_doc/math_api.json"] = json_lines(function("add"))
    row = {"id": "t1", "involved_classes": ["GorillaFileSystem"], **task}
    members[f"{FOLDER}/BFCL_v4_multi_turn_{category}.json"] = json_lines(row)
    members[f"{FOLDER}/possible_answer/BFCL_v4_multi_turn_{category}.json"] = json_lines(
        {"id": "t1", "ground_truth": answers}
    )
    problems: list[Problem] = []
    return convert(Package(wheel(folder / "bfcl_eval-1-py3-none-any.whl", members)), problems), problems


def said(*texts: str) -> list[list[dict[str, str]]]:
    return [[{"role": "user", "content": text}] if text else [] for text in texts]


def test_each_reference_call_is_a_pass_of_its_turn(tmp_path: Path) -> None:
    found, problems = converted(
        tmp_path, "base", [["ls(a=True)", "sort('x')"], ["ls()"]], question=said("List.", "Again.")
    )
    (session,) = found.sessions
    assert [turn.words for turn in session.turns] == ["List.", "Again."]
    assert [(call.id, call.name, call.arguments) for call in session.calls()] == [
        ("c1", LS, {"a": True}),
        ("c2", SORT, {"file_name": "x"}),
        ("c3", LS, {}),
    ]
    assert {one.declared for one in session.passes()} == {(LS, SORT)}
    assert [(tool["id"], tool["server"]) for tool in found.tools][-1] == ("add", "MathAPI")
    assert not problems


def test_a_function_held_back_comes_by_an_event_and_is_declared_from_then_on(tmp_path: Path) -> None:
    task = {"question": said("List.", "", "Again."), "missed_function": {"1": ["sort"]}}
    found, _ = converted(tmp_path, "miss_func", [["ls()"], ["sort('x')"], ["ls()"]], **task)
    (session,) = found.sessions
    assert [one.declared for one in session.passes()] == [(LS,), (LS, SORT), (LS, SORT)]
    assert [[event.body["added"] for event in turn.events] for turn in session.turns] == [[], [[SORT]], []]


def test_a_function_that_a_task_excludes_does_not_exist_in_it(tmp_path: Path) -> None:
    found, _ = converted(tmp_path, "base", [["ls()"]], question=said("List."), excluded_function=["sort"])
    assert [tool.name for tool in found.sessions[0].catalog] == [LS]


def test_a_task_whose_answer_calls_something_else_is_skipped_and_counted(tmp_path: Path) -> None:
    found, problems = converted(tmp_path, "base", [["__import__('os')"]], question=said("List."))
    assert not found.sessions
    assert [(one.line, one.code) for one in problems] == [(1, "bad_row")]
    assert "calls none of the task's functions" in problems[0].message


@pytest.mark.parametrize("text", ["ls", "os.ls()", "other()", "ls()()"])
def test_only_a_plain_call_of_a_known_function_is_one(text: str) -> None:
    with pytest.raises(InputError, match="calls none of the task's functions"):
        reference_call("c1", text, {"ls": Tool(LS)})
