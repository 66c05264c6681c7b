"""The cache of a session agrees with the model that builds every prompt's segments, and prices follow it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.builders import said, session, turn
from toolkit.ledger import ledger
from toolkit.prompt_cache.rules import CacheRules, Prompt, segments, simulate
from toolkit.prompt_cache.session import PrefixCache
from toolkit.replaying import System, fold, script
from toolkit.replaying.script_tokens import count_script
from toolkit.session import Pass, Session, Turn, Usage
from toolkit.tokens.text_counter import TextCounter
from toolkit.tool import Catalog, Tool

TOOLS = [Tool(f"builtin.t{n}") for n in range(4)]
SIZES = {tool: 300 * (n + 1) for n, tool in enumerate(TOOLS)}
SYSTEM = 200
FRONTS = [tuple(TOOLS[:2]), tuple(TOOLS[:3]), (TOOLS[0], TOOLS[3]), (TOOLS[2],)]
RULES = [
    CacheRules("longest_prefix", 1024, 128, 600.0, 0.1),
    CacheRules("longest_prefix", 0, 1, None, 0.1),
    CacheRules("breakpoints", 1024, 1, 300.0, 0.1, 1.25),
]
STEPS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(1, 900), st.sampled_from([10.0, 200.0, 700.0]), st.integers(0, 9)),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize("rules", RULES, ids=lambda rules: f"{rules.mode}-{rules.minimum}")
@settings(deadline=None, max_examples=150, derandomize=True)
@given(steps=STEPS)
def test_reads_and_writes_are_those_of_the_full_model(
    rules: CacheRules, steps: list[tuple[int, int, float, int]]
) -> None:
    cache = PrefixCache(rules, SIZES.__getitem__, SYSTEM)
    at, era, messages, prompts, got = 0.0, 0, [], [], []
    for which, size, pause, chance in steps:
        at += pause
        if chance == 0 and messages:
            era, messages = era + 1, []
            cache.compact()
        messages.append((f"{era}-{len(messages)}", size))
        front = FRONTS[which]
        tools = [(tool.name, SIZES[tool]) for tool in front]
        prompts.append(Prompt(segments(tools, [("system", SYSTEM)], messages), at))
        head = sum(SIZES[tool] for tool in front) + SYSTEM
        got.append(cache.use(front, head, prompts[-1].tokens, len(messages), at))
    expected = simulate(prompts, rules)
    assert [(use.read, use.write, use.uncached) for use in got] == [(u.read, u.write, u.uncached) for u in expected]


def test_a_changed_declared_set_is_the_cause_of_a_break() -> None:
    cache = PrefixCache(CacheRules(), SIZES.__getitem__, SYSTEM)
    for front, cause in ((FRONTS[0], None), (FRONTS[0], None), (FRONTS[1], "tools_changed"), (FRONTS[1], None)):
        head = sum(SIZES[tool] for tool in front) + SYSTEM
        assert cache.use(front, head, head + 10, 1, None).cause == cause


def test_a_bill_is_carried_over_with_the_predicted_difference() -> None:
    catalog = Catalog([Tool("builtin.a", "A tool."), Tool("mcp.x.b", "Another tool, with a longer description.")])
    one = Pass("Hello.", usage=Usage(prompt=500), declared=("builtin.a", "mcp.x.b"))
    recorded = Session("s", catalog, (Turn("hi", (one,)),))
    counter, made = TextCounter(), script(recorded)
    tokens = count_script(made, counter)
    everything, few = (ledger(tokens, fold(made, System(s, "lexical")), counter)[0] for s in ("all", "builtin-only"))
    assert everything.anchored_prompt_tokens == 500
    assert few.anchored_prompt_tokens == 500 - counter.definition(catalog["mcp.x.b"])


def test_a_recording_without_a_bill_is_not_anchored() -> None:
    made = script(session(turn("hi", said("Hello."))))
    counter = TextCounter()
    assert (
        ledger(count_script(made, counter), fold(made, System("all", "lexical")), counter)[0].anchored_prompt_tokens
        is None
    )
