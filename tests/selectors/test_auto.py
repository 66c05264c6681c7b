"""`auto(percent)` switches once at the border, and says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import MAIL, READ, TOOLS, tool
from toolkit import Host
from toolkit.errors import InputError
from toolkit.selectors import resolve

LIMIT = 1_000
SPEC = f"auto(percent=1, window={LIMIT * 100})"


def counted(name: str) -> int:
    """Return 10 tokens, and for `mcp.clock.n<size>` what is missing to that size with the four other tools."""
    return int(name.removeprefix("mcp.clock.n")) - 40 if name.startswith("mcp.clock.n") else 10


def modes(sizes: list[int]) -> tuple[list[bool], list[bool]]:
    """Return, turn by turn with definitions of such sizes, whether it searches and whether it says that it changed."""
    host = Host(TOOLS, SPEC, tokens=counted)
    searches, told = [], []
    for size in sizes:
        host.tools_changed("mcp:clock", [tool(f"mcp.clock.n{size}")])
        turn = host.start_turn("x")
        searches.append(bool(turn.searchable))
        told.append("mode_changed" in turn.notices)
    return searches, told


def flips(searches: list[bool]) -> list[bool]:
    return [False, *(one != other for one, other in zip(searches, searches[1:], strict=False))]


@given(st.lists(st.integers(901, 1_080), min_size=1, max_size=12))
def test_within_a_tenth_of_the_border_it_flips_at_most_once(sizes: list[int]) -> None:
    assert sum(flips(modes(sizes)[0])) <= 1


def test_it_searches_above_the_border_and_declares_again_a_tenth_below() -> None:
    assert modes([1_000, 1_001, 901, 900, 1_000])[0] == [False, True, True, False, False]


@given(st.lists(st.integers(41, 3_000), min_size=1, max_size=12))
def test_every_flip_is_told_and_nothing_else(sizes: list[int]) -> None:
    searches, told = modes(sizes)
    assert told == flips(searches)


def test_beyond_the_share_the_own_tools_are_declared_and_all_else_is_searched() -> None:
    turn = Host(TOOLS, "auto(percent=1, window=100)").start_turn("x")
    assert (turn.declared, READ.name in turn.declared, MAIL.name in turn.searchable) == (
        ("tools.search", READ.name),
        True,
        True,
    )


def test_where_nothing_can_be_searched_all_is_declared_and_no_flip_is_told() -> None:
    host = Host(TOOLS, "auto(percent=1, window=100)", policy={"tools.search": "deny"})
    turns = [host.start_turn("x") for _ in range(3)]
    assert [turn.notices for turn in turns] == [(), (), ()]
    assert len(turns[0].declared) == len(TOOLS)


@pytest.mark.parametrize("spec", ["auto(percent=0)", "auto(percent=101)", "auto(percent='x')", "auto(window=0)"])
def test_what_is_out_of_range_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="^auto: "):
        resolve(spec)


def test_its_repr_is_the_expression_that_builds_it() -> None:
    assert repr(resolve("auto(5, window=1000)")) == "auto(percent=5, window=1000)"
    assert repr(resolve("auto")) == "auto(percent=10)"
