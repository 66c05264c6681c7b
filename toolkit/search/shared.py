"""One searcher for each spec and process, so that every host and replay shares its indexes."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolkit.search.answer import ToolSearch
from toolkit.search.retrievers.registry import default_retriever


def searcher(spec: Any) -> Any:
    """Return the searcher of a spec (None: the default retriever), or the searcher that was given.

    Raises:
        UnknownNameError: No retriever of that name is registered.
    """
    return _shared(spec or default_retriever()) if spec is None or isinstance(spec, str) else spec


@lru_cache(maxsize=16)
def _shared(spec: str) -> ToolSearch:
    return ToolSearch(spec)
