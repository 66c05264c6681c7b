"""What a command is given: sessions of any format, and definitions from catalogs for those that lack them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.builders import atif, written
from toolkit.commands.recorded import recorded
from toolkit.errors import InputError


def test_definitions_are_joined_and_only_what_is_left_stands_around(tmp_path: Path) -> None:
    bare = atif("s", tools=(), calls=["mcp__git__log", "read"])
    catalog = written(
        tmp_path / "tools.jsonl",
        {"name": "log", "server": "git", "input_schema": {"type": "object"}},
        {"name": "read", "input_schema": {"type": "object"}},
        {"name": "other", "input_schema": {"type": "object"}},
    )
    (session,), around = recorded([written(tmp_path / "s.jsonl", bare)], [catalog])
    assert session.definitions == "joined" and all(tool.schema_text for tool in session.catalog)
    assert around is not None and [tool.name for tool in around] == ["builtin.other"]


@pytest.mark.parametrize(
    ("steps", "says"), [([], "no session has a turn"), ([{"source": "system", "message": "Be brief."}], "has a turn")]
)
def test_sessions_without_a_turn_are_an_error_that_says_so(tmp_path: Path, steps: list[object], says: str) -> None:
    with pytest.raises(InputError, match=says):
        recorded([written(tmp_path / "s.jsonl", atif("s", steps=steps))])


def test_files_without_a_session_are_an_error_with_the_first_problem(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no session could be read.*not_a_session"):
        recorded([written(tmp_path / "s.jsonl", {"theme": "dark"})])
