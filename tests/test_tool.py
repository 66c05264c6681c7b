"""What a tool and a catalog are: identity, order, wire names, billed text."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import LOG, READ, TOOLS, tool
from toolkit.errors import InputError
from toolkit.tool import WIRE_PATTERN, Catalog, Tool, canonical_order, definition_text, source_of, wire_name

NAMES = st.text(max_size=80) | st.from_regex(r"mcp\.[a-z_]{1,8}\.[a-z_-]{1,40}", fullmatch=True)


@pytest.mark.parametrize(
    ("name", "source", "server", "leaf"),
    [
        ("builtin.read", "builtin", None, "read"),
        ("mcp.git.log", "mcp:git", "git", "log"),
        ("mcp.git.repo.log", "mcp:git", "git", "repo.log"),
        ("ui.show", "core", None, "show"),
        ("mcp.", "builtin", None, ""),
    ],
)
def test_a_name_tells_source_server_and_leaf(name: str, source: str, server: str | None, leaf: str) -> None:
    made = Tool(name)
    assert (made.source, made.server, made.leaf) == (source, server, leaf)
    assert source_of(name) == source


def test_a_schema_keeps_its_bytes_and_is_parsed_afresh() -> None:
    text = '{"type": "object",  "b":1,"a":2}'
    made = Tool("x", input_schema=text)
    assert made.schema_text == text
    made.input_schema["b"] = 9
    assert made.input_schema["b"] == 1


def test_a_schema_object_is_kept_in_key_order() -> None:
    assert Tool("x", input_schema={"z": 1, "a": 2}).schema_text == '{"z":1,"a":2}'


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": 7},
        {"name": "x", "description": 7},
        {"name": "x", "input_schema": [1]},
        {"name": "x", "input_schema": "{oh"},
        {"name": "x", "input_schema": {"a": {1}}},
        {"name": "x", "annotations": [1]},
    ],
)
def test_what_is_no_tool_is_refused_with_a_reason(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be|no JSON value"):
        Tool(**wrong)


def test_a_tool_is_frozen_and_equal_by_content() -> None:
    with pytest.raises(AttributeError):
        READ.name = "other"  # type: ignore[misc]
    twin = tool(READ.name, READ.description, path="string")
    assert twin == READ and hash(twin) == hash(READ)


def test_a_tool_survives_copying_and_pickling() -> None:
    assert pickle.loads(pickle.dumps(LOG)) == copy.deepcopy(LOG) == LOG


def test_a_changed_tool_differs_in_that_field_only() -> None:
    assert LOG.flagged(False).flagged(True) == LOG
    assert LOG.renamed("x").renamed(LOG.name) == LOG
    assert LOG.sourced("mcp:git") is LOG


def test_the_billed_text_is_compact_json_with_the_schema_byte_for_byte() -> None:
    assert definition_text(Tool("a", "ü", '{"z": 1}')) == '{"name":"a","description":"ü","parameters":{"z": 1}}'
    assert json.loads(definition_text(Tool("a"))) == {"name": "a", "description": ""}


def test_core_tools_come_first_then_names_by_code_point() -> None:
    mixed = [Tool("b"), Tool("ui.show"), Tool("Z"), Tool("tools.search"), Tool("a")]
    assert [one.name for one in sorted(mixed, key=canonical_order)] == ["tools.search", "ui.show", "Z", "a", "b"]


@given(NAMES)
def test_a_wire_name_is_always_one_that_a_provider_accepts(name: str) -> None:
    assert WIRE_PATTERN.match(wire_name(name))


@given(NAMES, NAMES)
def test_two_names_share_a_wire_name_only_if_one_is_the_others_wire_name(a: str, b: str) -> None:
    assert a == b or wire_name(a) != wire_name(b) or wire_name(a) in (a, b)


def test_a_catalog_keeps_the_first_of_two_tools_with_one_name() -> None:
    found = Catalog([READ, Tool(READ.name, "another"), LOG])
    assert (found[READ.name], len(found), [one.description for one in found.dropped]) == (READ, 2, ["another"])
    assert "nothing" not in found and found.get("nothing") is None


def test_tools_around_a_catalog_come_after_and_its_own_win() -> None:
    assert [one.description for one in Catalog([READ]).around([Tool(READ.name, "x"), LOG])] == [
        READ.description,
        LOG.description,
    ]


def test_deferring_flags_what_matches_and_unflags_nothing() -> None:
    found = Catalog(TOOLS).deferring(lambda name: name == READ.name)
    assert [one.name for one in found if one.deferred] == [READ.name, LOG.name]


def test_a_digest_tells_content_and_order_and_nothing_else() -> None:
    assert Catalog(TOOLS).digest == Catalog(list(TOOLS)).digest
    assert Catalog(TOOLS).digest != Catalog(TOOLS[::-1]).digest
    assert Catalog([READ]).digest != Catalog([READ.flagged(True)]).digest


def test_reprs_are_one_line_of_counts() -> None:
    assert (repr(Catalog(TOOLS)), repr(READ)) == ("Catalog(4 tools, 3 sources)", "Tool('builtin.read_file')")
