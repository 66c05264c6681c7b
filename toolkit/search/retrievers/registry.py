"""Retrievers by name: the built-in ones, entry points, `pkg.mod:Name`, and a decorator."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import Any

from toolkit.errors import InputError, UnknownNameError
from toolkit.search.ranking import Retriever, RetrieverFactory
from toolkit.specs import format as format_spec
from toolkit.specs import parse
from toolkit.tool import Tool

GROUP = "toolkit.retrievers"
_BUILT_IN = {
    "lexical": "toolkit.search.retrievers.lexical:Lexical",
    "dense": "toolkit.search.retrievers.dense:Dense",
    "hybrid": "toolkit.search.retrievers.hybrid:Hybrid",
    "regex": "toolkit.search.retrievers.regex:Regex",
    "reranked": "toolkit.search.retrievers.reranked:Reranked",
}
_registered: dict[str, Callable[..., Retriever]] = {}


@dataclass(frozen=True, slots=True)
class Factory:
    """A retriever's constructor with its options; called with tools, it builds one."""

    name: str
    build: Callable[..., Retriever] = field(compare=False)
    args: tuple[Any, ...] = ()
    kwargs: Mapping[str, Any] = field(default_factory=dict)

    def __call__(self, tools: Sequence[Tool]) -> Retriever:
        return self.build(tools, *self.args, **self.kwargs)

    def __repr__(self) -> str:
        inside = format_spec(self.name, self.kwargs)
        positional = ", ".join(map(repr, self.args))
        return inside if not self.args else format_spec(f"{self.name}({positional}", self.kwargs).rstrip(")") + ")"


def retriever(spec: str) -> RetrieverFactory:
    """Return the factory that a spec names: `lexical`, `dense(tools)`, `pkg.mod:Name(k=1)`.

    Raises:
        UnknownNameError: Nothing is registered under the name.
        InputError: The spec cannot be read, or has an option that the retriever does not take.

    >>> retriever("lexical(min_coverage=0.5)")
    lexical(min_coverage=0.5)
    """
    name, args, kwargs = parse(spec)
    build = _constructor(name)
    _check_options(name, build, args, kwargs)
    return Factory(name, build, args, kwargs)


def _check_options(name: str, build: Callable[..., Retriever], args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise InputError where a constructor does not take what it would be given after the tools."""
    taken = inspect.signature(build)
    try:
        taken.bind((), *args, **kwargs)
    except TypeError as error:
        known = ", ".join(list(taken.parameters)[1:])
        raise InputError(f"{name} does not take these options: {error}.", hint=f"It takes: {known}.") from error


def known_retrievers() -> tuple[str, ...]:
    """Return the names that `retriever` knows, sorted."""
    return tuple(sorted({*_BUILT_IN, *_registered, *_entry_points()}))


def register(name: str) -> Callable[[Callable[..., Retriever]], Callable[..., Retriever]]:
    """Register a retriever's constructor under `name`, as a decorator."""

    def keep(build: Callable[..., Retriever]) -> Callable[..., Retriever]:
        _registered[name] = build
        return build

    return keep


def default_retriever() -> str:
    """Return `hybrid` when the `embed` extra is installed, else `lexical`; imports neither."""
    return "hybrid" if find_spec("sentence_transformers") else "lexical"


def _constructor(name: str) -> Callable[..., Retriever]:
    if name in _registered:
        return _registered[name]
    if name in _BUILT_IN:
        return _imported(_BUILT_IN[name])
    if name in _entry_points():
        build: Callable[..., Retriever] = _entry_points()[name].load()
        return build
    if ":" in name:
        return _imported(name)
    raise UnknownNameError("retriever", name, known_retrievers())


def _imported(path: str) -> Callable[..., Retriever]:
    module, _, attribute = path.partition(":")
    try:
        build: Callable[..., Retriever] = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"retriever {path!r} cannot be imported: {error}.", hint="Expected pkg.mod:Name.") from error
    return build


@lru_cache(maxsize=1)
def _entry_points() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}
