"""Expressions of selectors: read as names and literals, never run."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit import specs
from toolkit.errors import InputError
from toolkit.specs import Spec, expression

LAZY, SEMANTIC = Spec("lazy"), Spec("semantic", (), {"k": 8})


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("lazy", LAZY),
        ("semantic(k=8) | lazy", Spec("|", (SEMANTIC, LAZY))),
        ("builtin-only|lazy", Spec("|", (Spec("builtin-only"), LAZY))),
        ("lazy & 'mcp.*'", Spec("&", (LAZY, "mcp.*"))),
        ("lazy & ('a', 'b')", Spec("&", (LAZY, ("a", "b")))),
        ("lazy | lazy & 'a'", Spec("|", (LAZY, Spec("&", (LAZY, "a"))))),
        ("(lazy | lazy) & 'a'", Spec("&", (Spec("|", (LAZY, LAZY)), "a"))),
        ("lazy.cap(4000)", Spec(".cap", (LAZY, 4000))),
        ("semantic(k=8).cap(tokens=1).pin('a')", Spec(".pin", (Spec(".cap", (SEMANTIC,), {"tokens": 1}), "a"))),
        ("a.b:c.cap(1)", Spec(".cap", (Spec("a.b:c"), 1))),
        ("sticky(semantic(k=8), read=0.1)", Spec("sticky", (SEMANTIC,), {"read": 0.1})),
        ("sticky(builtin-only)", Spec("sticky", ("builtin-only",))),
        ("mmr(lambda=0.7, class='x')", Spec("mmr", (), {"lambda": 0.7, "class": "x"})),
        ("f(-1.5e-3, 0x10, 1_000, True, None)", Spec("f", (-0.0015, 16, 1000, True, None))),
        ("f('it\\'s (1 | 2) & b', \"x=1\")", Spec("f", ("it's (1 | 2) & b", "x=1"))),
        ("größe(länge=3)", Spec("größe", (), {"länge": 3})),
    ],
)
def test_an_expression_is_names_literals_and_combinators(text: str, read: Spec) -> None:
    assert expression(text) == read


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "3", "'a'", "a b", "a +b", "a |", "| a", "a & b", "a & 3 | ", "not a", "a if b else c", "[a]"),
        *("f(f'x')", "f(b'x')", "f(*[1])", "f(**{})", "f(x for x in y)", "f(lambda: 1)", "f(x := 1)", "f(a.b)"),
        *("f(k=1, k=2)", "a[0]", "f()()", "a\x00", "a.cap(1)(2)", "(" * 400 + "a" + ")" * 400, "a|" * 9_000 + "a"),
    ],
)
def test_what_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="spec|literal|unpacks|twice"):
        expression(text)


def test_a_pattern_without_quotes_is_told_how_to_write_it() -> None:
    with pytest.raises(InputError, match="pattern in quotes"):
        expression("lazy & recent")


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused_and_nothing_else(text: str) -> None:
    try:
        assert isinstance(expression(text), Spec)
    except InputError as error:
        assert str(error)


@pytest.mark.parametrize("text", ["lazy | lazy", "lazy.cap(1)", "f(open('x'))", "f(k=g(1))"])
def test_a_single_spec_combines_nothing(text: str) -> None:
    with pytest.raises(InputError, match="not a (literal|single spec)"):
        specs.parse(text)


def test_the_names_of_an_expression_are_those_of_its_plug_ins() -> None:
    read = expression("sticky(semantic(k=8) | lazy.cap(3)) & 'mcp.*'")
    assert list(specs.names(read)) == ["sticky", "semantic", "lazy"]
