"""One registry for every plug-in point: what it finds, what it builds, what it says about what is wrong."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any

import pytest

from toolkit import plugins
from toolkit.errors import InputError, UnknownNameError
from toolkit.plugins import Registry


@dataclass(frozen=True)
class Ranked:
    k: int = 8
    lambda_: float = 0.5


def first(told: Any, host: Any, n: int = 1) -> Any:
    return list(told)[:n]


def by_name(told: Any, host: Any, *, needed: int, **more: Any) -> Any:
    return needed, more


def any_number(told: Any, host: Any, *names: str, k: int = 1) -> Any:
    return names, k


def fresh(**changes: Any) -> Registry:
    found = Registry("thing", "toolkit.tests", given=2, **changes)
    found.built_in.update(ranked=f"{__name__}:Ranked", first=first, by_name=by_name)
    return found


@pytest.fixture
def brought(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], None]:
    def bring(name: str, target: str) -> None:
        monkeypatch.setattr(plugins, "points", lambda group: {name: EntryPoint(name, target, group)})

    return bring


def test_a_class_is_built_of_its_options_and_a_function_holds_them() -> None:
    things = fresh()
    assert things.make("ranked", (3,), {"lambda": 0.1}) == Ranked(3, 0.1)
    assert things.make("first") is first
    assert things.make("first", (2,))("abc", None) == ["a", "b"]
    assert things.make("by_name", (), {"needed": 1, "other": 2})(None, None) == (1, {"other": 2})


def test_where_classes_are_not_built_a_class_is_called_as_a_function_is() -> None:
    made = Registry("thing", "toolkit.tests", given=1, builds=False, built_in={"ranked": Ranked}).make("ranked", (0.1,))
    assert (made(8), repr(made)) == (Ranked(8, 0.1), "ranked(0.1)")


def test_any_number_of_arguments_is_given_in_order() -> None:
    things = fresh()
    things.register("many")(any_number)
    made = things.make("many", ("a", "b"), {"k": 2})
    assert made(None, None) == (("a", "b"), 2) and repr(made) == "many('a', 'b', k=2)"
    with pytest.raises(InputError, match=r"has no option 'names'. It takes: \*names, k."):
        things.make("many", (), {"names": 1})


def test_two_with_the_same_options_are_equal_and_can_be_sent() -> None:
    one, same = fresh().make("first", (2,)), fresh().make("first", (), {"n": 2})
    assert one == same != fresh().make("first", (3,))
    assert len({one, same}) == 1 and pickle.loads(pickle.dumps(one)) == one


def test_what_is_registered_stands_before_what_packages_bring_and_what_is_built_in(
    brought: Callable[[str, str], None],
) -> None:
    things = fresh()
    brought("shipped", f"{__name__}:by_name")
    assert things.register("first")(by_name) is by_name and things.find("first") is by_name
    things.register("last")(first)
    assert things.all() == [first, by_name, by_name, Ranked, by_name]
    assert things.known() == ["by_name", "first", "last", "ranked", "shipped"]


def test_what_is_registered_or_brought_knows_its_name(brought: Callable[[str, str], None]) -> None:
    things = fresh()
    brought("shipped", f"{__name__}:first")
    assert (things.name_of(first), things.name_of(len)) == ("shipped", None)
    things.register("mine")(first)
    assert things.name_of(first) == "mine"


def test_a_path_names_what_is_nowhere_registered() -> None:
    assert fresh().find(f"{__name__}:first") is first and fresh().find(f"{__name__}:Ranked.__eq__") is Ranked.__eq__


@pytest.mark.parametrize(
    ("name", "args", "options", "says"),
    [
        ("rankd", (), {}, "unknown thing 'rankd'. Did you mean 'ranked'? Known: by_name, first, ranked."),
        (
            "ranked",
            (),
            {"lamda": 1},
            "thing 'ranked' has no option 'lamda'. Did you mean 'lambda'? It takes: k, lambda.",
        ),
        ("ranked", (1, 2, 3), {}, "thing 'ranked' is given too many options, 3. It takes: k, lambda."),
        ("ranked", (1,), {"k": 2}, "thing 'ranked': k is given twice. It takes: k, lambda."),
        ("by_name", (), {}, "thing 'by_name': needed is missing. It takes: needed."),
        ("by_name", (1,), {}, "the options of thing 'by_name' go by name. It takes: needed."),
        ("nowhere.at:all", (), {}, "thing 'nowhere.at:all' cannot be imported: No module named 'nowhere'."),
        (f"{__name__}:nothing", (), {}, "Expected package.module:name."),
        (f"{__name__}:SEVEN", (), {}, "a thing is something to call, not 7."),
    ],
)
def test_what_is_wrong_is_told_with_what_was_expected(
    name: str, args: tuple[Any, ...], options: dict[str, Any], says: str
) -> None:
    with pytest.raises((InputError, UnknownNameError)) as raised:
        fresh().make(name, args, options)
    assert says in str(raised.value)


def test_a_package_that_cannot_be_imported_is_told_by_its_name(brought: Callable[[str, str], None]) -> None:
    brought("broken", "nowhere.at:all")
    with pytest.raises(InputError, match="thing 'nowhere.at:all' cannot be imported"):
        fresh().all()


def test_what_does_not_fit_is_not_registered() -> None:
    with pytest.raises(InputError, match="a thing is something to call, not 7"):
        fresh().register("seven")(SEVEN)


SEVEN = 7
