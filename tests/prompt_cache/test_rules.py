"""The prompt cache reads prefixes, and says why it could not."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import UnknownNameError
from toolkit.prices.price import Price, Rates
from toolkit.prompt_cache.rules import (
    IDEAL,
    MODES,
    CacheRules,
    Prompt,
    Segment,
    ideal_cache,
    no_cache,
    rules_for,
    segments,
    simulate,
)

Rows = Sequence[tuple[str, int]]


def prompt(tools: Rows = (), messages: Rows = (), system: Rows = (), at: float | None = None) -> Prompt:
    return Prompt(segments(tools, system, messages), at)


TOOLS = [("a", 100)]
GROWING = [prompt(TOOLS, [(f"m{i}", 50) for i in range(n)]) for n in range(1, 5)]


@pytest.mark.parametrize("mode", MODES)
def test_a_growing_history_reads_all_that_was_sent_before(mode: str) -> None:
    uses = simulate(GROWING, CacheRules(mode))
    assert [use.read for use in uses] == [0, 150, 200, 250] and {use.cause for use in uses} == {None}


def test_an_added_tool_breaks_everything_at_breakpoints_and_keeps_the_front_elsewhere() -> None:
    rows = [prompt(TOOLS, [("u", 10_000)]), prompt([*TOOLS, ("z", 40)], [("u", 10_000)])]
    assert [simulate(rows, CacheRules(mode))[1].read for mode in MODES] == [0, 100]
    assert {simulate(rows, CacheRules(mode))[1].cause for mode in MODES} == {"tools_changed"}


def test_a_changed_system_text_keeps_only_the_tools() -> None:
    rows = [prompt(TOOLS, [("u", 10)], [("s", 20)]), prompt(TOOLS, [("u", 10)], [("other", 20)])]
    for mode in MODES:
        assert (simulate(rows, CacheRules(mode))[1].read, simulate(rows, CacheRules(mode))[1].cause) == (
            100,
            "system_changed",
        )


def test_an_edited_history_keeps_tools_and_system() -> None:
    rows = [prompt(TOOLS, [("u", 10), ("v", 5)], [("s", 20)]), prompt(TOOLS, [("x", 10), ("v", 5)], [("s", 20)])]
    use = simulate(rows, CacheRules("breakpoints"))[1]
    assert (use.read, use.cause) == (120, "messages_changed")


def test_an_entry_that_nobody_hit_in_time_has_expired() -> None:
    rules = CacheRules(lifetime=300)
    rows = [prompt(TOOLS, [("m", 50)], at=0), prompt(TOOLS, [("m", 50)], at=299), prompt(TOOLS, [("m", 50)], at=598)]
    assert [use.read for use in simulate(rows, rules)] == [0, 150, 150]
    late = simulate([rows[0], prompt(TOOLS, [("m", 50)], at=301)], rules)[1]
    assert (late.read, late.cause) == (0, "expired")


def test_a_prompt_below_the_minimum_is_neither_read_nor_written() -> None:
    uses = simulate(GROWING[:2], CacheRules(minimum=1024))
    assert [(use.read, use.write, use.uncached) for use in uses] == [(0, 0, 150), (0, 0, 200)]


def test_a_shared_front_below_the_minimum_is_named_as_the_cause() -> None:
    rows = [prompt(TOOLS, [("m", 950)]), prompt(TOOLS, [("m", 950), ("n", 50)])]
    assert simulate(rows, CacheRules("breakpoints", 1051))[1].cause is None
    rows = [prompt([("a", 1030)]), prompt([("a", 1030)], [("n", 50)])]
    assert simulate(rows, CacheRules(minimum=1024, step=2048))[1].cause == "below_minimum"


def test_reads_are_whole_steps() -> None:
    rows = [prompt([("a", 1300)]), prompt([("a", 1300)], [("n", 50)])]
    assert simulate(rows, CacheRules(minimum=1024, step=128))[1].read == 1280


def test_an_unknown_mode_names_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="breakpoints"):
        CacheRules("sometimes")


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("claude-opus-4-5", ("breakpoints", 4096, 1, 0.1)),
        ("claude-sonnet-4-5", ("breakpoints", 1024, 1, 0.1)),
        ("claude-opus-5", ("breakpoints", 512, 1, 0.1)),
        ("gpt-4.1", ("longest_prefix", 1024, 128, 0.25)),
        ("gpt-5.4", ("longest_prefix", 1024, 128, 0.1)),
        ("gpt-5.6-sol", ("longest_prefix", 1024, 1, 0.1)),
        ("gemini-2.5-pro", ("longest_prefix", 2048, 1, 0.1)),
        ("mistral-large", ("longest_prefix", 16, 16, 0.1)),
    ],
)
def test_a_model_has_its_vendors_rules(model: str, expected: tuple[str, int, int, float]) -> None:
    rules = rules_for(model)
    assert (rules.mode, rules.minimum, rules.step, rules.read) == expected


def test_a_use_costs_its_reads_writes_and_the_rest() -> None:
    use = simulate(GROWING, CacheRules(write=1.25))[1]
    assert use.weight(CacheRules(read=0.1, write=1.25)) == pytest.approx(150 * 0.1 + 50 * 1.25)
    assert use.cost(Price("m", Rates(1.0, 0.1, 1.25, 4.0)), output=2) == pytest.approx(15 + 62.5 + 8)


def test_long_sessions_are_simulated_in_linear_time() -> None:
    rows = [prompt([(f"t{i}", 9) for i in range(300)], [(f"m{i}", 9) for i in range(n)]) for n in range(300)]
    started = time.perf_counter()
    for mode in MODES:
        simulate(rows, CacheRules(mode))
    assert time.perf_counter() - started < 10


labels = st.tuples(st.sampled_from("abc"), st.integers(1, 5))
prompts = st.lists(
    st.builds(prompt, st.lists(labels, max_size=3), st.lists(labels, max_size=5), st.lists(labels, max_size=1)),
    max_size=6,
)


def naive(rows: list[Prompt]) -> list[int]:
    """The longest front that any earlier prompt shares, piece by piece."""
    reads = []
    for at, row in enumerate(rows):
        best = 0
        for earlier in rows[:at]:
            shared = 0
            for one, other in zip(row.segments, earlier.segments, strict=False):
                if one != other:
                    break
                shared += one.tokens
            best = max(best, shared)
        reads.append(best)
    return reads


@given(prompts)
def test_the_ideal_cache_reads_what_the_naive_twin_reads(rows: list[Prompt]) -> None:
    assert [use.read for use in ideal_cache(rows)] == naive(rows)


rules = st.builds(
    CacheRules, st.sampled_from(MODES), st.integers(0, 20), st.integers(1, 5), st.sampled_from([None, 10.0])
)


@given(prompts, rules)
def test_every_token_is_read_written_or_paid_and_bounds_hold(rows: list[Prompt], some: CacheRules) -> None:
    for row, use, none, ideal in zip(rows, simulate(rows, some), no_cache(rows), ideal_cache(rows), strict=True):
        assert use.tokens == row.tokens == none.uncached and none.read <= use.read <= ideal.read
        assert min(use.read, use.write, use.uncached) >= 0 and use.read % some.step == 0


@given(prompts)
def test_a_cause_is_named_exactly_when_the_earlier_prompt_is_no_prefix(rows: list[Prompt]) -> None:
    for before, row, use in zip(rows, rows[1:], simulate(rows, IDEAL)[1:], strict=False):
        assert (use.cause is None) == (
            _by_kind(row)[: len(_by_kind(before))] == _by_kind(before) and _same_head(before, row)
        )


def _by_kind(row: Prompt) -> list[Segment]:
    return [one for one in row.segments if one.kind == "messages"]


def _same_head(one: Prompt, other: Prompt) -> bool:
    heads = [[part for part in row.segments if part.kind != "messages"] for row in (one, other)]
    return heads[0] == heads[1]
