"""Tool definitions become the types that OpenAI writes."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.tokens.providers.typescript import BETWEEN, HEAD, TAIL, block, comment, function
from toolkit.tokens.vocabulary.tables import count_text


def written(schema: Any) -> str:
    return function("f", "", schema).removeprefix("type f = (").removesuffix(") => any")


def prop(schema: Any) -> str:
    return written({"properties": {"x": schema}, "required": ["x"]}).removeprefix("_: { x: ").removesuffix(" }")


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"type": "string"}, "string"),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"const": "only"}, '"only"'),
        ({"type": "array", "items": {"type": "integer"}}, "integer[]"),
        ({"type": "array"}, "any[]"),
        ({"type": "array", "items": [{"type": "string"}, {"type": "number"}]}, "any[]"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string | null"),
        ({"type": "object"}, "object"),
        ({"type": "object", "properties": {"y": {"type": "number"}}}, "{ y?: number }"),
        (True, "any"),
        (False, "any"),
        ({}, "any"),
        (None, "any"),
    ],
)
def test_a_property_is_written_as_its_type(schema: Any, expected: str) -> None:
    assert prop(schema) == expected


def test_an_object_with_any_comment_stands_on_several_lines() -> None:
    schema = {"properties": {"a": {"type": "string", "title": "A"}, "b": {"type": "integer", "default": 3}}}
    assert written(schema) == "_: {\n// A\na?: string,\nb?: integer, // default: 3\n}"


def test_a_type_list_repeats_its_description_before_each_member() -> None:
    schema = {"properties": {"tz": {"type": ["string", "null"], "description": "Zone."}}, "required": ["tz"]}
    assert written(schema) == "_: {\n// Zone.\ntz: \n// Zone.\nstring | \n// Zone.\nnull,\n}"


def test_title_and_description_of_the_parameters_are_comments() -> None:
    schema = {"title": "Args", "description": "All.", "properties": {"a": {"type": "string"}}}
    assert written(schema) == "_: // Args\n// All.\n{ a?: string }"


@pytest.mark.parametrize("schema", [None, {}, {"type": "object"}, {"properties": {}}, {"properties": None}, True, []])
def test_no_parameters_are_an_empty_argument_list(schema: Any) -> None:
    assert function("f", "", schema) == "type f = () => any"


def test_comment_lines_are_stripped_and_blank_ones_kept() -> None:
    assert comment("  one\n\n   two\n") == "// one\n//\n// two\n"
    assert comment(None) == comment("  ") == ""


def test_references_are_inlined_and_circles_end() -> None:
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    schema = {"$defs": {"Node": node}, "properties": {"root": {"$ref": "#/$defs/Node"}}}
    started = time.perf_counter()
    assert "kids" in written(schema) and time.perf_counter() - started < 1


def test_references_that_double_at_every_level_end_within_seconds() -> None:
    pair = {f"N{i}": {"properties": {s: {"$ref": f"#/$defs/N{i + 1}"} for s in "ab"}} for i in range(40)}
    started = time.perf_counter()
    written({"$defs": pair, "properties": {"x": {"$ref": "#/$defs/N0"}}})
    assert time.perf_counter() - started < 5


leaves = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["string", "object", "array", ["string", "null"], "zeta", None]),
        "description": st.text(max_size=20),
        "title": st.text(max_size=10),
        "enum": st.lists(st.text(max_size=5), max_size=3),
        "default": st.one_of(st.none(), st.text(max_size=5), st.integers()),
    },
)
schemas = st.recursive(
    st.one_of(leaves, st.booleans(), st.none()),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.text(max_size=8), inner, max_size=3),
            "items": inner,
            "anyOf": st.lists(inner, max_size=3),
            "required": st.lists(st.text(max_size=8), max_size=2),
        },
    ),
    max_leaves=8,
)


@given(schemas)
def test_any_schema_is_written_without_an_error(schema: Any) -> None:
    assert function("f", "d", schema).startswith("// d\ntype f = (")


names = st.from_regex(r"[a-z]{1,8}(_[a-z]{1,8})?", fullmatch=True)


@given(st.lists(st.tuples(names, st.sampled_from(["", "Does it.", "- one\n\n  two"]), leaves), min_size=1, max_size=6))
def test_a_block_costs_what_its_functions_cost_one_by_one(rows: list[tuple[str, str, Any]]) -> None:
    functions = [function(name, text, {"properties": {"x": schema}}) for name, text, schema in rows]
    apart = sum(count_text(BETWEEN + one) for one in functions) + count_text(HEAD) + count_text(TAIL) - 1
    assert abs(count_text(block(functions)) - apart) <= 0
