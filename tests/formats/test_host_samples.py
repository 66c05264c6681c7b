"""A sample of every format, made by us in its real layout, is read as it should be; damage loses no good session."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import written
from toolkit.formats.files import find_files
from toolkit.formats.importing import Source
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.write import trajectory
from toolkit.formats.registry import FORMATS, format_of
from toolkit.formats.sessions import load_sessions
from toolkit.session import Call, Pass, Session, text_of
from toolkit.tool import compact_json

SAMPLES = Path(__file__).parents[1] / "samples"
EXPECTED = "expected.txt"
FOLDERS = sorted(path for path in SAMPLES.iterdir() if (path / EXPECTED).is_file())
FILES = [path for folder in FOLDERS for path in find_files([folder])]


def call_row(call: Call) -> list[Any]:
    answer = None if call.result is None else text_of(call.result.content)
    returned = list(call.result.returned) if call.result is not None else []
    failed = call.result is not None and call.result.is_error
    return [call.name, dict(call.arguments) or call.raw_arguments, answer, "error" if failed else call.kind, *returned]


def pass_row(one: Pass) -> dict[str, Any]:
    usage = one.usage
    row = {
        "says": one.words,
        "thinks": one.reasoning,
        "calls": [call_row(call) for call in one.calls],
        "usage": usage and [usage.prompt, usage.completion, usage.cached, usage.cache_write],
        "declared": list(one.declared or ()),
        "searchable": list(one.searchable or ()),
        "events": [event.type for event in one.events],
        "before": [f"{message.role}: {text_of(message.content)}" for message in one.context],
    }
    return {key: value for key, value in row.items() if value}


def summary(session: Session) -> dict[str, Any]:
    turns = [
        {
            "input": turn.words,
            "before": [f"{message.role}: {text_of(message.content)}" for message in turn.context],
            "events": [event.type for event in turn.events],
            "passes": [pass_row(one) for one in turn.passes],
        }
        for turn in session.turns
    ]
    return {
        "id": session.id,
        "parent": session.parent,
        "model": session.model,
        "system": session.system,
        "definitions": session.definitions,
        "tools": [f"{tool.name}{' (deferred)' if tool.deferred else ''}" for tool in session.catalog],
        "turns": [{key: value for key, value in turn.items() if value or key == "input"} for turn in turns],
    }


def whole(folder: Path) -> dict[str, Any]:
    found = load_sessions(folder)
    told = sorted(f"{Path(one.path).name}:{one.line} {one.code}" for one in found.problems)
    return {"sessions": [summary(one) for one in found], "problems": told}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_is_read_as_it_should_be(folder: Path) -> None:
    assert whole(folder) == json.loads((folder / EXPECTED).read_bytes())


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_sample_is_recognised_by_one_format_alone(path: Path) -> None:
    source = Source(path)
    assert [one.name for one in FORMATS.all() if one.recognises(source)] == [format_of(source).name]  # type: ignore[union-attr]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_sample_comes_back_from_native_as_it_was(folder: Path) -> None:
    for session in load_sessions(folder):
        data = compact_json(trajectory(session)).encode()
        (again,) = read_trajectory(data, parent=session.parent)
        assert summary(again) == summary(session)


def damaged(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for at, length, put in cuts:
        at %= len(data) + 1
        data = data[:at] + put + data[at + length :]
    return data


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    cuts=st.lists(
        st.tuples(
            st.integers(0, 20_000),
            st.integers(0, 40),
            st.sampled_from([b"", b"null", b"[]", b'"x"', b"{}", b"7", b"\xff", b'"', b"\n", b"NaN", b"}{", b"true"]),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_damage_raises_nothing_and_loses_no_good_session(
    path: Path, cuts: list[tuple[int, int, bytes]], tmp_path: Path
) -> None:
    bad = tmp_path / path.name
    bad.write_bytes(damaged(path.read_bytes(), cuts))
    check_that_nothing_is_lost(bad, tmp_path)


JUNK = (None, True, 7, -1.5, "", "x", [], [1], {}, {"a": [None]}, [{"type": "text"}], {"type": 3}, [["x"]])


def twisted(value: Any, at: list[int], junk: Any) -> Any:
    """Return a JSON value with one inner value, found by the numbers, replaced."""
    inner = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    if not at or not inner:
        return junk
    key = inner[at[0] % len(inner)]
    changed: Any = dict(value) if isinstance(value, dict) else list(value)
    changed[key] = twisted(value[key], at[1:], junk)
    return changed


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    twists=st.lists(
        st.tuples(st.lists(st.integers(0, 40), min_size=1, max_size=7), st.sampled_from(JUNK)), min_size=1, max_size=4
    )
)
def test_values_of_another_type_raise_nothing_and_lose_no_good_session(
    path: Path, twists: list[tuple[list[int], Any]], tmp_path: Path
) -> None:
    text = path.read_text("utf-8")
    value: Any = json.loads(text) if path.suffix == ".json" else [json.loads(line) for line in text.splitlines()]
    for at, junk in twists:
        value = twisted(value, at, junk)
    bad = tmp_path / path.name
    lines = [value] if path.suffix == ".json" or not isinstance(value, list) else value
    bad.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    check_that_nothing_is_lost(bad, tmp_path)


def check_that_nothing_is_lost(bad: Path, tmp_path: Path) -> None:
    good = written(tmp_path / "z.jsonl", {"user": "Hello.", "tools": ["read"], "session": "good"})
    found = load_sessions(bad, good)
    assert "good" in [session.id for session in found]
    assert "importer_failed" not in [problem.code for problem in found.problems]
    for session in found:
        compact_json(trajectory(session))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(json.dumps(whole(SAMPLES / name), indent=1, ensure_ascii=False))
