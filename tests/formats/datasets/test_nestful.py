"""NESTFUL's three parts become one catalog and queries with several gold tools."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.formats.datasets.wheels import wheel
from toolkit.formats.datasets.converted import Converted
from toolkit.formats.datasets.nestful import PARTS, convert
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem


def spec(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": "Does it.", "query_parameters": {}, **more}


def converted(folder: Path, **parts: tuple[list[Any], list[Any]]) -> tuple[Converted, list[Problem]]:
    members = {}
    for part, stem in PARTS.items():
        members[f"{stem}-spec.json"], members[f"{stem}-data.json"] = parts.get(part, ([], []))
    problems: list[Problem] = []
    return convert(Package(wheel(folder / "nestful_wrapper-1-py3-none-any.whl", members)), problems), problems


def test_gold_is_each_called_function_once_in_order_without_the_closing_entry(tmp_path: Path) -> None:
    calls = [{"name": name, "arguments": {}} for name in ("find", "book", "find", "var_result")]
    specs = [spec("find"), spec("book")]
    found, problems = converted(tmp_path, sgd=(specs, [{"input": "Find and book.", "output": calls}]))
    assert found.queries == [
        {"id": "sgd_0", "query": "Find and book.", "gold": ["find", "book"], "split": "sgd", "calls": calls}
    ]
    assert not problems


def test_parameters_become_a_schema_whatever_a_part_calls_its_words(tmp_path: Path) -> None:
    given = {
        "city": {"type": "string", "description": "Where.", "required": True, "enum": ["Rome"]},
        "page": {"type": "Date (yyyy)", "required": False, "default": 0},
        "fare": {"required": False, "default_value": "Economy", "allowed_values": ["Economy"]},
        "free": {"allowed_values": []},
    }
    found, _ = converted(tmp_path, executable=([spec("find", query_parameters=given, host="trips.example.com")], []))
    (tool,) = found.tools
    assert tool["server"] == "trips.example.com"
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "Where.", "enum": ["Rome"]},
            "page": {"type": "string", "default": 0},
            "fare": {"enum": ["Economy"], "default": "Economy"},
            "free": {},
        },
        "required": ["city"],
    }


def test_a_question_that_calls_an_unknown_function_is_skipped_and_counted(tmp_path: Path) -> None:
    rows = [{"input": "Fly.", "output": [{"name": "fly"}]}, {"input": "Find.", "output": [{"name": "find"}]}]
    found, problems = converted(tmp_path, glaive=([spec("find")], rows))
    assert [query["id"] for query in found.queries] == ["glaive_1"]
    assert "'fly' is none of the tools" in problems[0].message
