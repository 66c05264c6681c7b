"""BFCL, single turn: JSON lines of questions, each with its own functions; the answers lie in files beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.errors import InputError
from toolkit.formats.datasets.converted import Converted, Pool, Row, kept, resolved
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem

FOLDER = "bfcl_eval/data"
ANSWERED = (
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "multiple",
    "parallel",
    "parallel_multiple",
    "simple_python",
)
UNANSWERED = ("live_irrelevance", "irrelevance")
_TYPES = {"dict": "object", "float": "number", "tuple": "array"}


def convert(package: Package, problems: list[Problem]) -> Converted:
    """Return the pooled functions and the questions of all splits."""
    pool = Pool("bfcl")
    queries = [query for split in (*ANSWERED, *UNANSWERED) for query in _queries(package, split, pool, problems)]
    return Converted(pool.rows, queries)


def _queries(package: Package, split: str, pool: Pool, problems: list[Problem]) -> Iterator[Row]:
    file = f"BFCL_v4_{split}.json"
    member = f"{FOLDER}/{file}"
    answers = package.lines(f"{FOLDER}/possible_answer/{file}", problems) if split in ANSWERED else []
    gold = dict(kept(answers, _called, problems, f"{FOLDER}/possible_answer/{file}"))

    def query(row: Any) -> Row:
        ids = {function["name"]: _added(pool, function) for function in row["function"]}
        if split in ANSWERED and row["id"] not in gold:
            raise InputError(f"there is no answer to {row['id']!r}.")
        right = resolved(gold.get(row["id"], ()), ids)
        found = {"id": row["id"], "query": asked(row["question"]), "gold": right}
        return {**found, "candidates": list(ids.values()), "split": split}

    yield from kept(package.lines(member, problems), query, problems, member)


def _called(row: Any) -> tuple[str, list[str]]:
    return row["id"], [name for call in row["ground_truth"] for name in call]


def _added(pool: Pool, function: Mapping[str, Any]) -> str:
    return pool.add(function["name"], function["description"], json_schema(function["parameters"]))


def asked(question: list[list[Mapping[str, Any]]]) -> str:
    """Return what the user said last in a question's one turn.

    >>> asked([[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Add 2 and 3."}]])
    'Add 2 and 3.'
    """
    (messages,) = question
    said: str = next(one["content"] for one in reversed(messages) if one["role"] == "user")
    return said


def json_schema(source: Any) -> Any:
    """Return a schema with the type names of JSON Schema; what has no type there, such as `any`, loses it.

    >>> json_schema({"type": "dict", "properties": {"type": {"type": "float"}, "x": {"type": "any"}}})
    {'type': 'object', 'properties': {'type': {'type': 'number'}, 'x': {}}}
    """
    if not isinstance(source, dict):
        return source
    return {key: _inside(key, value) for key, value in source.items() if (key, value) != ("type", "any")}


def _inside(key: str, value: Any) -> Any:
    if key == "type" and isinstance(value, str):
        return _TYPES.get(value, value)
    if key == "properties" and isinstance(value, dict):
        return {name: json_schema(inner) for name, inner in value.items()}
    return json_schema(value) if key in ("items", "additionalProperties") else value
