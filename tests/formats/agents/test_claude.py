"""A sub-agent that stands inside progress records is read from them, unless it has a file of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.builders import written
from toolkit.formats.sessions import load_sessions

BASE = {"sessionId": "s", "version": "2.1.38", "isSidechain": False}


def spoken(kind: str, uuid: str, content: Any, **told: Any) -> dict[str, Any]:
    return {"type": kind, "uuid": uuid, "message": {"role": kind, "content": content, **told}}


def progress(uuid: str, parent: str, inner: Any) -> dict[str, Any]:
    data = {"type": "agent_progress", "agentId": "ab1", "message": inner}
    return {**BASE, "type": "progress", "uuid": uuid, "parentUuid": parent, "data": data}


def rows() -> list[dict[str, Any]]:
    task = {"type": "tool_use", "id": "t1", "name": "Task", "input": {"prompt": "Count."}}
    read = {"type": "tool_use", "id": "t2", "name": "Read", "input": {"file_path": "a"}}
    result = [{"type": "tool_result", "tool_use_id": "t2", "content": "3 boats"}]
    done = [{"type": "tool_result", "tool_use_id": "t1", "content": "three"}]
    return [
        {**BASE, **spoken("user", "u1", "How many boats?"), "parentUuid": None},
        {**BASE, **spoken("assistant", "a1", [task], id="m1", model="kite-2"), "parentUuid": "u1"},
        progress("p1", "a1", spoken("user", "x1", "Count.")),
        progress("p2", "p1", spoken("assistant", "x2", [read], id="m2", model="kite-1")),
        progress("p3", "p2", spoken("user", "x3", result)),
        {**BASE, **spoken("user", "u2", done), "parentUuid": "p3"},
    ]


def test_what_progress_records_hold_of_a_sub_agent_is_a_session_of_its_own(tmp_path: Path) -> None:
    main, inner = load_sessions(written(tmp_path / "s.jsonl", *rows()))
    assert [(call.name, call.result and call.result.content) for call in main.calls()] == [("builtin.Task", "three")]
    assert (inner.id, inner.parent, inner.model, inner.turns[0].words) == ("ab1", "s", "kite-1", "Count.")
    assert [(call.name, call.result and call.result.content) for call in inner.calls()] == [("builtin.Read", "3 boats")]


def test_a_sub_agent_with_a_file_of_its_own_is_read_from_there(tmp_path: Path) -> None:
    written(tmp_path / "s.jsonl", *rows())
    folder = tmp_path / "s" / "subagents"
    folder.mkdir(parents=True)
    own = {**BASE, **spoken("user", "y1", "From the file."), "isSidechain": True, "agentId": "ab1"}
    reply = {**BASE, **spoken("assistant", "y2", "Yes.", id="m9"), "isSidechain": True, "agentId": "ab1"}
    written(folder / "agent-ab1.jsonl", own, {**reply, "parentUuid": "y1"})
    assert [one.turns[0].words for one in load_sessions(tmp_path)] == ["How many boats?", "From the file."]


def test_progress_of_another_kind_or_shape_is_passed_over(tmp_path: Path) -> None:
    odd = [progress(f"q{n}", "a1", inner) for n, inner in enumerate([None, 7, "x", [], {}, {"message": 3}])]
    found = load_sessions(written(tmp_path / "s.jsonl", *rows()[:2], *odd))
    assert [one.id for one in found] == ["s"] and "importer_failed" not in [one.code for one in found.problems]
