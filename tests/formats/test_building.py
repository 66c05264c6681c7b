"""Sessions are built from records in the order of the log."""

from __future__ import annotations

from pathlib import Path

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Source
from toolkit.tool import Tool


def building() -> tuple[Building, list[Problem]]:
    problems: list[Problem] = []
    return Building(Source(Path("log.jsonl")), problems, "test"), problems


def test_the_pieces_of_one_response_are_one_pass() -> None:
    made, _ = building()
    made.user("hello")
    made.say("m1", "one", model="x")
    made.call("c1", "mcp__git__log", '{"n": 1}')
    made.say("m1", "two")
    made.call("c2", "Bash", "[1]")
    session = made.session("s")
    (only,) = session.passes()
    assert (only.content, only.model) == ("one\ntwo", "x")
    assert [call.name for call in only.calls] == ["mcp.git.log", "builtin.Bash"]
    assert (only.calls[1].raw_arguments, only.calls[1].extra) == ("[1]", {"flags": ["non_object_arguments"]})
    assert session.definitions == "missing" and {tool.name for tool in session.catalog} == {
        "mcp.git.log",
        "builtin.Bash",
    }


def test_results_are_joined_by_id_and_the_rest_is_told() -> None:
    made, problems = building()
    for text in ("first", "second"):
        made.user(text)
        made.say()
        made.call("x", "read", {})
        made.result("x", text)
    made.result("x", "again")
    made.result("y", "whose?")
    made.user("end")
    session = made.session("s")
    assert [(call.id, call.result and call.result.content) for call in session.calls()] == [
        ("x", "first"),
        ("x#2", "second"),
    ]
    assert [one.code for one in problems] == ["doubled_result", "orphan_result"]
    assert [message.content for message in session.turns[-1].context] == ["whose?"]


def test_results_without_an_id_go_by_name() -> None:
    made, _ = building()
    made.say()
    made.call(None, "a", {})
    made.call(None, "b", {})
    assert made.result(None, "of b", name="b") and made.result("", "of a") and not made.result(None, "of c", name="c")
    assert [call.result and call.result.content for call in made.session("s").calls()] == ["of a", "of b"]


def test_definitions_are_recorded_only_where_every_called_tool_has_one() -> None:
    made, _ = building()
    made.define([Tool("builtin.read", "Reads.", {"type": "object"})])
    made.say()
    made.call("1", "read", {})
    assert made.session("s").definitions == "recorded"
    made.call("2", "write", {})
    assert made.session("s").definitions == "missing"


def test_unknown_records_are_counted_by_kind() -> None:
    made, problems = building()
    made.unknown_record("odd")
    made.unknown_record("odd")
    assert made.session("s").extra["toolkit"]["unknown_records"] == {"odd": 2}
    assert [one.code for one in problems] == ["unknown_record"]
