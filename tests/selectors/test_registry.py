"""Selectors by name: specs, options, the decorator, `pkg.mod:function`."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from tests.builders import TOOLS
from tests.selectors.views import view
from toolkit import plugins
from toolkit.errors import InputError, UnknownNameError
from toolkit.selectors import known_selectors, label, ready, registry, resolve, selector


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "SELECTORS", replace(registry.SELECTORS, registered={}))
    yield


def first(visible: Any, host: Any, n: int = 1) -> Any:
    return [one.name for one in visible[:n]], []


def test_the_built_in_selectors_are_known() -> None:
    named = "all auto budget builtin-only deferred frequent hybrid lazy lexical mmr next_tool pinned recent semantic"
    assert {*named.split(), "servers", "sticky", "threshold"} <= set(known_selectors())


def test_a_decorated_function_is_found_by_its_name_and_options() -> None:
    selector("first")(first)
    assert resolve("first") is first
    assert resolve("first(n=2)")(TOOLS, view()) == ([one.name for one in TOOLS[:2]], [])
    assert resolve("first(3)")(TOOLS, view()) == resolve("first(n=3)")(TOOLS, view())


def test_a_decorated_class_is_built_with_its_options() -> None:
    @selector("made")
    class Made:
        def __init__(self, k: int = 1) -> None:
            self.k = k

        def __call__(self, visible: Any, host: Any) -> Any:
            return [], []

    assert (resolve("made").k, resolve("made(k=5)").k) == (1, 5)


def test_a_function_is_found_by_its_module() -> None:
    assert resolve("tests.selectors.test_registry:first") is first
    assert resolve("tests.selectors.test_registry:first(n=2)")(TOOLS, view())[0] == [one.name for one in TOOLS[:2]]


def test_a_function_is_its_own_selector() -> None:
    assert resolve(first) is first


def test_an_unknown_name_lists_what_is_known_and_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'semantic'") as raised:
        resolve("semantik(k=3)")
    assert "builtin-only" in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("semantic(q=8)", "has no option 'q'"),
        ("lazy(k=1)", "It takes: none"),
        ("lazy(", "is not a spec"),
        ("tests.nothing:here", "cannot be imported"),
        ("tests.builders:nothing", "cannot be imported"),
        ("tests.builders:TOOLS", "a selector is a function"),
        (7, "a selector is a function"),
    ],
)
def test_a_wrong_spec_is_refused_with_a_reason(spec: Any, says: str) -> None:
    with pytest.raises(InputError) as raised:
        resolve(spec)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("mmr(lamda=0.5)", "Did you mean 'lambda'? It takes: k, lambda, among, retriever."),
        ("servers(1, k=2)", "k is given twice. It takes: k, retriever."),
        ("pinned", "patterns is missing. It takes: patterns."),
        ("recent(n='x')", "n must be a whole number of at least 1, not 'x'."),
    ],
)
def test_a_wrong_option_is_told_with_the_nearest_and_with_all_that_there_are(spec: str, says: str) -> None:
    with pytest.raises(InputError) as raised:
        resolve(spec)
    assert str(raised.value).endswith(says)


def test_an_unknown_name_tells_the_options_of_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="mmr takes: k, lambda, among, retriever."):
        resolve("mmx(k=3)")
    with pytest.raises(UnknownNameError, match="lazy takes: nothing."):
        resolve("lazi")


def test_a_part_that_cannot_be_built_is_told_before_anything_runs() -> None:
    with pytest.raises(InputError, match="has no option 'q'"):
        ready("lazy | (all & 'mcp.*').pin('x') | recent(q=1)")


@pytest.mark.parametrize("spec", ["all", "lazy", "builtin-only", "deferred"])
def test_a_built_in_selector_is_labelled_by_its_name(spec: str) -> None:
    assert label(resolve(spec)) == label(spec) == spec


def test_options_stand_in_the_label() -> None:
    selector("first")(first)
    assert label(resolve("first(n=2)")) == "first(n=2)"
    assert label(first) == "first"


def test_too_many_options_are_refused() -> None:
    selector("first")(first)
    with pytest.raises(InputError, match="takes"):
        resolve("first(1, 2)")


@pytest.mark.parametrize("spec", ["", " ", "(k=8)"])
def test_a_spec_without_a_name_is_refused(spec: str) -> None:
    with pytest.raises((InputError, UnknownNameError)):
        resolve(spec)


def shipped_one(visible: Any, host: Any, tokens: int = 9) -> Any:
    return (), ()


def test_a_function_that_a_package_ships_is_written_under_its_entry_points_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("ships-it", f"{__name__}:shipped_one", registry.SELECTORS.group)
    monkeypatch.setattr(plugins, "points", lambda group: {point.name: point})
    assert label(resolve("ships-it")) == "ships-it" and label(resolve("ships-it(tokens=3)")) == "ships-it(tokens=3)"
    assert known_selectors().count("ships-it") == 1


def test_a_function_with_the_same_options_is_the_same_selector_wherever_it_stands() -> None:
    selector("first")(first)
    assert resolve("first(n=2)") == resolve("first(2)") != resolve("first(n=3)")
    assert len({resolve("first(n=2)"), resolve("first(2)")}) == 1
    assert resolve("lazy | first(n=2)") == resolve("lazy | first(n=2)") != resolve("lazy | first(n=3)")
    assert pickle.loads(pickle.dumps(resolve("first(n=2)"))) == resolve("first(n=2)")
