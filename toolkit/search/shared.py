"""One searcher for each spec and process, so that every host and replay shares its indexes."""

from __future__ import annotations

from functools import lru_cache
from inspect import signature
from typing import Any

from toolkit.engine.ports import Ranks, Searcher
from toolkit.engine.view import Scored
from toolkit.errors import InputError
from toolkit.search.answer import ToolSearch
from toolkit.search.ranking import RetrieverFactory
from toolkit.search.retrievers.registry import default_retriever
from toolkit.toolset import ToolSet


def searcher(given: str | RetrieverFactory | Searcher | None) -> Searcher:
    """Return the searcher of a spec or of a retriever's class (None: the default one), or the one that was given.

    Raises:
        UnknownNameError: No retriever of that name is registered.
        InputError: It is neither a spec, nor builds a retriever over tools, nor answers a search.
    """
    if given is None or isinstance(given, str):
        return tool_search(given)
    if not isinstance(given, type) and _takes(given, "query", (), (), 5):
        return given  # type: ignore[return-value]
    if _takes(given, ()):
        return _shared(given)  # type: ignore[arg-type]
    hint = "Give a spec such as 'lexical', a retriever's class, or a function (query, searchable, declared, limit)."
    raise InputError(f"{given!r} is no retriever that can be built over tools, and no searcher.", hint=hint)


def ranking(asked: Searcher, query: str, tools: ToolSet, k: int) -> Scored:
    """Return (name, score) of the `k` best of these tools, by a searcher's own order; of no other tool (Q8)."""
    ranked = asked.rank(query, tools, k) if isinstance(asked, Ranks) else asked(query, tools, ToolSet(), k).hits
    return tuple([pair for pair in ranked if pair[0] in tools.by_name])[:k]


def tool_search(spec: str | None = None) -> ToolSearch:
    """Return the search of a retriever's spec; without one, of the default retriever.

    Raises:
        UnknownNameError: No retriever of that name is registered.
    """
    return _shared(spec or default_retriever())


def _takes(given: Any, *arguments: Any) -> bool:
    """Say whether something can be called with so many arguments."""
    try:
        signature(given).bind(*arguments)
    except (TypeError, ValueError):
        return False
    return True


@lru_cache(maxsize=16)
def _shared(build: str | RetrieverFactory) -> ToolSearch:
    return ToolSearch(build)
