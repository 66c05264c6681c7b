"""From the dense and lexical scores of a query and its clauses to one score a tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError, UnknownNameError

Scores = NDArray[np.float64]
UNIT = 0.1
"""About the deviation of cosines over a catalog."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much each signal counts, in units of cosine; one set for all catalogs.

    Attributes:
        lexical: What a point of BM25F is worth. Its points are absolute, so they count more where
            more of the query's rare words are matched.
        clauses: Share of the best clause, where a query has several; the whole query has the rest.
        trust: How much less a clause counts whose best tool is far: (cosine / best clause's) ** trust.
        server: Weight of the mean cosine with the tools of a tool's server.
        conflict: Taken from a tool whose verb contradicts the query's.
    """

    lexical: float = 0.009
    clauses: float = 0.5
    trust: float = 0.5
    server: float = 0.3
    conflict: float = 0.02


def weights(given: Mapping[str, float]) -> Weights:
    """Return the default weights, changed where some are given.

    Raises:
        UnknownNameError: There is no weight of that name.
        InputError: A weight is no finite number.
    """
    known = [one.name for one in fields(Weights)]
    for name, value in given.items():
        if name not in known:
            raise UnknownNameError("weight of hybrid", name, known)
        if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
            raise InputError(f"the weight {name} must be a finite number, not {value!r}.")
    return Weights(**given)


def with_servers(dense: Scores, servers: NDArray[np.int64], weight: float) -> Scores:
    """Return cosines (t, n) plus `weight` times the mean cosine over the tools of each tool's server (n,)."""
    sizes = np.maximum(np.bincount(servers), 1)
    means = np.stack([np.bincount(servers, row, len(sizes)) for row in dense]) / sizes
    raised: Scores = dense + weight * means[:, servers]
    return raised


def weighted(dense: Scores, lexical: Scores, conflicts: Scores, weights: Weights) -> Scores:
    """Return cosines above the mean tool's plus weighted lexical scores, less conflicts (t, n)."""
    above = dense - dense.mean(axis=-1, keepdims=True)
    rows: Scores = above + weights.lexical * lexical - weights.conflict * conflicts
    return rows


def fused(rows: Scores, dense: Scores, weights: Weights) -> Scores:
    """Return one score a tool (n,) from weighted rows for the query and its clauses (1 + c, n).

    A tool has a share of its score for the whole query and of its best score for a clause, both
    relative to the best tool's, so that each clause can bring up its own tool. Without clauses it is
    the query's row in units of `UNIT`.
    """
    if len(rows) == 1:
        return np.asarray(rows[0] / UNIT)
    tops = np.maximum(rows.max(axis=1, keepdims=True), 1e-6)
    near = np.maximum(dense[1:].max(axis=1, keepdims=True), 1e-6)
    parts = rows[1:] / tops[1:] * (near / near.max()) ** weights.trust
    both: Scores = (1 - weights.clauses) * rows[0] / tops[0] + weights.clauses * parts.max(axis=0)
    return both


def squashed(scores: Scores) -> Scores:
    """Return scores as numbers between 0 and 1, in the same order, rounded to eight places; large ones stay apart.

    >>> squashed(np.array([-1.0, 0.0, 3.0])).tolist()
    [0.25, 0.5, 0.875]
    """
    found: Scores = np.round(0.5 + 0.5 * scores / (1 + np.abs(scores)), 8)
    return found
