"""Retrievers by name: the built-in ones, entry points, `pkg.mod:Name`, and a decorator."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import TypeVar

from toolkit.plugins import Registry
from toolkit.search.ranking import Retriever, RetrieverFactory
from toolkit.specs import parse

B = TypeVar("B", bound=Callable[..., Retriever])
RETRIEVERS = Registry("retriever", "toolkit.retrievers", given=1, builds=False, wants="a constructor (tools, …)")


def register(name: str) -> Callable[[B], B]:
    """Register a retriever's constructor under `name`, as a decorator; options stand after the tools."""
    return RETRIEVERS.register(name)


def known_retrievers() -> list[str]:
    """Return the names that `retriever` knows, sorted."""
    return RETRIEVERS.known()


def retriever(spec: str) -> RetrieverFactory:
    """Return the factory that a spec names: `lexical`, `dense(tools)`, `pkg.mod:Name(k=1)`.

    Raises:
        UnknownNameError: Nothing is registered under the name.
        InputError: The spec cannot be read, or has an option that the retriever does not take.

    >>> retriever("lexical(min_coverage=0.5)")
    lexical(min_coverage=0.5)
    """
    factory: RetrieverFactory = RETRIEVERS.make(*parse(spec))
    return factory


def default_retriever() -> str:
    """Return `hybrid` when the `embed` extra is installed, else `lexical`; imports neither."""
    return "hybrid" if find_spec("sentence_transformers") else "lexical"
