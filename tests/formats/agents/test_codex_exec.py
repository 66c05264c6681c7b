"""A capture of `codex exec --json` becomes a session; its passes end where a call is answered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders import written
from toolkit.formats.sessions import load_sessions
from toolkit.session import Session

START = {"type": "thread.started", "thread_id": "t"}, {"type": "turn.started"}


def item(event: str, id: str, kind: str, **told: Any) -> dict[str, Any]:
    return {"type": f"item.{event}", "item": {"id": id, "type": kind, **told}}


def read(tmp_path: Path, *rows: dict[str, Any]) -> Session:
    (only,) = load_sessions(written(tmp_path / "run.jsonl", *START, *rows))
    return only


def test_calls_that_began_before_the_first_answer_are_one_pass_and_later_ones_another(tmp_path: Path) -> None:
    begun = [item("started", id, "command_execution", command="ls") for id in "ab"]
    done = [item("completed", id, "command_execution", command="ls", aggregated_output=id, exit_code=0) for id in "abc"]
    found = read(tmp_path, *begun, *done)
    answers = [[call.result and call.result.content for call in one.calls] for one in found.passes()]
    assert answers == [["a", "b"], ["c"]]


def test_an_exit_code_or_a_failed_status_is_an_error_and_a_call_that_was_cut_has_no_answer(tmp_path: Path) -> None:
    rows = [
        item("completed", "a", "command_execution", command="x", aggregated_output="no", exit_code=2),
        item(
            "completed",
            "b",
            "mcp_tool_call",
            server="s",
            tool="t",
            arguments={},
            error={"message": "shut"},
            status="failed",
        ),
        item("started", "c", "command_execution", command="sleep 9"),
    ]
    results = [call.result for call in read(tmp_path, *rows).calls()]
    assert [result and (result.content, result.is_error) for result in results] == [("no", True), ("shut", True), None]


def test_what_a_turn_was_billed_stands_with_its_last_pass_and_is_no_pass_usage(tmp_path: Path) -> None:
    said = item("completed", "a", "agent_message", text="Done.")
    last = list(read(tmp_path, said, {"type": "turn.completed", "usage": {"input_tokens": 9}}).passes())[-1]
    assert (last.usage, last.extra["turn_usage"]) == (None, {"input_tokens": 9})


def test_an_item_of_another_kind_is_told(tmp_path: Path) -> None:
    rows = *START, item("completed", "a", "agent_message", text="Done."), item("completed", "b", "hologram")
    found = load_sessions(written(tmp_path / "run.jsonl", *rows))
    assert "unknown_record" in [problem.code for problem in found.problems]
