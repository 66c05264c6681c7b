"""The conformance suite for selectors: every registered one keeps the rules, each broken one is caught by its own."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import pytest

from tests.builders import DATASET
from toolkit import load_sessions
from toolkit.engine import Selection
from toolkit.errors import InputError, UnknownNameError
from toolkit.selectors import known_selectors, registry, resolve, selector
from toolkit.selectors.combined import Combining
from toolkit.testing import check_selector
from toolkit.testing.selector_rules import RULES
from toolkit.tool import Tool

NEEDS = {"pinned": "pinned(['builtin.*', 'mcp.git.*'])", "next_tool": "next_tool(retriever='lexical')"}
COMBINED = (
    "lexical(k=3) | recent(n=2) | lazy",
    "all.cap(tokens=200)",
    "servers(k=1, retriever='lexical') & 'mcp.*'",
    "sticky(lexical(k=3) | recent)",
    "builtin-only.pin('mcp.mail.*')",
)
models = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra `embed`")
EMBEDDING = {"semantic", "hybrid", "threshold", "sticky"}


def registered() -> list[Any]:
    names = [name for name in known_selectors() if name in registry.SELECTORS.built_in]
    return [pytest.param(NEEDS.get(name, name), marks=[models] if name in EMBEDDING else []) for name in names]


@pytest.mark.parametrize("spec", [*registered(), *COMBINED])
def test_every_registered_selector_keeps_the_rules(spec: str, tmp_path: Any) -> None:
    found = resolve(spec)
    if hasattr(found, "fit"):
        spec = repr(found.fit(load_sessions(DATASET)).save(tmp_path / "usage.json"))
    assert check_selector(spec).failures == ()


def names_of(visible: Any) -> list[str]:
    return [tool.name for tool in visible]


def raising(visible: Any, host: Any) -> Any:
    return 3 if host.turn_no > 2 else ([], [])


def inventing(visible: Any, host: Any) -> Any:
    return ["mcp.old.tool"] if len(host.earlier) > 1 else [], []


def doubling(visible: Any, host: Any) -> Any:
    return sorted(names_of(visible))[:1] * 2, []


def going_by_place(visible: Any, host: Any) -> Any:
    return names_of(visible)[:3], names_of(visible)[3:]


def sorting_in_place(visible: Any, host: Any) -> Any:
    if isinstance(visible, list):
        visible.sort(key=lambda tool: tool.name, reverse=True)
    return sorted(names_of(visible)), []


def writing_into_the_configuration(visible: Any, host: Any) -> Any:
    if isinstance(host.config, dict):
        host.config.get("table", []).append("mine")
    return [], names_of(visible)


def drawing(visible: Any, host: Any) -> Any:
    return sorted(name for name in names_of(visible) if random.random() < 0.5), []


def ordered_by_hash(visible: Any, host: Any) -> Any:
    names = sorted(names_of(visible))
    return random.sample(names, len(names)), []


class Remembering:
    """Declares what some session ever declared before."""

    def __init__(self) -> None:
        self.seen: set[str] = set()

    def __call__(self, visible: Any, host: Any) -> Any:
        asked = {name for name in names_of(visible) if name.rpartition(".")[2].split("_")[0] in host.turn_input}
        self.seen |= asked
        return sorted(self.seen & set(names_of(visible))), []


def peeking(visible: Any, host: Any) -> Any:
    """Look for the recorded turn in the frames of whoever called."""
    frame, called = sys._getframe(), set()
    while frame.f_back is not None:
        frame = frame.f_back
        recorded = frame.f_locals.get("recorded")
        called |= {call.name for one in getattr(recorded, "passes", ()) for call in getattr(one, "calls", ())}
    return sorted(called & set(names_of(visible))), []


class KeepingTheView:
    """Keeps the view of its call on itself, where another thread's call puts its own."""

    def __call__(self, visible: Any, host: Any) -> Any:
        self.words = host.turn_input
        time.sleep(0.0005)
        return sorted(name for name in names_of(visible) if len(name) % 7 == len(self.words) % 7), []


class Misspelt(Combining):
    """Says of itself that it is another."""

    spec = "lazy"

    def __repr__(self) -> str:
        return "all"

    def __call__(self, visible: Any, host: Any) -> Any:
        return Selection([], sorted(names_of(visible)))


def first_alone(visible: Any, host: Any) -> Any:
    return [min(names_of(visible))], []


def asleep(visible: Any, host: Any) -> Any:
    time.sleep(0.02 if len(visible) > 1000 else 0)
    return [], sorted(names_of(visible))


@pytest.mark.parametrize(
    ("rule", "broken"),
    [
        ("answers", raising),
        ("told", inventing),
        ("once", doubling),
        ("order", going_by_place),
        ("inputs", sorting_in_place),
        ("inputs", writing_into_the_configuration),
        ("repeats", drawing),
        ("repeats", ordered_by_hash),
        ("memory", Remembering()),
        ("future", peeking),
        ("threads", KeepingTheView()),
        ("spec", Misspelt()),
        ("edges", first_alone),
        ("time", asleep),
    ],
    ids=lambda one: one if isinstance(one, str) else getattr(one, "__name__", type(one).__name__),
)
def test_a_broken_selector_is_caught_by_the_rule_that_it_breaks(rule: str, broken: Any) -> None:
    found = check_selector(broken, seconds=0.01 if rule == "time" else 60, report=True)
    failed = {one.rule for one in found.failures}
    assert rule in failed
    random_or_peeking = {"repeats", "memory", "order", "threads", "future"}
    assert failed == {rule} or failed <= random_or_peeking


def test_every_rule_has_a_selector_that_breaks_it_and_says_what_it_asks() -> None:
    marks = test_a_broken_selector_is_caught_by_the_rule_that_it_breaks.pytestmark  # type: ignore[attr-defined]
    assert {rule for rule, _ in marks[0].args[1]} == set(RULES)
    assert all(test.__doc__ for test in RULES.values())


def test_a_broken_rule_is_an_error_that_lists_all_of_them_with_an_example() -> None:
    with pytest.raises(AssertionError) as raised:
        check_selector(doubling)
    assert "doubling breaks 1 of 12 rules" in str(raised.value)
    assert "It names no tool twice in a list." in str(raised.value) and "in turn 1" in str(raised.value)


def test_a_report_has_one_line_a_rule_and_checks_on_demand() -> None:
    found = check_selector(doubling, report=True)
    lines = str(found).splitlines()
    assert lines[0] == "doubling" and [line.split()[0] for line in lines[1:]] == list(RULES)
    assert lines[3].strip().startswith("once      fails: in turn 1") and "with 2,000 tools" in lines[-1]
    with pytest.raises(AssertionError, match="doubling breaks"):
        found.check()
    kept = check_selector("lazy")
    assert kept.check() is kept


def test_a_function_has_no_spec_to_keep() -> None:
    found = check_selector(lambda visible, host: ([], sorted(names_of(visible))))
    assert next(one for one in found.findings if one.rule == "spec").note == "left out: a function has no spec"


def test_a_registered_function_with_options_keeps_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "SELECTORS", replace(registry.SELECTORS, registered={}))

    @selector("nearest")
    def nearest(visible: Any, host: Any, k: int = 2) -> Any:
        return host.rank(host.turn_input, k), sorted(names_of(visible))

    assert check_selector("nearest(k=3)").subject == "nearest(k=3)"


def test_sessions_of_ones_own_are_replayed() -> None:
    sessions = list(load_sessions(DATASET))[:2]
    assert check_selector("lexical(k=3) | recent", sessions=sessions).failures == ()
    assert check_selector(inventing, sessions=sessions[:1], report=True).failures[0].rule == "told"


def test_what_cannot_be_built_or_was_never_fitted_is_told_before_any_rule() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'lexical'"):
        check_selector("lexicl")
    with pytest.raises(InputError, match="has not learnt from any session"):
        check_selector("lazy | frequent(k=3)")


def test_a_tool_of_the_crowd_is_a_tool() -> None:
    from toolkit.testing.selector_scenes import crowd

    scene = crowd(50)
    assert isinstance(scene.visible[0], Tool) and len(scene.visible) == 51
    assert [name for name, _ in scene.host.ranking("x", 2)] == ["mcp.server0.tool_0", "mcp.server0.tool_1"]
