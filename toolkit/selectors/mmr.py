"""`mmr(k, lambda)`: k tools near to the turn's input that differ from each other, the rest is searchable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from toolkit.engine import HostView, Selection
from toolkit.search.terms.words import content_terms
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import ranking, worths
from toolkit.tool import Tool, definition_text
from toolkit.toolset import toolset

Floats = NDArray[np.float64]
_WORD = re.compile(r"[a-z0-9]+")


@dataclass(frozen=True, slots=True, repr=False)
class Mmr(Combining):
    """Declare k tools by maximal marginal relevance (Carbonell, Goldstein 1998).

    Each next tool is the one with most of `lambda` × relevance − (1 − `lambda`) × likeness to what is
    declared so far. Use it when servers offer the same thing many times over: ten ways to read a
    file should not take all k places. Likeness is the cosine of the words of two definitions, rare
    ones weighing more; relevance is the score against the best one's.

    Args:
        k: How many tools to declare, at least 1.
        lambda: From 0, only unlike each other, to 1, only relevant. In Python: `lambda_`.
        among: How many of the best ranked tools it chooses from.
        retriever: What ranks them; the host's own retriever by default.

    Raises:
        InputError: A number is out of range.
        UnknownNameError: No retriever of that name is registered.
    """

    k: int = 8
    lambda_: float = 0.7
    among: int = 50
    retriever: str | None = None
    spec: ClassVar[str] = "mmr"

    def __post_init__(self) -> None:
        checks.whole("mmr", "k", self.k)
        checks.number("mmr", "lambda", self.lambda_, 0, 1)
        checks.whole("mmr", "among", self.among)
        checks.retriever("mmr", self.retriever)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        known = toolset(told)
        found = ranking(told, host, self.retriever, max(self.among, self.k))
        worth = worths(found)
        relevance = worth / worth[0] if worth.any() else np.ones(len(worth))
        alike = likeness([known.by_name[name] for name, _ in found])
        return Selection([found[place][0] for place in diverse(relevance, alike, self.k, self.lambda_)], known.names)


def diverse(relevance: Floats, alike: Floats, k: int, weight: float) -> list[int]:
    """Return k places, each the best next one; of equal ones the first in the ranking.

    Args:
        relevance: Of each candidate (n,), the best first.
        alike: Likeness of each to each (n, n).
        k: How many to choose.
        weight: Of relevance against likeness, 0 to 1.
    """
    nearest = np.zeros(len(relevance))
    left = np.ones(len(relevance), dtype=np.bool_)
    chosen: list[int] = []
    for _ in range(min(k, len(relevance))):
        gains = np.where(left, weight * relevance - (1 - weight) * nearest, -np.inf)
        chosen.append(int(np.argmax(gains)))
        left[chosen[-1]] = False
        nearest = np.maximum(nearest, alike[chosen[-1]])
    return chosen


def likeness(tools: Sequence[Tool]) -> Floats:
    """Return the cosine of each tool with each by tf-idf of their definitions (n, n), IDF among these tools."""
    if not tools:
        return np.zeros((0, 0))
    terms, counts = zip(*map(_counts, tools), strict=True)
    rows = np.repeat(np.arange(len(tools)), [len(one) for one in terms])
    _, columns, held_by = np.unique(np.concatenate(terms), return_inverse=True, return_counts=True)
    weights = np.concatenate(counts) * np.log1p(len(tools) / held_by)[columns]
    norms = np.sqrt(np.bincount(rows, weights**2, len(tools)))
    shared = held_by[columns] > 1
    table = np.zeros((len(tools), len(held_by)))
    table[rows[shared], columns[shared]] = (weights / np.maximum(norms[rows], 1e-12))[shared]
    table = table[:, held_by > 1]
    alike = np.asarray(np.round(table @ table.T, 9))
    np.fill_diagonal(alike, 1.0)
    return alike


@lru_cache(maxsize=1 << 16)
def _counts(tool: Tool) -> tuple[NDArray[np.int64], Floats]:
    """Return the terms of a definition by number, and 1 + log of how often each stands in it."""
    text = definition_text(tool)
    counts = Counter(_WORD.findall(text.lower()) if text.isascii() else content_terms(text))
    numbers = [_numbers.setdefault(term, len(_numbers)) for term in counts]
    return np.array(numbers, dtype=np.int64), 1 + np.log(np.array(list(counts.values()), dtype=np.float64))


_numbers: dict[str, int] = {}
