"""What a retriever answers, and what one is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from toolkit.tool import Tool


@dataclass(frozen=True, slots=True)
class Ranking:
    """Names and their scores, best first.

    Attributes:
        chances: How likely each is a right tool, comparable across queries, never rising; empty where
            the retriever cannot tell.

    >>> list(Ranking(("a", "b"), (2.0, 1.0)))
    [('a', 2.0), ('b', 1.0)]
    """

    names: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()
    chances: tuple[float, ...] = ()

    def __iter__(self) -> Iterator[tuple[str, float]]:
        return iter(zip(self.names, self.scores, strict=True))

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a tool was ranked: what one term in one field added to its score."""

    term: str
    field: str
    score: float


class Retriever(Protocol):
    """Ranks the tools it was built over.

    Only names within `among` (None: all) are answered, at most `k`, no zero score among them, and
    equal scores read-only first, then by code point of the name (`docs/semantics.md` Q3, Q5).
    """

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking: ...


class RetrieverFactory(Protocol):
    """Builds a retriever over tools; its `repr` is the spec that names it."""

    def __call__(self, tools: Sequence[Tool]) -> Retriever: ...


def tie_order(tool: Tool) -> tuple[bool, str]:
    """Sort key among equal scores: read-only first, then by code point (Q3)."""
    return (not tool.read_only, tool.name)
