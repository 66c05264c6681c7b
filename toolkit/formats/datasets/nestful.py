"""NESTFUL: three parts, each a file of functions and one of questions with their sequences of calls."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from toolkit.formats.datasets.converted import JSON_TYPES, Converted, Row, kept, resolved, row
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem

PARTS = {
    "executable": "data_v1/executable/executable",
    "glaive": "data_v1/non-executable/non-executable-glaive",
    "sgd": "data_v1/non-executable/non-executable-sgd",
}
_NO_CALL = "var_result"
"""The last entry of a sequence, which puts the answer together."""


def convert(package: Package, problems: list[Problem]) -> Converted:
    """Return the functions and the questions of all parts."""
    tools: list[Row] = []
    queries: list[Row] = []
    for part, stem in PARTS.items():
        specs, data = f"{stem}-spec.json", f"{stem}-data.json"
        own = list(kept(package.json(specs), partial(_tool, part), problems, specs))
        ids = {tool["name"]: tool["id"] for tool in own}
        queries += kept(enumerate(package.json(data)), partial(_query, part, ids), problems, data)
        tools += own
    return Converted(tools, queries)


def _tool(part: str, spec: Mapping[str, Any]) -> Row:
    name, given = spec["name"], spec["query_parameters"]
    schema = {
        "type": "object",
        "properties": {key: _parameter(value) for key, value in given.items()},
        "required": [key for key, value in given.items() if value.get("required") is True],
    }
    return row(name, name, spec["description"], schema, spec.get("host") or part)


def _parameter(given: Mapping[str, Any]) -> Row:
    """Return a parameter's schema; the parts name its choices and its default differently."""
    kind = given.get("type")
    kind = kind if kind is None or kind in JSON_TYPES else "string"
    choices = given.get("enum") or given.get("allowed_values") or None
    default = given.get("default", given.get("default_value"))
    found = {"type": kind, "description": given.get("description"), "enum": choices, "default": default}
    return {key: value for key, value in found.items() if value is not None}


def _query(part: str, ids: Mapping[str, str], numbered: tuple[int, Mapping[str, Any]]) -> Row:
    number, question = numbered
    calls = question["output"]
    gold = resolved((call["name"] for call in calls if call["name"] != _NO_CALL), ids)
    return {"id": f"{part}_{number}", "query": question["input"], "gold": gold, "split": part, "calls": calls}
