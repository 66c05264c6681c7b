"""Requests become sessions: by what they tell, by the response they go on from, or by the conversation they name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolkit.formats.sessions import Sessions, load_sessions
from toolkit.session import text_of

Message = dict[str, Any]


def said(role: str, content: Any, **more: Any) -> Message:
    return {"role": role, "content": content, **more}


def called(id: str, name: str = "tide_read", arguments: str = "{}") -> Message:
    return said(
        "assistant",
        None,
        tool_calls=[{"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}],
    )


def exchange(messages: list[Message], reply: Message, id: str, **more: Any) -> dict[str, Any]:
    answer = {"id": id, "object": "chat.completion", "model": "m", "choices": [{"message": reply}], **more}
    return {"request": {"model": "m", "messages": messages}, "response": answer}


def read(tmp_path: Path, *rows: Any) -> Sessions:
    path = tmp_path / "log.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), "utf-8")
    return load_sessions(path)


def test_a_request_that_tells_another_ones_reply_goes_on_with_it(tmp_path: Path) -> None:
    first = [said("user", "tide?")]
    found = read(
        tmp_path,
        exchange(first, called("c1"), "1"),
        exchange([said("user", "weather?")], said("assistant", "fine"), "2"),
        exchange([*first, called("c1"), said("tool", "2 m", tool_call_id="c1")], said("assistant", "2 m"), "3"),
    )
    assert [[one.words for one in session.passes()] for session in found] == [["", "2 m"], ["fine"]]
    assert [call.result and call.result.content for call in found[0].calls()] == ["2 m"]


def test_two_samples_of_one_request_are_two_sessions(tmp_path: Path) -> None:
    first = [said("user", "tide?")]
    found = read(
        tmp_path,
        exchange(first, said("assistant", "high"), "1"),
        exchange(first, said("assistant", "low"), "2"),
        exchange([*first, said("assistant", "low"), said("user", "sure?")], said("assistant", "yes"), "3"),
    )
    assert [[one.words for one in session.passes()] for session in found] == [["high"], ["low", "yes"]]


def test_an_exchange_that_is_recorded_twice_counts_once(tmp_path: Path) -> None:
    one = exchange([said("user", "tide?")], said("assistant", "high"), "1")
    assert [len(list(session.passes())) for session in read(tmp_path, one, one)] == [1]


def test_a_reply_that_was_not_recorded_is_history_and_no_pass(tmp_path: Path) -> None:
    told = [said("user", "tide?"), called("c0"), said("tool", "2 m", tool_call_id="c0"), said("user", "and now?")]
    (found,) = read(tmp_path, exchange(told, said("assistant", "3 m"), "1"))
    (one,) = found.passes()
    assert [turn.words for turn in found.turns] == ["tide?", "and now?"]
    assert one.words == "3 m" and not list(found.calls())
    assert [text_of(message.content) for turn in found.turns for message in turn.context] == ["", "2 m"]


def test_bodies_without_any_response_are_transcripts_whose_every_reply_is_a_pass(tmp_path: Path) -> None:
    told = [said("user", "tide?"), called("c0"), said("tool", "2 m", tool_call_id="c0"), said("assistant", "2 m")]
    (found,) = read(tmp_path, {"model": "m", "messages": told})
    assert [one.words for one in found.passes()] == ["", "2 m"]
    assert [call.result and call.result.content for call in found.calls()] == ["2 m"]


def test_an_id_that_comes_again_in_a_later_turn_is_another_call(tmp_path: Path) -> None:
    told = [
        said("user", "one"),
        called("x", arguments='{"n": 1}'),
        said("tool", "first", tool_call_id="x"),
        said("user", "two"),
        called("x", arguments='{"n": 2}'),
        said("tool", "second", tool_call_id="x"),
    ]
    (found,) = read(tmp_path, {"model": "m", "messages": told})
    assert [(call.arguments, call.result and call.result.content) for call in found.calls()] == [
        ({"n": 1}, "first"),
        ({"n": 2}, "second"),
    ]


def test_a_file_of_failed_requests_alone_is_no_session_and_told(tmp_path: Path) -> None:
    failed = {"request": {"model": "m", "messages": [said("user", "hi")]}, "response": {"error": {}}, "status": 500}
    found = read(tmp_path, failed)
    assert not len(found) and [one.code for one in found.problems] == ["failed_request"]


def test_embeddings_and_other_requests_are_passed_over(tmp_path: Path) -> None:
    other = {"request": {"model": "text-embedding-3", "input": "x"}, "response": {"object": "list", "data": []}}
    good = exchange([said("user", "tide?")], said("assistant", "high"), "1")
    assert [len(list(session.passes())) for session in read(tmp_path, good, other)] == [1]
