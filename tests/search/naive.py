"""Slow and plain twins of the search's algorithms, for the tests."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from toolkit.search.ranking import tie_order
from toolkit.search.retrievers.lexical import COORDINATION, K1, WEIGHTS, field_terms, query_weights
from toolkit.search.terms.texts import fields
from toolkit.tool import Tool


def bm25f(query: str, tools: Sequence[Tool]) -> dict[str, float]:
    """Return every tool's BM25F score, by loops."""
    documents = {tool.name: field_terms(fields(tool)) for tool in tools}
    scores = dict.fromkeys(documents, 0.0)
    held = dict.fromkeys(documents, 0.0)
    known = 0.0
    for term, weight in query_weights(query).items():
        holding = sum(any(term in words for words in document) for document in documents.values())
        idf = math.log(1 + (len(tools) - holding + 0.5) / (holding + 0.5))
        known += weight * idf if holding else 0.0
        for name, document in documents.items():
            frequency = 0.0
            for field, words in zip(WEIGHTS.values(), document, strict=True):
                norm = 1 - field.b + field.b * len(words) / field.pivot
                frequency += field.weight * words.count(term) / norm
            scores[name] += weight * idf * frequency * (K1 + 1) / (frequency + K1)
            held[name] += weight * idf if frequency else 0.0
    return {name: score * (1 + COORDINATION * held[name] / known) if known else 0.0 for name, score in scores.items()}


def best(scores: dict[str, float], tools: Sequence[Tool], among: Collection[str], k: int) -> list[str]:
    """Return the names of the best `k` above zero, ties read-only first and then by name."""
    kept = [tool for tool in tools if scores[tool.name] > 0 and tool.name in among]
    return [tool.name for tool in sorted(kept, key=lambda t: (-round(scores[t.name], 6), tie_order(t)))][:k]
