"""Every short sequence of operations in small worlds, and long ones in large worlds: the two engines agree.

A walk over a trie of operations: sequences share their prefixes, so each operation is played once
on a copy of both engines. After each sequence a turn and a call tell what it left behind.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from tests.engine.naive import Event, NaiveEngine
from tests.engine.worlds import (
    EXTENSIONS,
    PATTERNS,
    SELECTORS,
    SMALL_ALPHABET,
    Checker,
    History,
    Ledger,
    apply,
    comparable,
    is_open,
    many_tools,
    policies,
    reordered,
    scopes,
    small_configs,
    tool,
    word_rank,
)
from tests.testing.broken_hosts import BROKEN
from toolkit.testing.driver import Driver
from toolkit.tool import wire_name

LETTERS = {
    "pass": [{"op": "pass", "step": None}],
    **{name: SMALL_ALPHABET[name] for name in ("turn", "search", "call open", "hide e", "show e", "hide f")},
    **{name: SMALL_ALPHABET[name] for name in ("deny", "narrow", "narrow role", "list changed")},
}
ENDING = SMALL_ALPHABET["turn"] + SMALL_ALPHABET["call open"]
STEPS: dict[str, list[Event]] = {
    "step": [{"op": "step", "id": "s", "parent": None, "scope": None}, {"op": "pass", "step": "s"}],
    "narrow step": [{"op": "step", "id": "n", "parent": None, "scope": ["mcp.*"]}, {"op": "pass", "step": "n"}],
    "step in step": [{"op": "step", "id": "n", "parent": "s", "scope": ["*.open"]}, {"op": "pass", "step": "n"}],
    "find in step": [{"op": "search", "step": "s", "query": "mcp.sea.open"}, {"op": "pass", "step": "s"}],
    "call in step": [{"op": "call", "step": one, "name": "mcp.sea.open", "arguments": {}} for one in ("s", "n")],
    "end step": [{"op": "end_step", "id": "s"}],
}


# --- copies of the engines ---


def forked_driver(driver: Driver) -> Driver:
    """Copy what changes: the host, its turns and passes. The state is a frozen value, the searcher a function."""
    fork, host = copy.copy(driver), copy.copy(driver.host)
    open_turns = {*driver.spans.values(), *filter(None, [driver.host.turn])}
    moved = {turn: copy.copy(turn) for turn in open_turns}
    for old, new in moved.items():
        new.host, new._root = host, old._root and moved.get(old._root)
        new.calls, new.searches = list(old.calls), list(old.searches)
    host.turn = moved.get(driver.host.turn) if driver.host.turn else None
    fork.host, fork.spans = host, {key: moved[turn] for key, turn in driver.spans.items()}
    fork.passes = {key: copy.copy(one) for key, one in driver.passes.items()}
    for one in fork.passes.values():
        one.turn = moved.get(one.turn, one.turn)
    return fork


def forked_naive(engine: NaiveEngine) -> NaiveEngine:
    """Copy every container that the naive engine changes in place."""
    fork = copy.copy(engine)
    fork.lists, fork.had, fork.patterns_to_judge = dict(engine.lists), dict(engine.had), dict(engine.patterns_to_judge)
    fork.down, fork.pending, fork.problems = set(engine.down), set(engine.pending), set(engine.problems)
    fork.words = [replace(word) for word in engine.words]
    fork.callers = {
        key: replace(one, found=set(one.found), found_this_pass=set(one.found_this_pass))
        for key, one in engine.callers.items()
    }
    return fork


@dataclass
class Node:
    """Both engines after one sequence of events."""

    reference: Driver
    naive: NaiveEngine
    checker: Checker
    history: History = field(default_factory=list)

    def after(self, events: Sequence[Event]) -> Node:
        forks = forked_driver(self.reference), forked_naive(self.naive), self.checker.fork()
        node = Node(*forks, list(self.history))
        for event in events:
            node.play(event)
        return node

    def play(self, event: Event) -> None:
        ours, theirs = apply(self.reference, event), apply(self.naive, event)
        self.history.append((event, ours))
        if comparable(ours) != comparable(theirs) and not is_open(event, ours, theirs):
            said = [f"{event} → {outcome}" for event, outcome in self.history]
            raise AssertionError("\n".join([*said, f"the naive engine says {theirs}"]))
        self.checker.see(event, ours)


def root(config: dict[str, Any], kind: type[NaiveEngine] = NaiveEngine) -> Node:
    engines = Driver(config, SELECTORS, word_rank), kind(config, SELECTORS, word_rank)
    return Node(*engines, Checker(Ledger(config))).after(SMALL_ALPHABET["turn"])


def walk(node: Node, letters: Mapping[str, list[Event]], depth: int) -> int:
    """Play every sequence of up to `depth` letters from here; return how many there were."""
    node.after(ENDING)
    below = (walk(node.after(events), letters, depth - 1) for events in letters.values()) if depth else ()
    return 1 + sum(below)


def small_world(selector: str | None) -> dict[str, Any]:
    return next(one for one in small_configs() if one["selector"] == selector and not one["ui"])


def test_every_sequence_of_four_operations() -> None:
    assert walk(root(small_world(None)), LETTERS, 4) == sum(len(LETTERS) ** n for n in range(5))


def test_every_sequence_of_three_operations_under_a_selector() -> None:
    assert walk(root(small_world("lazy")), LETTERS, 3)


def test_every_sequence_of_four_operations_of_steps() -> None:
    assert walk(root(small_world(None)), {**STEPS, "deny": SMALL_ALPHABET["deny"]}, 4)


def test_every_sequence_of_three_operations_with_steps() -> None:
    others = {name: SMALL_ALPHABET[name] for name in ("turn", "narrow", "hide e", "list changed")}
    assert walk(root(small_world(None)), {**STEPS, **others}, 3)


@pytest.mark.parametrize("config", small_configs(), ids=lambda one: f"{one['selector']}-{one['same_pass']}-{one['ui']}")
def test_every_sequence_of_two_operations_in_every_small_world(config: dict[str, Any]) -> None:
    assert walk(root(config), SMALL_ALPHABET, 2)


@pytest.mark.parametrize("rule_no", ["V2", "H2", "H3", "H5", "B1", "B3", "B8", "S1", "Q6", "Q7", "Q9", "C1", "C3"])
def test_the_walk_notices_a_broken_engine(rule_no: str) -> None:
    with pytest.raises(AssertionError, match="the naive engine says"):
        walk(root(small_world(None), BROKEN[rule_no]), LETTERS, 4)


@pytest.mark.parametrize("rule_no", ["A1", "A2", "A3", "Q2"])
def test_the_walk_with_steps_notices_a_broken_engine(rule_no: str) -> None:
    letters = {**STEPS, "hide e": SMALL_ALPHABET["hide e"]}
    with pytest.raises(AssertionError, match="the naive engine says"):
        walk(root(small_world(None), BROKEN[rule_no]), letters, 4)


def test_a_copy_of_an_engine_leaves_it_alone() -> None:
    node = root(small_world("lazy"))
    before = node.after(ENDING).history
    walk(node, LETTERS, 2)
    assert node.after(ENDING).history == before


# --- long sequences in large worlds ---


class Engines(RuleBasedStateMachine):
    """Drives both engines through a world of hundreds of tools; every outcome must be the same."""

    @initialize(
        seed=st.integers(0, 10_000),
        count=st.integers(100, 600),
        selector=st.none() | st.sampled_from(sorted(SELECTORS)),
        ui=st.booleans(),
        scope=scopes,
    )
    def start(self, seed: int, count: int, selector: str | None, ui: bool, scope: Any) -> None:
        tools = many_tools(seed, count)
        config = {"tools": tools, "scope": scope, "policy": [], "selector": selector, "ui": ui, "same_pass": "refuse"}
        self.lists: dict[str, list[Any]] = {}
        for one in tools:
            self.lists.setdefault(one["source"], []).append(one)
        self.names = [one["name"] for one in tools] + ["tools.search", "ui.hide", "no.such"]
        self.steps: list[str | None] = [None]
        engines = Driver(config, SELECTORS, word_rank), NaiveEngine(config, SELECTORS, word_rank)
        self.node = Node(*engines, Checker(Ledger(config)))
        self.turn()

    def name(self, place: int) -> str:
        return str(self.names[place % len(self.names)])

    def step_id(self, place: int) -> str | None:
        return self.steps[place % len(self.steps)]

    @rule()
    def turn(self) -> None:
        self.steps = [None]
        self.node.play({"op": "turn", "input": ""})
        self.node.play({"op": "pass", "step": None})

    @rule(step=st.integers(0, 5))
    def next_pass(self, step: int) -> None:
        self.node.play({"op": "pass", "step": self.step_id(step)})

    @rule(step=st.integers(0, 5), name=st.integers(0, 999), limit=st.sampled_from([1, 3, 20, 50, 0]))
    def search(self, step: int, name: int, limit: int) -> None:
        query = self.name(name).replace(".", " ")
        self.node.play({"op": "search", "step": self.step_id(step), "query": query, "limit": limit})

    @rule(step=st.integers(0, 5), name=st.integers(0, 999), bay=st.sampled_from([{}, {"bay": 1}, {"bay": "x"}]))
    def find_and_call(self, step: int, name: int, bay: Any) -> None:
        caller, wanted = self.step_id(step), self.name(name)
        self.node.play({"op": "search", "step": caller, "query": wanted, "limit": 1})
        self.node.play({"op": "pass", "step": caller})
        for spelled in (wanted, wire_name(wanted)):
            self.node.play({"op": "call", "step": caller, "name": spelled, "arguments": bay})

    @rule(parent=st.integers(0, 5), scope=scopes)
    def start_step(self, parent: int, scope: Any) -> None:
        id = f"s{len(self.node.history)}"
        self.node.play({"op": "step", "id": id, "parent": self.step_id(parent), "scope": scope})
        self.node.play({"op": "pass", "step": id})
        self.steps.append(id)

    @precondition(lambda self: len(self.steps) > 1)
    @rule()
    def end_step(self) -> None:
        self.node.play({"op": "end_step", "id": self.steps.pop()})  # The newest: no step in it is open.

    @rule(op=st.sampled_from(["hide", "show"]), by=st.sampled_from(EXTENSIONS), pattern=st.sampled_from(PATTERNS))
    def hide_or_show(self, op: str, by: str, pattern: str) -> None:
        self.node.play({"op": op, "extension": by, "patterns": [pattern]})

    @rule(op=st.sampled_from(["hide", "show"]), by=st.sampled_from(EXTENSIONS), name=st.integers(0, 999))
    def hide_or_show_one(self, op: str, by: str, name: int) -> None:
        self.node.play({"op": op, "extension": by, "patterns": [self.name(name)]})

    @rule(by=st.sampled_from(EXTENSIONS))
    def unload(self, by: str) -> None:
        self.lists.pop(f"extension:{by}", None)
        self.node.play({"op": "unload", "extension": by})

    @rule(of=st.sampled_from(["session", "role"]), patterns=scopes)
    def scope(self, of: str, patterns: Any) -> None:
        self.node.play({"op": "scope", "of": of, "patterns": patterns})

    @rule(policy=policies)
    def policy(self, policy: Any) -> None:
        self.node.play({"op": "policy", "policy": policy})

    @rule(selector=st.none() | st.sampled_from(sorted(SELECTORS)))
    def selector(self, selector: str | None) -> None:
        self.node.play({"op": "selector", "selector": selector})

    @rule(op=st.sampled_from(["server_down", "server_up"]), server=st.sampled_from(["sea", "dock", "a.b", "unheard"]))
    def server(self, op: str, server: str) -> None:
        self.node.play({"op": op, "server": server})

    @rule(place=st.integers(0, 9), how=st.sampled_from(["turned", "reordered", "shorter", "described", "taken over"]))
    def tools_changed(self, place: int, how: str) -> None:
        sources = sorted(source for source in self.lists if not source.startswith("extension:"))
        source = sources[place % len(sources)]
        new = {
            "turned": lambda old: old[::-1],
            "reordered": lambda old: [{**one, "input_schema": reordered(one["input_schema"])} for one in old],
            "shorter": lambda old: old[len(old) // 3 :],
            "described": lambda old: [{**one, "description": f"{one['description']}!"} for one in old],
            "taken over": lambda old: [*old, tool(self.name(place * 7), source)],
        }[how](self.lists[source])
        self.lists[source] = new
        self.node.play({"op": "tools_changed", "source": source, "tools": new})


TestEngines = pytest.mark.slow(Engines.TestCase)
TestEngines.settings = settings(
    max_examples=60,
    stateful_step_count=40,
    deadline=None,
    derandomize=True,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)
