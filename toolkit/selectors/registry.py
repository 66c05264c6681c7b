"""Selectors by name: the decorator, the specs, what combines them, and what other packages register."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from importlib import import_module, metadata
from inspect import Signature, signature
from keyword import iskeyword
from typing import Any, TypeVar

from toolkit import specs
from toolkit.errors import InputError, UnknownNameError, nearest

F = TypeVar("F", bound=Callable[..., Any])
GROUP = "toolkit.selectors"
_BUILT_IN = {
    "all": "toolkit.selectors.everything:Everything",
    "auto": "toolkit.selectors.auto:Auto",
    "budget": "toolkit.selectors.budget:Budget",
    "builtin-only": "toolkit.selectors.builtin_only:BuiltinOnly",
    "deferred": "toolkit.selectors.deferred:Deferred",
    "expected_cost": "toolkit.selectors.expected_cost:ExpectedCost",
    "frequent": "toolkit.selectors.frequent:Frequent",
    "hybrid": "toolkit.selectors.hybrid:Hybrid",
    "lazy": "toolkit.selectors.lazy:Lazy",
    "lexical": "toolkit.selectors.lexical:Lexical",
    "mmr": "toolkit.selectors.mmr:Mmr",
    "next_tool": "toolkit.selectors.next_tool:NextTool",
    "pinned": "toolkit.selectors.pinned:Pinned",
    "recent": "toolkit.selectors.recent:Recent",
    "semantic": "toolkit.selectors.semantic:Semantic",
    "servers": "toolkit.selectors.servers:Servers",
    "sticky": "toolkit.selectors.sticky:Sticky",
    "threshold": "toolkit.selectors.threshold:Threshold",
}
_COMBINATORS = {
    specs.OR: "toolkit.selectors.combined:Either",
    specs.AND: "toolkit.selectors.combined:Narrowed",
    ".cap": "toolkit.selectors.combined:Capped",
    ".pin": "toolkit.selectors.combined:Pinning",
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

    >>> resolve("all.cap(tokens=4000) | recent(n=3)")
    all.cap(4000) | recent(n=3)
    """
    if not isinstance(spec, str):
        return _checked(spec)
    if not spec.strip():
        raise UnknownNameError("selector", spec, known_selectors())
    return _of(specs.expression(spec))


def _of(spec: specs.Spec) -> Any:
    args = tuple(_of(one) if isinstance(one, specs.Spec) else one for one in spec.args)
    options = {name: _of(one) if isinstance(one, specs.Spec) else one for name, one in spec.kwargs.items()}
    found = _combinator(spec.name) if spec.name.startswith(("|", "&", ".")) else _find(spec.name)
    if isinstance(found, type):
        return _built(spec.name, found, args, options)
    return _built(spec.name, partial(_Bound, found), args, options) if args or options else found


class _Bound(partial[Any]):
    """A function with its options; two are equal when both are."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Bound) and (self.func, self.keywords) == (other.func, other.keywords)

    def __hash__(self) -> int:
        return hash((self.func, frozenset(self.keywords)))


def _combinator(name: str) -> Any:
    if name not in _COMBINATORS:
        raise UnknownNameError("combinator", name, _COMBINATORS)
    return _load(_COMBINATORS[name])


def ready(spec: Any) -> Any:
    """Return the selector of a spec when it can run now: what learns from sessions has learnt.

    A selector that needs something before a run has a method `check`, which raises when it is not there.

    Raises:
        UnknownNameError, InputError: As `resolve` does, and when a fitted selector was never fitted.
    """
    found = resolve(spec)
    for part in _load("toolkit.selectors.combined:parts")(found):
        getattr(part, "check", bool)()
    return found


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
    return _registered_name(selector) or getattr(selector, "__name__", None) or repr(selector)


def written(selector: Any) -> str:
    """Return the expression that builds a selector anywhere: a function that has no name stands by its module."""
    if isinstance(selector, partial):
        return specs.format(written(selector.func), selector.keywords)
    path = f"{getattr(selector, '__module__', '')}:{getattr(selector, '__qualname__', '')}"
    return _registered_name(selector) or (path if _is_at(selector, path) else label(selector))


def _registered_name(selector: Any) -> str | None:
    return next((name for name, registered in _registered.items() if registered is selector), None)


def _is_at(selector: Any, path: str) -> bool:
    try:
        return _load(path) is selector
    except (InputError, ValueError):
        return False


def _find(name: str) -> Any:
    if name in _registered:
        return _registered[name]
    if name in _BUILT_IN:
        return _load(_BUILT_IN[name])
    point = next(iter(metadata.entry_points(group=GROUP, name=name)), None)
    if point is not None:
        return _registered.setdefault(name, point.load())
    if ":" in name:
        return _checked(_load(name))
    head, dot, method = name.rpartition(".")
    if dot and head in known_selectors():
        raise UnknownNameError("combinator", f".{method}", _COMBINATORS)
    raise _unknown(name)


def _unknown(name: str) -> UnknownNameError:
    error = UnknownNameError("selector", name, known_selectors())
    if error.nearest is not None:
        error.hint += f" {error.nearest} takes: {', '.join(options_of(error.nearest)) or 'nothing'}."
    return error


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
    takes = f"It takes: {', '.join(known) or 'none'}."
    if len(args) > len(known):
        raise InputError(f"selector {name!r} got {len(args)} options.", hint=takes)
    for option in options:
        if option not in known and option not in map(_field, known):
            near = nearest(option, known)
            hint = f"Did you mean {near!r}? {takes}" if near else takes
            raise InputError(f"selector {name!r} has no option {option!r}.", hint=hint)
    try:
        placed = dict(zip(map(_field, known), args, strict=False))
        named = {_field(option): value for option, value in options.items()}
        twice = placed.keys() & named.keys()
        missing = _required(factory) - placed.keys() - named.keys()
        if twice or missing:
            raise TypeError(f"{' and '.join(sorted(twice or missing))} is {'given twice' if twice else 'missing'}")
        return factory(**placed, **named)
    except TypeError as error:
        raise InputError(f"selector {name!r}: {error}.", hint=takes) from error


def _signature(of: Any) -> Signature:
    """Return a signature; a class's is worked out once, since every replay of a session builds its selector."""
    return _signature_of_class(of) if isinstance(of, type) else signature(of)


_signature_of_class = lru_cache(maxsize=256)(signature)


def _required(factory: Any) -> set[str]:
    if isinstance(factory, partial):
        return set()
    given = _signature(factory).parameters.values()
    return {one.name for one in given if one.default is one.empty and one.kind is one.POSITIONAL_OR_KEYWORD}


def _parameters(factory: Any) -> list[str]:
    """Return the options as specs write them: `lambda` for a parameter `lambda_`."""
    inner = factory.args[0] if isinstance(factory, partial) else factory
    names = [one[:-1] if iskeyword(one[:-1]) else one for one in _signature(inner).parameters]
    return names[2:] if isinstance(factory, partial) else names


def _field(option: str) -> str:
    return f"{option}_" if iskeyword(option) else option
