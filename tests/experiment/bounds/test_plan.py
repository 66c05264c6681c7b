"""`oracle_cost` is the cheapest schedule of declared sets: nothing that was tried by brute force is cheaper."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations, product

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, DATASET, LOG, MAIL, READ, call, event, said, session, tool, turn
from toolkit.bench import Bench
from toolkit.experiment.bounds.plan import oracle_plan
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.study import measure
from toolkit.formats.sessions import load_sessions
from toolkit.prices.price import Price, Rates
from toolkit.prompt_cache.rules import CacheRules
from toolkit.replaying import System
from toolkit.replaying.system import ORACLE_COST
from toolkit.session import Session
from toolkit.tokens.counter import Counter

COUNTER = Counter()
OTHER = tool("mcp.big.draw_map", "Draws a map. " * 800, kind="string")
HUGE = tool("mcp.big.make_report", "Makes a report. " * 400, kind="string")
PRICE = Price("m", Rates(3e-6, 3e-7, 3.75e-6, 15e-6))
RULES = [CacheRules("breakpoints", minimum, 1, None) for minimum in (0, 400)]


def bench(rules: CacheRules) -> Bench:
    return Bench(counter=COUNTER, rules=rules, price=PRICE)


def cost(recorded: Session, plan: Sequence[frozenset[str]], rules: CacheRules) -> float:
    """Return the USD of a session that declares what is planned, through the replay and the ledger."""
    made = bench(rules).prepare(recorded)
    rows = bench(rules).rows(made, bench(rules).replay(made, System(ORACLE_COST), plan=plan))
    return sum(bench(rules).costs(row).cost_with_fallback_usd for row in rows)


def planned(recorded: Session, rules: CacheRules) -> list[frozenset[str]]:
    return oracle_plan(bench(rules), bench(rules).prepare(recorded))


def subsets(names: Sequence[str]) -> list[frozenset[str]]:
    sizes = (combinations(names, size) for size in range(len(names) + 1))
    return [frozenset(some) for some in chain.from_iterable(sizes)]


@st.composite
def small_sessions(draw: st.DrawFn) -> Session:
    """Up to four turns over three tools, one of them larger than all the rest."""
    names = st.lists(st.sampled_from([READ.name, LOG.name, HUGE.name]), max_size=2)
    passes = st.lists(st.tuples(names, st.integers(0, 300)), min_size=1, max_size=3)
    recorded = [
        turn("do it", *(said("so " * words, *(call(name) for name in called)) for called, words in one))
        for one in draw(st.lists(passes, min_size=1, max_size=4))
    ]
    return session(*recorded, tools=(READ, BRANCH, LOG, MAIL, HUGE))


@pytest.mark.parametrize("rules", RULES, ids=["no minimum", "minimum 400"])
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(recorded=small_sessions())
def test_no_sequence_of_declared_sets_is_cheaper(recorded: Session, rules: CacheRules) -> None:
    found = cost(recorded, planned(recorded, rules), rules)
    used = sorted({one.name for one in recorded.calls()})
    tried = (cost(recorded, plan, rules) for plan in product(subsets(used), repeat=len(recorded.turns)))
    assert found <= min(tried) * (1 + 1e-9)


def test_a_set_is_padded_where_that_lifts_its_prompts_over_the_minimum_of_the_cache() -> None:
    rules, tools = CacheRules(minimum=1024, step=128), (READ, tool("mcp.big.help", "Helps. " * 600))
    recorded = session(turn("look", *[said("so " * 9, call(READ.name))] * 40), tools=tools)
    (padded,) = planned(recorded, rules)
    assert "mcp.big.help" in padded
    assert cost(recorded, [padded], rules) < cost(recorded, [padded - {"mcp.big.help"}], rules)


def test_two_tools_of_one_pass_are_withheld_together_where_one_fallback_is_cheaper() -> None:
    tools = [tool(f"mcp.big.part_{letter}", f"Part {letter}. " * 400) for letter in "ab"]
    calls = [call(one.name, "done", one.name) for one in tools]
    recorded = session(turn("go", said("so", *calls), *[said("on")] * 40), tools=tools)
    assert planned(recorded, RULES[0]) == [frozenset()]


def test_a_tool_that_is_hidden_in_some_turns_stands_in_no_set_there_and_the_bound_holds() -> None:
    hide, show = (event(kind, extension="notes", patterns=[LOG.name]) for kind in ("hide", "show"))
    long = [said("word " * 2000, call(READ.name)), said("so", call(LOG.name))]
    recorded = session(*(turn("go", *long, events=events) for events in ((hide,), (), (show,), ())))
    plan = planned(recorded, RULES[0])
    assert [LOG.name in names for names in plan[:2]] == [False, False]
    tried = (cost(recorded, one, RULES[0]) for one in product(subsets([READ.name, LOG.name]), repeat=4))
    assert cost(recorded, plan, RULES[0]) == pytest.approx(min(tried), rel=1e-9)


def test_a_large_tool_that_one_turn_needs_is_declared_in_that_turn_alone() -> None:
    small = [turn("more", said("yes", call(READ.name))) for _ in range(3)]
    one = session(*small, turn("report", said("yes", call(HUGE.name))), *small, tools=(READ, HUGE, OTHER))
    plan = planned(one, RULES[0])
    assert [HUGE.name in names for names in plan] == [False] * 3 + [True] + [False] * 3


def test_a_long_history_keeps_one_set() -> None:
    long = [turn("more", said("word " * 2000, call(name))) for name in (READ.name, LOG.name, READ.name, LOG.name)]
    assert len(set(planned(session(*long), RULES[0]))) == 1


def test_many_turns_are_cut_into_runs_that_cost_no_more_than_one_set() -> None:
    names = [READ.name] * 6 + [HUGE.name] + [LOG.name] * 6
    one = session(*(turn("do", said("so", call(name))) for name in names), tools=(READ, LOG, HUGE, OTHER))
    plan = planned(one, RULES[0])
    constant = [frozenset(names)] * len(names)
    assert cost(one, plan, RULES[0]) < cost(one, constant, RULES[0])


def test_no_selector_of_the_packaged_recordings_costs_less_than_the_bound() -> None:
    selectors = ("all", "lazy", "builtin-only", "deferred")
    plan = study(selectors, retriever="lexical", model="claude-sonnet-4-5", progress=False)
    board = measure(load_sessions(DATASET), plan).summary.set_index("system")
    assert board["regret"].min() == board.loc[ORACLE_COST, "regret"] == 0
    assert board.loc["none", "served"] == 0


def test_without_prices_there_is_no_regret() -> None:
    unknown = session(turn("look", said("", call(READ.name))), model="nobody's model")
    board = measure([unknown], study(("lazy",), retriever="lexical", progress=False)).summary
    assert board["regret"].isna().all()
