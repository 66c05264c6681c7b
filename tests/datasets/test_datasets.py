"""The committed data sets are what their cards say."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

DATASETS = Path(__file__).parents[2] / "datasets"
FOLDER = DATASETS / "mcp-servers"
NEVER_EXISTED = {"mcp.weather.get_forecast"}
OF_A_MACHINE = re.compile(r"/tmp/|/home/|/root\b|/Users/|/work/|127\.0\.0\.1|localhost:|[A-Z]:\\\\")


def _rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text(encoding="utf-8").splitlines()]


@cache
def _sessions_text() -> str:
    return gzip.decompress((FOLDER / "sessions.atif.jsonl.gz").read_bytes()).decode("utf-8")


@cache
def _sessions() -> list[dict[str, Any]]:
    return [json.loads(line) for line in _sessions_text().splitlines()]


def _names(session: dict[str, Any]) -> list[str]:
    return [one["function"]["name"] for one in session["agent"]["tool_definitions"]]


def _facts(step: dict[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = step.get("extra", {}).get("toolkit", {})
    return facts


def _agent_steps() -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    for session in _sessions():
        for step in session["steps"]:
            if step["source"] == "agent":
                yield session, step


def _calls() -> Iterator[tuple[dict[str, Any], dict[str, Any], dict[str, Any]]]:
    for session, step in _agent_steps():
        results = {one["source_call_id"]: one for one in step.get("observation", {"results": []})["results"]}
        for call in step.get("tool_calls", []):
            yield session, call, results[call["tool_call_id"]]


def _properties(schema: Any) -> Iterator[dict[str, Any]]:
    for key, value in schema.items() if isinstance(schema, dict) else ():
        if key == "properties":
            yield from value.values()
        for one in value.values() if key == "properties" else value if isinstance(value, list) else [value]:
            yield from _properties(one)


def test_the_card_gives_size_and_digest_of_each_file() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    for path in FOLDER.glob("*.jsonl*"):
        content = path.read_bytes()
        assert f"| `{path.name}` | {len(content)} | `{hashlib.sha256(content).hexdigest()}` |" in card


def test_the_card_counts_what_is_there() -> None:
    card = (FOLDER / "README.md").read_text(encoding="utf-8")
    turns = sum(step["source"] == "user" for session in _sessions() for step in session["steps"])
    counts = (len(_sessions()), turns, sum(1 for _ in _agent_steps()), sum(1 for _ in _calls()))
    assert f"| sessions, turns, passes, calls | {', '.join(map(str, counts))} |" in card
    assert f"| tools | {len(_rows('tools.jsonl'))}:" in card and f"| queries | {len(_rows('queries.jsonl'))}," in card


def test_the_catalog_has_no_name_and_no_id_twice() -> None:
    rows = _rows("tools.jsonl")
    assert len({(row.get("server"), row["name"]) for row in rows}) == len({row["id"] for row in rows}) == len(rows)


def test_every_tool_and_every_parameter_is_described() -> None:
    for row in _rows("tools.jsonl"):
        named = row["input_schema"] if row["name"] != "builtin.todo" else {}
        assert row["description"] and all(one.get("description") for one in _properties(named)), row["id"]


def test_queries_are_distinct_and_their_gold_resolves() -> None:
    ids = {row["id"] for row in _rows("tools.jsonl")}
    queries = _rows("queries.jsonl")
    assert len({query["query"] for query in queries}) == len({query["id"] for query in queries}) == len(queries)
    assert all(query["gold"] and ids.issuperset(query["gold"]) for query in queries)


def test_a_sessions_definitions_are_the_catalogs() -> None:
    rows = {row["id"]: row for row in _rows("tools.jsonl")}
    by_name = {f"mcp.{r['server']}.{r['name']}" if "server" in r else r["name"]: r for r in rows.values()}
    for session in _sessions():
        for one in (definition["function"] for definition in session["agent"]["tool_definitions"]):
            assert one["parameters"] == by_name[one["name"]]["input_schema"]
        assert list(session["extra"]["toolkit"]["tools"]) == _names(session)


def test_every_call_resolves_to_a_definition_but_the_one_that_is_meant_not_to() -> None:
    missing = {call["function_name"] for session, call, _ in _calls() if call["function_name"] not in _names(session)}
    assert missing == NEVER_EXISTED


def test_a_call_to_a_tool_that_was_not_declared_failed() -> None:
    for session, step in _agent_steps():
        declared = {_names(session)[index] for index in _facts(step)["declared"]}
        results = {one["source_call_id"]: one for one in step.get("observation", {"results": []})["results"]}
        for call in step.get("tool_calls", []):
            failed = _facts(results[call["tool_call_id"]]).get("is_error", False)
            assert call["function_name"] in declared or failed


def test_declared_tools_change_only_when_a_turn_begins() -> None:
    for session in _sessions():
        seen: list[int] | None = None
        for step in session["steps"]:
            declared = _facts(step).get("declared")
            assert seen is None or declared is None or declared == seen
            seen = declared if step["source"] == "agent" else None


def test_steps_are_numbered_and_every_turn_ends_with_words() -> None:
    for session in _sessions():
        assert [step["step_id"] for step in session["steps"]] == list(range(1, len(session["steps"]) + 1))
        ends = [*(s["source"] == "user" for s in session["steps"][2:]), True]
        assert all(
            s["message"] and not s.get("tool_calls") for s, end in zip(session["steps"][1:], ends, strict=True) if end
        )


def test_session_and_call_ids_are_unique() -> None:
    calls = [call["tool_call_id"] for _, call, _ in _calls()]
    assert len(set(calls)) == len(calls)
    assert len({session["session_id"] for session in _sessions()}) == len(_sessions())


def test_no_file_names_a_machines_paths() -> None:
    texts = [
        _sessions_text(),
        *(path.read_text(encoding="utf-8") for path in FOLDER.glob("*.*") if path.suffix != ".gz"),
    ]
    assert not [hit for text in texts for hit in OF_A_MACHINE.findall(text)]


def test_the_data_sets_stay_small() -> None:
    assert sum(path.stat().st_size for path in DATASETS.rglob("*") if path.is_file()) < 3_000_000
