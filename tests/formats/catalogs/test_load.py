"""Catalog files of several forms become one catalog; a bad row is noted with its line, the others stay."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.builders import DATASET, written
from toolkit.errors import InputError
from toolkit.formats.catalogs.load import load_catalog, read_tool
from toolkit.tool import Tool

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


@pytest.mark.parametrize(
    ("row", "name", "source"),
    [
        ({"name": "get", "server": "git"}, "mcp.git.get", "mcp:git"),
        ({"name": "mcp.git.get", "server": "git"}, "mcp.git.get", "mcp:git"),
        ({"name": "read"}, "builtin.read", "builtin"),
        ({"name": "builtin.read"}, "builtin.read", "builtin"),
        ({"name": "mcp.git.get"}, "mcp.git.get", "mcp:git"),
        ({"name": "ui.show"}, "ui.show", "core"),
        ({"name": "notes.add", "source": "extension:notes"}, "notes.add", "extension:notes"),
    ],
)
def test_a_row_gets_the_engines_name_and_source(row: dict[str, Any], name: str, source: str) -> None:
    found = read_tool(row)
    assert (found.name, found.source) == (name, source)


@pytest.mark.parametrize("key", ["input_schema", "inputSchema", "parameters"])
def test_a_schema_is_read_under_each_of_its_keys(key: str) -> None:
    assert read_tool({"name": "x", key: SCHEMA}).input_schema == SCHEMA


@pytest.mark.parametrize(
    "whole",
    [
        {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "mcp.a.b", "inputSchema": SCHEMA}]}},
        {"tools": [{"name": "mcp.a.b", "input_schema": SCHEMA}]},
        [{"type": "function", "function": {"name": "mcp.a.b", "parameters": SCHEMA}}],
        [{"function_declarations": [{"name": "mcp.a.b", "parameters": SCHEMA}]}],
        {"functionDeclarations": [{"name": "mcp.a.b", "parameters": SCHEMA}]},
    ],
    ids=["mcp", "anthropic", "openai", "gemini", "gemini in camel case"],
)
def test_each_providers_tool_array_is_read(tmp_path: Path, whole: Any) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps(whole), "utf-8")
    (found,) = load_catalog(path)
    assert found == Tool("mcp.a.b", "", SCHEMA)


def test_of_two_rows_with_one_name_the_first_stays_and_the_other_is_reported(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", {"name": "x", "description": "one"}, {"name": "x", "description": "two"})
    found = load_catalog(path)
    assert [one.description for one in found] == ["one"]
    assert [one.code for one in found.problems] == ["duplicate_name"]
    assert "'builtin.x'" in found.problems[0].message


def test_for_ranking_a_second_tool_of_one_name_stays_where_its_id_is_another(tmp_path: Path) -> None:
    rows = [{"name": "x", "id": id, "description": id} for id in ("a", "b", "c", "b")]
    found = load_catalog(written(tmp_path / "a.jsonl", *rows), homonyms=True)
    assert [(one.name, one.id) for one in found] == [("builtin.x", "a"), ("builtin.x#", "b"), ("builtin.x##", "c")]
    assert [one.code for one in found.problems] == ["name_taken", "name_taken", "name_taken", "duplicate_name"]


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (b"not json\n", "no JSON"),
        (b'{"name": NaN}\n', "no JSON"),
        (b'{"name": "caf\xe9"}\n', "no JSON"),
        (b"[" * 100_000 + b"\n", "no JSON"),
        ({"description": "no name"}, "needs a name"),
        ({"name": ""}, "needs a name"),
        ({"name": 7}, "needs a name"),
        (7, "an object was expected, int came"),
        ({"name": "y", "description": 7}, "must be text, not int"),
        ({"name": "y", "input_schema": [1]}, "must be an object, not list"),
        ({"name": "y", "input_schema": "{oh"}, "no JSON value"),
        ({"name": "y", "annotations": [1]}, "must be an object, not list"),
    ],
)
def test_a_bad_row_is_noted_with_its_line_and_the_others_stay(tmp_path: Path, bad: Any, says: str) -> None:
    path = written(tmp_path / "a.jsonl", {"name": "x"}, bad, {"name": "z"})
    found = load_catalog(path)
    assert [one.name for one in found] == ["builtin.x", "builtin.z"]
    (problem,) = found.problems
    assert (problem.path, problem.line, problem.code) == (str(path), 2, "bad_tool")
    assert says in problem.message


def test_a_bad_item_of_an_array_leaves_its_neighbours(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", [{"name": "x"}, 7, {"name": "z"}])
    found = load_catalog(path)
    assert ([one.name for one in found], len(found.problems)) == (["builtin.x", "builtin.z"], 1)


def test_files_add_up_and_the_earlier_ones_names_win(tmp_path: Path) -> None:
    a = written(tmp_path / "a.jsonl", {"name": "x", "description": "a"})
    b = written(tmp_path / "b.jsonl", {"name": "x", "description": "b"}, {"name": "y"})
    assert [(one.name, one.description) for one in load_catalog(a, b)] == [("builtin.x", "a"), ("builtin.y", "")]


def test_a_file_without_a_tool_is_an_error_that_says_why(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no tool"):
        load_catalog(written(tmp_path / "a.jsonl"))
    with pytest.raises(InputError, match="no JSON"):
        load_catalog(written(tmp_path / "b.jsonl", b"\x89PNG\r\n\x1a\n"))
    with pytest.raises(InputError, match="is no file"):
        load_catalog(tmp_path)


def test_the_packaged_catalog_holds_what_its_sessions_define() -> None:
    found = load_catalog(DATASET.with_name("tools.jsonl"))
    assert not found.problems
    assert {one.source.partition(":")[0] for one in found} == {"builtin", "core", "mcp"}
