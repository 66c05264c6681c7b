"""Selectors by name: the decorator, the specs, and what combines them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from toolkit import specs
from toolkit.errors import UnknownNameError
from toolkit.plugins import Bound, Registry

F = TypeVar("F", bound=Callable[..., Any])
SELECTORS = Registry("selector", "toolkit.selectors", given=2, wants="a function (visible, host)")
COMBINATORS = Registry("combinator", "")
"""What stands between selectors: `|`, `&`, `.cap`, `.pin`; `toolkit.selectors.combined` registers them."""


def selector(name: str) -> Callable[[F], F]:
    """Register a function `(visible, host)`, or a class that builds one, under a name.

    Keyword options after the two are the selector's parameters: `@selector("mine")` on
    `def mine(visible, host, k=8)` makes the spec `mine(k=3)` work.
    """
    return SELECTORS.register(name)


def known_selectors() -> list[str]:
    """Return the registered names, sorted."""
    return SELECTORS.known()


def options_of(name: str) -> list[str]:
    """Return the options that a selector's spec may hold; empty when it takes none.

    Raises:
        UnknownNameError: Nothing of that name is registered (`docs/semantics.md` S8).
    """
    return SELECTORS.options(name)


def resolve(spec: Any) -> Any:
    """Return the selector of a spec, or the function that was given.

    Raises:
        UnknownNameError: Nothing of that name is registered (`docs/semantics.md` S8).
        InputError: The spec cannot be read, or an option is unknown or out of range.

    >>> resolve("all.cap(tokens=4000) | recent(n=3)")
    all.cap(4000) | recent(n=3)
    """
    if not isinstance(spec, str):
        return SELECTORS.checked(spec)
    if not spec.strip():
        raise UnknownNameError("selector", spec, known_selectors())
    return _made(specs.expression(spec))


def label(selector: Any) -> str:
    """Return the name under which a selector stands in tables: the expression that builds it."""
    if isinstance(selector, str):
        return selector
    return _with_options(selector, label) or _name(selector) or repr(selector)


def written(selector: Any) -> str:
    """Return the expression that builds a selector anywhere: a function that has no name stands by its module."""
    module, name = getattr(selector, "__module__", ""), getattr(selector, "__qualname__", "")
    there = getattr(sys.modules.get(module), name, None) is selector
    path = f"{module}:{name}" if there else None
    return _with_options(selector, written) or SELECTORS.name_of(selector) or path or label(selector)


def _made(spec: specs.Spec) -> Any:
    args = tuple(_made(one) if isinstance(one, specs.Spec) else one for one in spec.args)
    options = {name: _made(one) if isinstance(one, specs.Spec) else one for name, one in spec.kwargs.items()}
    if spec.name.startswith(("|", "&", ".")):
        return COMBINATORS.make(spec.name, args, options)
    head, _, method = spec.name.rpartition(".")
    if head and head in known_selectors() and spec.name not in known_selectors():
        COMBINATORS.find(f".{method}")
    return SELECTORS.make(spec.name, args, options)


def _with_options(selector: Any, name: Callable[[Any], str]) -> str:
    match selector:
        case Bound(function=inner, options=options) | partial(func=inner, keywords=options):
            return specs.format(name(inner), options)
    return ""


def _name(selector: Any) -> str | None:
    return SELECTORS.name_of(selector) or getattr(selector, "__name__", None)
