"""What is written reads back equal, and holds only what ATIF 1.7 allows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from tests.builders import DATASET, READ, call, note, said, session, turn
from tests.strategies import sessions
from toolkit.errors import InputError
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.write import trajectory, write_sessions
from toolkit.formats.sessions import load_sessions
from toolkit.session import Message, Session
from toolkit.tool import compact_json

ALLOWED = {
    "trajectory": "schema_version session_id trajectory_id agent steps notes final_metrics continued_trajectory_ref "
    "subagent_trajectories extra",
    "agent": "name version model_name tool_definitions extra",
    "step": "step_id timestamp source message model_name reasoning_content tool_calls observation metrics "
    "llm_call_count is_copied_context extra",
    "call": "tool_call_id function_name arguments extra",
    "observation": "results",
    "result": "source_call_id content subagent_trajectory_ref extra",
    "metrics": "prompt_tokens completion_tokens cached_tokens cost_usd extra",
}
AGENT_ONLY = {"model_name", "reasoning_content", "tool_calls", "observation", "metrics", "llm_call_count"}


def strictly(written: dict[str, Any]) -> None:
    """Check a trajectory as a reader with `extra="forbid"` does: keys, types that matter, references."""
    only("trajectory", written)
    assert written["schema_version"] == "ATIF-v1.7"
    only("agent", written["agent"])
    assert all(isinstance(written["agent"][key], str) for key in ("name", "version"))
    for row in written["agent"].get("tool_definitions", []):
        assert set(row) == {"type", "function"} and set(row["function"]) <= {"name", "description", "parameters"}
    assert [step["step_id"] for step in written["steps"]] == list(range(1, len(written["steps"]) + 1))
    for step in written["steps"]:
        strict_step(step)
    for inner in written.get("subagent_trajectories", []):
        assert inner["trajectory_id"]
        strictly(inner)


def strict_step(step: dict[str, Any]) -> None:
    only("step", step)
    assert step["source"] in ("system", "user", "agent")
    assert isinstance(step["message"], str | list)
    assert step["source"] == "agent" or not AGENT_ONLY & set(step)
    for made in step.get("tool_calls", []):
        only("call", made)
        assert isinstance(made["arguments"], dict)
    only("observation", step.get("observation", {}))
    ids = {made["tool_call_id"] for made in step.get("tool_calls", [])}
    for result in step.get("observation", {}).get("results", []):
        only("result", result)
        assert result["source_call_id"] in ids
    only("metrics", step.get("metrics", {}))


def only(kind: str, row: dict[str, Any]) -> None:
    more = set(row) - set(ALLOWED[kind].split())
    assert not more, f"{kind} has {more}"
    assert isinstance(row.get("extra", {}), dict)


def back(one: Session) -> Session:
    return next(read_trajectory(compact_json(trajectory(one)).encode()))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions())
def test_a_session_written_reads_back_equal_and_strictly(made: Session) -> None:
    strictly(trajectory(made))
    assert back(made) == made


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
def test_the_packaged_data_set_reads_back_equal_and_strictly(tmp_path: Path, name: str) -> None:
    before = load_sessions(DATASET)
    write_sessions(before, tmp_path / name)
    after = load_sessions(tmp_path / name)
    assert list(after) == list(before)
    if name == "a.jsonl":
        for line in (tmp_path / name).read_bytes().splitlines():
            strictly(json.loads(line))


def test_writing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.jsonl.gz", "b.jsonl.gz"):
        write_sessions([session(turn("x"))], tmp_path / name)
    assert (tmp_path / "a.jsonl.gz").read_bytes() == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress((tmp_path / "a.jsonl.gz").read_bytes()).endswith(b"\n")


def test_a_session_of_its_own_parent_stands_inside_it(tmp_path: Path) -> None:
    outer, inner = session(turn("x"), id="outer"), session(turn("y"), id="inner", parent="outer")
    write_sessions([outer, inner], tmp_path / "a.jsonl")
    (line,) = (tmp_path / "a.jsonl").read_bytes().splitlines()
    strictly(json.loads(line))
    assert [(s.id, s.parent) for s in load_sessions(tmp_path / "a.jsonl")] == [("outer", None), ("inner", "outer")]


def test_a_session_whose_parent_is_not_written_stands_alone(tmp_path: Path) -> None:
    write_sessions([session(turn("y"), id="inner", parent="outer")], tmp_path / "a.jsonl")
    assert [s.id for s in load_sessions(tmp_path / "a.jsonl")] == ["inner"]


def test_a_note_before_the_first_turn_does_not_become_the_system_prompt() -> None:
    made = session(turn("x", context=(note("a summary"), Message("user", "older"))), system="Be kind.")
    assert back(made).system == "Be kind."
    assert back(made).turns[0].context == made.turns[0].context


def test_a_name_with_another_ending_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="ends in no known way"):
        write_sessions([session()], tmp_path / "a.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_failure_leaves_the_old_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write_sessions([session(turn("old"))], path)
    before = path.read_bytes()
    broken = session(turn("x", said("", call(READ.name, "", path={1, 2}))))
    with pytest.raises(TypeError):
        write_sessions([broken], path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.jsonl"]
