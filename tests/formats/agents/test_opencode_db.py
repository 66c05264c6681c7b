"""OpenCode's database is read session by session, and damage to it is told, not raised."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from toolkit.formats.sessions import load_sessions

SCRIPT = (Path(__file__).parents[2] / "samples" / "opencode" / "database.sql").read_text("utf-8")


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("share") / "opencode.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SCRIPT)
    return path


def test_sessions_come_with_turns_calls_usage_and_the_session_that_started_them(database: Path) -> None:
    before = database.read_bytes()
    main, inner = load_sessions(database.parent)
    assert (main.id, inner.id, inner.parent, main.model) == ("ses_quay", "ses_inner", "ses_quay", "kite-2")
    asked, answered = main.turns[0].passes
    assert main.turns[0].words == "How high is the tide?" and answered.words == "Two metres."
    assert [(call.name, call.result and call.result.content) for call in asked.calls] == [("builtin.bash", "2 m")]
    assert asked.usage is not None and (asked.usage.prompt, asked.usage.completion) == (70, 8)
    assert inner.turns[0].passes[0].usage is not None
    assert (database.read_bytes(), [one.name for one in database.parent.iterdir()]) == (before, ["opencode.db"])


def test_a_value_that_is_no_json_costs_that_part_alone(database: Path, tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(SCRIPT + "update part set data = '{\"type\"' where id = 'prt_3';")
    assert [len(list(one.passes())) for one in load_sessions(path)] == [2, 1]


def test_another_database_is_no_session(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("create table part (id text);")
    assert [one.code for one in load_sessions(path).problems] == ["not_a_session"]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.tuples(st.integers(0, 40_000), st.binary(max_size=30)), min_size=1, max_size=5))
@example(cuts=[(3636, b"\x80")])
def test_damage_raises_nothing(database: Path, tmp_path: Path, cuts: list[tuple[int, bytes]]) -> None:
    data = database.read_bytes()
    for at, put in cuts:
        data = data[: at % len(data)] + put + data[at % len(data) + len(put) :]
    bad = tmp_path / "opencode.db"
    bad.write_bytes(data)
    assert "importer_failed" not in [one.code for one in load_sessions(bad).problems]
