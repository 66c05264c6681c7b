"""Equal sets of tools are one value, in whatever order they came, and what is worked out of one is worked out once."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS
from toolkit.tool import Catalog, Tool, canonical_order
from toolkit.toolset import ToolSet, toolset

names = st.sampled_from(["tools.search", *(f"mcp.s{n % 3}.t{n}" for n in range(12)), "builtin.a", "builtin.b"])
tools = st.lists(st.builds(Tool, names, st.sampled_from(["", "does", "reads"])), max_size=20)
some = st.sets(names | st.just("mcp.gone.x"), max_size=8)


def same(left: ToolSet, right: ToolSet) -> bool:
    return left == right and hash(left) == hash(right) and left.tools == right.tools


@given(tools)
def test_the_first_of_a_name_stays_and_the_order_is_canonical(given: list[Tool]) -> None:
    first = {tool.name: tool for tool in reversed(given)}
    assert list(ToolSet(given)) == sorted(first.values(), key=canonical_order)


@given(tools, st.randoms(use_true_random=False))
def test_equal_sets_are_equal_in_any_order_and_when_they_were_pickled(given: list[Tool], random: object) -> None:
    found = ToolSet(given)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert same(found, ToolSet(shuffled)) and same(found, pickle.loads(pickle.dumps(found)))
    assert found.digest == ToolSet(shuffled).digest


@given(tools, some)
def test_a_part_and_the_rest_make_the_whole_again(given: list[Tool], part: set[str]) -> None:
    whole = ToolSet(given)
    assert same(whole.subset(part), ToolSet(tool for tool in whole if tool.name in part))
    assert same(whole.without(part), ToolSet(tool for tool in whole if tool.name not in part))
    assert same(whole.without(part) | whole.subset(part), whole)


@given(tools, tools)
def test_of_a_name_in_both_the_first_sets_tool_stays(first: list[Tool], second: list[Tool]) -> None:
    assert same(ToolSet(first) | ToolSet(second), ToolSet([*ToolSet(first), *second]))


def test_equal_tools_give_the_same_object_and_what_hangs_on_it_is_worked_out_once() -> None:
    made = []
    again = [Tool(t.name, t.description, t.schema_text, t.source, t.deferred, t.annotations_text, t.id) for t in TOOLS]

    def make(tools: ToolSet, k: int) -> int:
        made.append(k)
        return len(tools) + k

    assert toolset(again) is toolset(TOOLS)
    assert [toolset(one).derived(make, k) for one in (TOOLS, again) for k in (1, 2)] == [
        len(TOOLS) + 1,
        len(TOOLS) + 2,
    ] * 2
    assert made == [1, 2]


def test_what_was_asked_for_longest_ago_goes_first() -> None:
    found, made = ToolSet(TOOLS), []

    def make(tools: ToolSet, k: int) -> None:
        made.append(k)

    for k in (0, *range(1, 48), 0, 48, 0, 1):
        found.derived(make, k)
    assert made == [*range(49), 1]


def test_tools_stand_by_source_without_core_tools() -> None:
    found = ToolSet((Tool("tools.search", source="core"), *TOOLS)).by_source
    assert found == {"builtin": (READ.name,), "mcp:git": (BRANCH.name, LOG.name), "mcp:mail": (MAIL.name,)}


def test_patterns_match_whole_names_each_once() -> None:
    assert ToolSet(TOOLS).matching(("mcp.git.*", "mcp.*_log", "nothing")) == (BRANCH.name, LOG.name)


def test_catalogs_that_dropped_different_tools_are_different() -> None:
    first, second = Tool("a", "one"), Tool("a", "two")
    assert Catalog([first]) != Catalog([first, second]) == Catalog([first, second])
