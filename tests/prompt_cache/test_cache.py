"""The prompt cache reads prefixes, says why it could not, and agrees with a naive twin however it is told."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.prompt_cache.naive import naive_uses, shared_before
from toolkit.prices.price import Price, Rates
from toolkit.prompt_cache.cache import Prompt, PromptCache, Segment, segments, simulate
from toolkit.prompt_cache.rules import IDEAL, MODES, CacheRules

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


def test_a_use_costs_its_reads_writes_and_the_rest() -> None:
    use = simulate(GROWING, CacheRules())[1]
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


rules = st.builds(
    CacheRules, st.sampled_from(MODES), st.integers(0, 20), st.integers(1, 5), st.sampled_from([None, 10.0])
)


@settings(max_examples=300)
@given(prompts, rules)
def test_any_prompts_are_used_as_the_naive_twin_uses_them(rows: list[Prompt], some: CacheRules) -> None:
    found = simulate(rows, some)
    assert [replace(use, shared=0) for use in found] == naive_uses(rows, some)
    assert [use.shared for use in found] == shared_before(rows)


@given(prompts)
def test_the_ideal_rules_read_all_that_any_earlier_prompt_shares(rows: list[Prompt]) -> None:
    assert [use.read for use in simulate(rows, IDEAL)] == shared_before(rows)


@given(prompts, rules)
def test_every_token_is_read_written_or_paid_and_bounds_hold(rows: list[Prompt], some: CacheRules) -> None:
    for row, use in zip(rows, simulate(rows, some), strict=True):
        assert use.tokens == row.tokens and use.read <= use.shared
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


FRONTS = [[("a", 300), ("b", 600)], [("a", 300), ("b", 600), ("c", 900)], [("a", 300), ("d", 1200)], [("c", 900)]]
RULES = [
    CacheRules("longest_prefix", 1024, 128, 600.0),
    CacheRules("longest_prefix", 0, 1, None),
    CacheRules("breakpoints", 1024, 1, 300.0),
]
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 900), st.sampled_from([10.0, 200.0, 700.0]), st.integers(0, 9)),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("clock", [True, False])
@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.mode}-{rules.minimum}")
@settings(deadline=None, max_examples=100, derandomize=True)
@given(steps=STEPS)
def test_a_session_that_is_told_step_by_step_is_used_as_its_whole_prompts(
    rules: CacheRules, clock: bool, steps: list[tuple[int, int, float, int]]
) -> None:
    cache, at, messages, prompts, got = PromptCache(rules), 0.0, list[Segment](), [], []
    for number, (which, size, pause, chance) in enumerate(steps):
        at += pause
        front = segments(FRONTS[which], [("system", 200)])
        cache.declare(front)
        if chance == 0:
            messages.clear()
            cache.drop()
        messages.append(Segment(number, size))
        cache.say(messages[-1])
        prompts.append(Prompt((*front, *messages), at if clock else None))
        got.append(cache.send(prompts[-1].at))
    assert [replace(use, shared=0) for use in got] == naive_uses(prompts, rules)
    assert [use.shared for use in got] == shared_before(prompts)


def test_messages_told_together_count_as_so_many_where_a_cache_looks_back() -> None:
    reads = []
    for messages in (19, 20):
        cache = PromptCache(CacheRules("breakpoints"))
        cache.declare(segments([("a", 100)]))
        cache.say(Segment("first", 50))
        cache.send()
        cache.say(Segment("more", 10, "messages", messages))
        reads.append(cache.send().read)
    assert reads == [150, 100]


@pytest.mark.parametrize("mode", MODES)
def test_a_warm_cache_reads_the_definitions_from_the_first_request_on_and_for_ever(mode: str) -> None:
    rules, cold = CacheRules(mode, minimum=50, lifetime=300), PromptCache(CacheRules(mode, minimum=50, lifetime=300))
    cache = PromptCache(rules, warm=True)
    asked = [prompt(TOOLS, [("m", 50)], at=0), prompt(TOOLS, [("n", 50)], at=10_000)]
    assert [cache.use(one).read for one in asked] == [100, 100]
    assert [cold.use(one).read for one in asked] == [0, 0]
    other = cache.use(prompt([("b", 30)], [("m", 50)], at=10_001))
    assert other.read == 0, "a front below the minimum is never read"


@given(st.lists(st.sampled_from(["a", "b", "c"]), max_size=3, unique=True), st.sampled_from(MODES), st.integers(0, 200))
def test_a_warm_cache_reads_at_least_what_a_cold_one_does_and_no_more_than_is_shared(
    tools: list[str], mode: str, minimum: int
) -> None:
    rules = CacheRules(mode, minimum=minimum)
    asked = [prompt([(name, 60) for name in tools], [(f"m{n}", 40) for n in range(count)]) for count in (1, 2, 1, 3)]
    warm, cold = PromptCache(rules, warm=True), PromptCache(rules)
    for one in asked:
        hot, bare = warm.use(one), cold.use(one)
        assert bare.read <= hot.read <= hot.shared <= hot.tokens == bare.tokens
