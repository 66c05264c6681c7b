"""Selectors by name: the decorator, the specs, and what other packages register."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from importlib import import_module, metadata
from typing import Any, TypeVar

from toolkit import specs
from toolkit.errors import InputError, UnknownNameError, nearest

F = TypeVar("F", bound=Callable[..., Any])
GROUP = "toolkit.selectors"
_BUILT_IN = {
    "all": "toolkit.selectors.everything:declare_all",
    "auto": "toolkit.selectors.auto:Auto",
    "builtin-only": "toolkit.selectors.builtin_only:builtin_only",
    "deferred": "toolkit.selectors.deferred:deferred",
    "lazy": "toolkit.selectors.lazy:lazy",
    "semantic": "toolkit.selectors.semantic:Semantic",
}
_registered: dict[str, Any] = {}


def selector(name: str) -> Callable[[F], F]:
    """Register a function `(visible, host)`, or a class that builds one, under a name.

    Keyword options after the two are the selector's parameters: `@selector("mine")` on
    `def mine(visible, host, k=8)` makes the spec `mine(k=3)` work.
    """

    def register(function: F) -> F:
        _registered[name] = function
        return function

    return register


def known_selectors() -> list[str]:
    """Return the registered names, sorted."""
    return sorted({*_BUILT_IN, *_registered, *(point.name for point in metadata.entry_points(group=GROUP))})


def resolve(spec: Any) -> Any:
    """Return the selector of a spec, or the function that was given.

    Raises:
        UnknownNameError: Nothing of that name is registered (`semantics.md` S8).
        InputError: The spec cannot be read, or an option is unknown or out of range.
    """
    if not isinstance(spec, str):
        return _checked(spec)
    if not spec.strip():
        raise UnknownNameError("selector", spec, known_selectors())
    name, args, options = specs.parse(spec)
    found = _find(name)
    if isinstance(found, type):
        return _built(name, found, args, options)
    return _built(name, partial(partial, found), args, options) if args or options else found


def options_of(name: str) -> list[str]:
    """Return the options that a selector's spec may hold; empty when it takes none.

    Raises:
        UnknownNameError: Nothing of that name is registered (`semantics.md` S8).
    """
    found = _find(name)
    return _parameters(found if isinstance(found, type) else partial(partial, found))


def label(selector: Any) -> str:
    """Return the name under which a selector stands in tables: the expression that builds it."""
    if isinstance(selector, str):
        return selector
    if isinstance(selector, partial):
        return specs.format(label(selector.func), selector.keywords)
    for name, registered in (*_registered.items(), *_loaded_built_in()):
        if registered is selector:
            return name
    return getattr(selector, "__name__", None) or repr(selector)


def _loaded_built_in() -> list[tuple[str, Any]]:
    return [(name, _load(target)) for name, target in _BUILT_IN.items()]


def _find(name: str) -> Any:
    if name in _registered:
        return _registered[name]
    if name in _BUILT_IN:
        return _load(_BUILT_IN[name])
    point = next(iter(metadata.entry_points(group=GROUP, name=name)), None)
    if point is not None:
        return point.load()
    if ":" in name:
        return _checked(_load(name))
    raise UnknownNameError("selector", name, known_selectors())


def _load(target: str) -> Any:
    module, _, attribute = target.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(
            f"{target!r} cannot be imported: {error}.", hint="Expected package.module:function."
        ) from error


def _checked(found: Any) -> Any:
    if not callable(found):
        raise InputError(f"a selector is a function (visible, host), not {found!r}.")
    return found


def _built(name: str, factory: Any, args: tuple[Any, ...], options: Any) -> Any:
    known = _parameters(factory)
    if len(args) > len(known):
        raise InputError(f"selector {name!r} got {len(args)} options.", hint=f"It takes: {', '.join(known) or 'none'}.")
    for option in options:
        if option not in known:
            near = nearest(option, known)
            hint = f"Did you mean {near!r}? " if near else ""
            raise InputError(
                f"selector {name!r} has no option {option!r}.", hint=f"{hint}It takes: {', '.join(known) or 'none'}."
            )
    try:
        return factory(**dict(zip(known, args, strict=False)), **options)
    except TypeError as error:
        raise InputError(f"selector {name!r}: {error}.", hint=f"It takes: {', '.join(known) or 'none'}.") from error


def _parameters(factory: Any) -> list[str]:
    inner = factory.args[0] if isinstance(factory, partial) else factory
    names = list(inspect.signature(inner).parameters)
    return names[2:] if isinstance(factory, partial) else names
