"""Retrievers and `tools.search`. Nothing heavy is imported before a retriever is built."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolkit.search.ranking import Ranking, Retriever, RetrieverFactory
from toolkit.search.retrievers.registry import default_retriever, known_retrievers, register, retriever

if TYPE_CHECKING:
    from toolkit.search.answer import ToolSearch
    from toolkit.search.retrievers.dense import Dense
    from toolkit.search.retrievers.hybrid import Hybrid
    from toolkit.search.retrievers.lexical import Lexical

_LEAVES = {
    "Lexical": "retrievers.lexical",
    "Dense": "retrievers.dense",
    "Hybrid": "retrievers.hybrid",
    "ToolSearch": "answer",
}

__all__ = [
    "Dense",
    "Hybrid",
    "Lexical",
    "Ranking",
    "Retriever",
    "RetrieverFactory",
    "ToolSearch",
    "default_retriever",
    "known_retrievers",
    "register",
    "retriever",
]


def __getattr__(name: str) -> Any:
    if name in _LEAVES:
        return getattr(import_module(f"toolkit.search.{_LEAVES[name]}"), name)
    raise AttributeError(f"module 'toolkit.search' has no attribute {name!r}")
