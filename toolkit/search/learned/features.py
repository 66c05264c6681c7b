"""What a ranker sees of a candidate: the hybrid's signals, relative to the other tools asked about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from toolkit.search.retrievers.fusion import Scores
from toolkit.search.retrievers.lexical import single_terms
from toolkit.search.terms.texts import split_name
from toolkit.tool import Tool

BASE = (
    *("fused", "whole", "clause", "clauses_won", "lexical", "lexical_share", "tools", "multilingual", "name"),
    *("server", "conflict", "name_told", "name_asked", "lexical_place", "dense_place", "agreement"),
)
CONTEXT = ("query_length", "clause_count")
FEATURES = (*BASE, *(f"{base}*{context}" for context in CONTEXT for base in BASE))
DEPTH = 50


@dataclass(frozen=True, slots=True)
class Signals:
    """What the hybrid knows of a query over the n tools asked about; rows are the query, then its clauses.

    Attributes:
        fused: Its own score of each tool (n,).
        rows: Weighted sum of dense and lexical scores (1 + c, n).
        lexical: Lexical scores (1 + c, n).
        dense: Mean cosines, the server's among them (1 + c, n).
        servers: What the server added to the query's (n,).
        conflicts: 1 where the query's verb and the tool's exclude each other (n,).
        names: Cosine with the query where a tool's name weighs as for a clause (n,).
        encoders: Encoder → cosine with the query (n,).
        matched: Which tools match at all (n,).
    """

    query: str
    tools: Sequence[Tool]
    fused: Scores
    rows: Scores
    lexical: Scores
    dense: Scores
    servers: Scores
    conflicts: Scores
    names: Scores
    encoders: Mapping[str, Scores]
    matched: NDArray[np.bool_]


def standard(scores: Scores) -> Scores:
    """Return scores (…, n) with mean 0 and deviation 1 in each row; a flat row is all 0.

    >>> standard(np.array([[1.0, 3.0], [5.0, 5.0]])).round(3).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """
    deviation = scores.std(axis=-1, keepdims=True)
    found: Scores = (scores - scores.mean(axis=-1, keepdims=True)) / np.where(deviation > 1e-9, deviation, np.inf)
    return found


def candidates(signals: Signals, depth: int = DEPTH) -> NDArray[np.int64]:
    """Return the places of the best `depth` matching tools by the hybrid's score, with all that tie the last."""
    places = np.flatnonzero(signals.matched)
    if len(places) <= depth:
        return places
    values = np.round(signals.fused[places], 8)
    best: NDArray[np.int64] = places[values >= np.partition(values, len(values) - depth)[len(values) - depth]]
    return best


def features(signals: Signals, at: NDArray[np.int64]) -> Scores:
    """Return the features of the tools at the places `at` (m, f), named by `FEATURES`."""
    columns = {**_fusion(signals, at), **_words(signals, at), **_places(signals, at)}
    base = np.stack([columns[name] for name in BASE], axis=1)
    context = (np.log1p(len(signals.query.split())) / 3, (len(signals.rows) - 1) / 3)
    return np.concatenate([base, *(base * value for value in context)], axis=1)


def _fusion(s: Signals, at: NDArray[np.int64]) -> dict[str, Scores]:
    parts = (s.rows / np.maximum(s.rows.max(axis=1, keepdims=True), 1e-6))[:, at]
    clauses = parts[1:] if len(parts) > 1 else parts
    nothing = np.zeros(len(at))
    first = next((name for name in s.encoders if name != "multilingual"), "")
    encoders = {"tools": s.encoders.get(first), "multilingual": s.encoders.get("multilingual")}
    return {
        "fused": s.fused[at] / max(float(s.fused.max()), 1e-6),
        "whole": parts[0],
        "clause": clauses.max(axis=0),
        "clauses_won": (clauses >= 1 - 1e-9).mean(axis=0),
        "conflict": s.conflicts[at],
        "server": standard(s.servers)[at] / 5,
        "name": standard(s.names)[at] / 5,
        **{name: nothing if found is None else standard(found)[at] / 5 for name, found in encoders.items()},
    }


def _words(s: Signals, at: NDArray[np.int64]) -> dict[str, Scores]:
    asked = single_terms(s.query[:2000])
    names = [_name_terms(s.tools[i]) for i in at.tolist()]
    shared = np.array([len(name & asked) for name in names], dtype=np.float64)
    return {
        "lexical": standard(s.lexical[0])[at] / 5,
        "lexical_share": s.lexical[0][at] / max(float(s.lexical[0].max()), 1e-6),
        "name_told": shared / np.array([max(len(name), 1) for name in names]),
        "name_asked": shared / max(len(asked), 1),
    }


@lru_cache(maxsize=1 << 16)
def _name_terms(tool: Tool) -> frozenset[str]:
    return frozenset(single_terms(split_name(tool)[1]))


def _places(s: Signals, at: NDArray[np.int64]) -> dict[str, Scores]:
    lexical, dense = (_place(row)[at] for row in (s.lexical[0], s.dense[0]))
    return {"lexical_place": lexical, "dense_place": dense, "agreement": np.minimum(lexical, dense)}


def _place(scores: Scores) -> Scores:
    """Return 1 over the root of each score's place, equal scores sharing the first (n,)."""
    return np.asarray(1 / np.sqrt(1 + np.searchsorted(np.sort(-scores), -scores, side="left")))
