"""Counts add up, bands hold, anchors carry."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from toolkit.tokens.request import METHODS, Count, Definition, anchored, arguments_text, exact, total
from toolkit.tool import Tool

counts = st.builds(
    lambda tokens, method, below, above: Count(tokens, method, tokens - below, tokens + above),
    st.integers(0, 10_000),
    st.sampled_from(METHODS),
    st.integers(0, 500),
    st.integers(0, 500),
)


@given(st.lists(counts))
def test_a_sum_has_the_weakest_method_and_all_the_tokens(rows: list[Count]) -> None:
    found = total(rows)
    assert found.tokens == sum(one.tokens for one in rows)
    assert METHODS.index(found.method) == max([1, *(METHODS.index(one.method) for one in rows)])
    assert found.low <= found.tokens <= found.high


@given(counts, counts)
def test_addition_does_not_care_for_order(one: Count, other: Count) -> None:
    assert one + other == other + one


@given(st.integers(0, 10_000), counts)
def test_an_anchor_on_the_same_request_is_the_bill_itself(billed: int, count: Count) -> None:
    if count.method != "exact-rules":
        assert anchored(billed, count, count).tokens == billed


def test_exact_rules_stand_by_themselves_beside_a_bill() -> None:
    assert anchored(999, exact(100), exact(150)) == exact(150)


def test_arguments_cost_the_same_as_text_and_as_an_object() -> None:
    assert arguments_text({"a": 1}) == arguments_text('{"a": 1}') == '{"a":1}'
    assert arguments_text(None) == "{}" and arguments_text("no json") == "no json"


def test_a_tool_is_declared_under_its_wire_name() -> None:
    found = Definition.of(Tool("mcp.git.log", "Logs.", {"type": "object"}))
    assert (found.name, found.schema) == ("mcp__git__log", {"type": "object"})
    assert Definition.of(Tool("read")).schema is None
