"""Selectors by name: specs, options, the decorator, `pkg.mod:function`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.builders import TOOLS
from tests.selectors.views import view
from toolkit.errors import InputError, UnknownNameError
from toolkit.selectors import known_selectors, label, registry, resolve, selector


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    yield


def first(visible: Any, host: Any, n: int = 1) -> Any:
    return [one.name for one in visible[:n]], []


def test_the_built_in_selectors_are_known() -> None:
    assert {"all", "builtin-only", "deferred", "lazy", "semantic"} <= set(known_selectors())


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
