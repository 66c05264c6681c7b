"""Definitions are joined by name once the host's prefixes are off."""

from __future__ import annotations

import pytest

from toolkit.formats.joining import join
from toolkit.session import Call, Pass, Session, Turn
from toolkit.tool import Catalog, Tool

SCHEMA = {"type": "object"}


def session(*names: str) -> Session:
    calls = tuple(Call(str(n), name) for n, name in enumerate(names))
    return Session("s", Catalog(map(Tool, names)), (Turn("Go.", (Pass(calls=calls),)),), definitions="missing")


@pytest.mark.parametrize(
    "name", ["mcp.git.log", "mcp__git__log", "git_log", "functions.git_log", "builtin.git_log", "git__log", "log"]
)
def test_a_tool_is_found_under_every_spelling(name: str) -> None:
    (one,), around = join([session(name)], [Tool("mcp.git.log", "Shows.", SCHEMA), Tool("mcp.git.show", "", SCHEMA)])
    (tool,) = one.catalog
    assert (tool.name, tool.description, one.definitions) == (name, "Shows.", "joined")
    assert [tool.name for tool in around] == ["mcp.git.show"]


def test_a_last_part_that_two_tools_have_joins_neither() -> None:
    (one,), around = join([session("log")], [Tool("mcp.git.log", "", SCHEMA), Tool("mcp.hg.log", "", SCHEMA)])
    assert (one.definitions, len(around)) == ("missing", 2)


def test_a_tool_that_the_catalog_lacks_leaves_the_session_missing_it() -> None:
    (one,), _ = join([session("git_log", "odd")], [Tool("mcp.git.log", "", SCHEMA)])
    assert one.definitions == "missing" and [bool(tool.schema_text) for tool in one.catalog] == [True, False]


def test_a_session_that_was_recorded_with_definitions_stays_as_it_is() -> None:
    whole = Session("s", Catalog([Tool("git_log", "Own.", SCHEMA)]))
    tools = [Tool("mcp.git.log", "Other.", SCHEMA)]
    (one,), around = join([whole], tools)
    assert one is whole and list(around) == tools
