"""ATIF trajectories on disk become frozen sessions; what is wrong with one is said, whatever it holds."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import READ, TOOLS, atif, line
from toolkit.errors import InputError
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.write import trajectory
from toolkit.session import Billed, Session


def read(trajectory: dict[str, Any]) -> list[Session]:
    return list(read_trajectory(json.dumps(trajectory).encode(), "here:1"))


def one(**changes: Any) -> Session:
    return read(atif(**changes))[0]


def stepped(*steps: dict[str, Any], **changes: Any) -> Session:
    return one(steps=[{"step_id": n, "message": "", **step} for n, step in enumerate(steps, 1)], **changes)


def test_a_trajectory_is_a_session_of_turns_passes_and_calls() -> None:
    found = one()
    assert repr(found) == "Session('s', 1 turns, 2 passes, 1 calls, 4 tools)"
    (made,) = found.calls()
    assert (made.name, made.result and made.result.content, found.turns[0].input) == (READ.name, "done", "read it")
    assert found.source == "here:1"


@pytest.mark.parametrize("version", [f"ATIF-v1.{n}" for n in range(9)])
def test_versions_1_0_to_1_8_are_read(version: str) -> None:
    assert len(one(schema_version=version).turns) == 1


def test_another_version_is_refused() -> None:
    with pytest.raises(InputError, match="schema_version 'ATIF-v2.0'"):
        one(schema_version="ATIF-v2.0")


def test_the_id_is_the_session_else_the_trajectory_else_a_digest() -> None:
    nameless = atif(session_id=None)
    assert one(session_id=None, trajectory_id="t").id == "t"
    assert read(nameless)[0].id == read(nameless)[0].id != read({**nameless, "x": 1})[0].id


def test_system_steps_before_the_first_turn_are_the_system_prompt() -> None:
    parts = [{"type": "text", "text": "Be brief."}]
    found = stepped(
        {"source": "system", "message": "Be kind."}, {"source": "system", "message": parts}, {"source": "user"}
    )
    assert found.system == "Be kind.\n\nBe brief."


def test_a_later_system_step_is_a_note_of_the_history() -> None:
    found = stepped({"source": "user"}, {"source": "system", "message": "time is up"}, {"source": "agent"})
    assert [note.content for note in found.turns[0].passes[0].context] == ["time is up"]


def test_copied_context_is_no_pass() -> None:
    found = stepped(
        {"source": "user"}, {"source": "agent", "message": "old", "is_copied_context": True}, {"source": "agent"}
    )
    assert [note.content for note in found.turns[0].passes[0].context] == ["old"]
    assert len(list(found.passes())) == 1


def test_a_step_that_no_model_wrote_was_not_requested() -> None:
    assert [p.requested for p in stepped({"source": "agent", "llm_call_count": 0}, {"source": "agent"}).passes()] == [
        False,
        True,
    ]


def test_an_agent_step_before_any_input_opens_a_turn_without_words() -> None:
    assert [turn.input for turn in stepped({"source": "agent"}).turns] == [""]


def test_metrics_become_usage() -> None:
    metrics = {"prompt_tokens": 9, "completion_tokens": 2, "cached_tokens": 4, "cost_usd": 0.5}
    (made,) = stepped({"source": "agent", "metrics": metrics, "extra": {"toolkit": {"cache_write_tokens": 3}}}).passes()
    assert made.usage == Billed(9, 2, 4, 3, 0.5)


def test_arguments_that_are_text_are_kept_as_written() -> None:
    step = {"source": "agent", "tool_calls": [{"tool_call_id": "c", "function_name": "x", "arguments": "{oh"}]}
    (made,) = stepped(step).calls()
    assert (made.arguments, made.raw_arguments, made.arguments_text) == ({}, "{oh", "{oh")


def test_results_join_the_call_that_they_name() -> None:
    calls = [{"tool_call_id": id, "function_name": "x", "arguments": {}} for id in ("a", "b")]
    results = [{"source_call_id": "b", "content": "of b"}]
    first, second = stepped({"source": "agent", "tool_calls": calls, "observation": {"results": results}}).calls()
    assert first.result is None
    assert second.result is not None and second.result.content == "of b"


def test_declared_and_searchable_are_names_out_of_the_definitions() -> None:
    (made,) = stepped({"source": "agent", "extra": {"toolkit": {"declared": [1, 0], "searchable": []}}}).passes()
    assert (made.declared, made.searchable) == ((TOOLS[1].name, TOOLS[0].name), ())


@pytest.mark.parametrize("wrong", [[4], [-1]])
def test_a_wrong_index_in_declared_is_refused(wrong: list[int]) -> None:
    with pytest.raises(InputError, match=f"points at definition {wrong[0]} of 4"):
        stepped({"source": "agent", "extra": {"toolkit": {"declared": wrong}}})


def test_what_a_function_shape_cannot_hold_comes_from_the_extras() -> None:
    facts = {READ.name: {"source": "extension:x", "deferred": True, "annotations": {"readOnlyHint": True}}}
    tool = one(extra={"toolkit": {"tools": facts}}).catalog[READ.name]
    assert (tool.source, tool.deferred, tool.read_only) == ("extension:x", True, True)


def test_key_order_of_a_schema_is_kept() -> None:
    schema = {"type": "object", "properties": {"z": {}, "a": {}}, "additionalProperties": False}
    row = {"type": "function", "function": {"name": "builtin.x", "parameters": schema}}
    found = one(agent={"name": "t", "version": "1", "tool_definitions": [row]})
    assert found.catalog["builtin.x"].schema_text == json.dumps(schema, separators=(",", ":"))


def test_sub_agents_are_sessions_of_their_own_with_a_parent() -> None:
    inner = atif("inner")
    assert [(s.id, s.parent) for s in read(atif("outer", subagent_trajectories=[inner]))] == [
        ("outer", None),
        ("inner", "outer"),
    ]


def test_a_sub_agent_that_shares_its_parents_session_id_goes_by_its_trajectory_id() -> None:
    inner = atif("run", trajectory_id="inner")
    assert [s.id for s in read(atif("run", subagent_trajectories=[inner]))] == ["run", "inner"]


HEAD = '"schema_version": "ATIF-v1.7"'
WHOLE = f'{HEAD}, "session_id": "s", "agent": {{"name": "a"}}'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f'{{{HEAD}, "steps": []}}', ["agent (1)"]),
        (f'{{{WHOLE}, "steps": [{{}}]}}', ["a step's source is ''"]),
        (f'{{{WHOLE}, "steps": [{{"source": "robot"}}]}}', ["a step's source is 'robot'"]),
        (f'{{{WHOLE}, "steps": [7, {{"source": "agent"}}]}}', ["steps (1)"]),
        (f'{{{HEAD}, "steps": [], "agent": {{"tool_definitions": 7}}}}', ["1 tool definitions are none"]),
        (f'{{{HEAD}, "steps": [], "agent": {{"tool_definitions": [7]}}}}', ["1 tool definitions are none"]),
        (f'{{{WHOLE}, "steps": [{{"source": "agent", "timestamp": 1767603600}}]}}', ["timestamp (1)"]),
        (
            f'{{{WHOLE}, "steps": [{{"source": "agent", "metrics": {{"prompt_tokens": 5.0, "cost_usd": NaN}}}}]}}',
            ["repaired_line (1), prompt_tokens (1)"],
        ),
        (
            f'{{{WHOLE}, "steps": [{{"source": "agent", "tool_calls": [{{"function_name": "f", "tool_call_id": "c", '
            '"arguments": [1]}], "observation": {"results": [{"source_call_id": "c", "content": {"a": 1}}]}}]}',
            ["arguments (1), result.content (1)"],
        ),
    ],
)
def test_a_field_of_another_type_costs_the_field_and_is_told(text: str, told: list[str]) -> None:
    said: list[str] = []
    (session,) = read_trajectory(text.encode(), note=lambda code, message: said.append(message))
    assert len(said) == len(told) and all(part in message for part, message in zip(told, said, strict=True))
    for one in session.passes():
        assert one.timestamp in (None, "2026-01-05T09:00:00+00:00")
        assert one.usage is None or (one.usage.prompt, one.usage.cost_usd) == (5, None)
        assert all((c.arguments_text, c.result and c.result.content) == ("[1]", '{"a":1}') for c in one.calls)


def test_results_without_a_call_are_history_that_is_told() -> None:
    seen = {"results": [{"content": "first screen"}, {"source_call_id": "gone", "content": "second"}]}
    steps = [
        {"source": "user", "message": "Look."},
        {"source": "agent", "message": "So.", "observation": seen},
        {"source": "system", "message": "", "observation": {"results": [{"content": "third"}]}},
        {"source": "agent", "message": "Done."},
    ]
    said: list[str] = []
    data = line(atif("s", steps=steps))
    (session,) = read_trajectory(data, note=lambda code, message: said.append(code))
    (turn,) = session.turns
    assert [m.content for m in turn.passes[1].context] == ["first screen", "second", "third"]
    assert said == ["orphan_result"] * 3
    assert next(read_trajectory(line(trajectory(session)))).turns == session.turns


def test_a_session_without_definitions_is_missing_them_and_knows_the_names_it_calls() -> None:
    session = read(atif("s", tools=(), calls=["mcp.git.log"]))[0]
    assert (session.definitions, [tool.name for tool in session.catalog]) == ("missing", ["mcp.git.log"])


def test_what_stands_at_the_root_comes_back() -> None:
    whole = atif("s", notes="by hand", final_metrics={"total_steps": 3}, continued_trajectory_ref="s.cont-1.json")
    again = trajectory(read(whole)[0])
    assert {key: again[key] for key in ("notes", "final_metrics", "continued_trajectory_ref")} == {
        key: whole[key] for key in ("notes", "final_metrics", "continued_trajectory_ref")
    }
    assert read(again)[0] == read(whole)[0]


def test_a_run_of_several_trajectories_has_a_session_for_each() -> None:
    assert [read(atif("run", trajectory_id=id))[0].id for id in ("a", "b", "run")] == ["a", "b", "run"]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b'{"a": NaN}', "no JSON"),
        (b"not json", "no JSON"),
        (b"\xff\xfe{\x00}\x00", "no JSON"),
        (b'"caf\xe9"', "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"7", "an ATIF trajectory was expected (schema_version, agent, steps); int came"),
        (b'{"name": "x", "description": "y"}', "an object with description, name came"),
        (b'{"schema_version": "ATIF-v1.7", "steps": [], "agent": {"tool_definitions": {}}}', ""),
    ],
)
def test_what_is_wrong_with_a_text_is_said(data: bytes, says: str) -> None:
    if not says:
        assert len(next(read_trajectory(data)).catalog) == 0
        return
    with pytest.raises(InputError) as raised:
        list(read_trajectory(data))
    assert says in str(raised.value)


FULL = atif(
    "full",
    trajectory_id="t",
    extra={
        "toolkit": {
            "v": 1,
            "definitions": "recorded",
            "tools": {READ.name: {"source": "builtin", "deferred": True, "annotations": {"readOnlyHint": True}}},
            "outcome": {"success": True},
        }
    },
)
FULL["steps"][1]["extra"] = {
    "toolkit": {"declared": [0], "searchable": [1], "cache_write_tokens": 3, "events": [{"type": "compaction"}]}
}
FULL["steps"][1]["tool_calls"][0]["extra"] = {"toolkit": {"kind": "search", "raw_arguments": "x"}}
FULL["steps"][1]["observation"]["results"][0]["extra"] = {"toolkit": {"is_error": True, "returned": [READ.name]}}
FULL["steps"][1]["metrics"] = {"prompt_tokens": 4}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, item in inside for place in places(item, (*path, key)))]


PLACES = [place for place in places(FULL) if place]
WRONG = st.sampled_from([None, True, -1, 3.5, "", "x", [], [1], ["x"], [[]], {}, {"x": 1}, [{}], [{"type": 1}]])


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(PLACES), WRONG)
def test_a_wrong_value_at_any_place_is_read_or_refused_and_never_a_crash(place: tuple[Any, ...], value: Any) -> None:
    from tests.builders import replayed

    broken = copy.deepcopy(FULL)
    inner: Any = broken
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    try:
        found = read(broken)
    except InputError as error:
        assert str(error)
        return
    for recorded in found:
        assert len(replayed(recorded, "lazy").turns) == len(recorded.turns)


def test_results_are_joined_by_id_in_order_and_without_ids_to_the_calls_left_over() -> None:
    calls = [{"tool_call_id": id, "function_name": "builtin.a", "arguments": {}} for id in ("x", "x", "y")]
    results = [
        {"source_call_id": "x", "content": "one"},
        {"source_call_id": "x", "content": "two"},
        {"content": "three"},
    ]
    step = {"source": "agent", "message": "", "tool_calls": calls, "observation": {"results": results}}
    whole = {"schema_version": "ATIF-v1.7", "agent": {"name": "a", "version": "1"}, "steps": [step]}
    recorded = next(iter(read_trajectory(json.dumps(whole).encode())))
    assert [call.result.content for call in recorded.calls() if call.result] == ["one", "two", "three"]
