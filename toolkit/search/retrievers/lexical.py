"""The lexical retriever: fielded BM25 over names, server, description and parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError
from toolkit.search.places import places
from toolkit.search.ranking import Ranking, Reason
from toolkit.search.retrievers.postings import Field, Postings, idf, saturated
from toolkit.search.terms.compounds import unglued
from toolkit.search.terms.texts import Fields, fields
from toolkit.search.terms.words import STOP_WORDS, content_terms, fold, raw_words, stem, terms, word_parts, word_terms
from toolkit.specs import format as format_spec
from toolkit.tool import Tool

WEIGHTS: Mapping[str, Field] = MappingProxyType(
    {
        "name": Field(2.1, 0.5, 5),
        "server": Field(1.3, 0.6, 3),
        "description": Field(0.5, 0.2, 15),
        "parameters": Field(0.25, 0.5, 5),
        "details": Field(0.25, 0.9, 22),
    }
)
K1 = 2.5
STOP_WEIGHT = 0.02
NUMBER_WEIGHT = 0.5
JOINED_WEIGHT = 0.5
COORDINATION = 0.9
REPEATED = 0.6
_LONGEST_QUERY = 1 << 15
_SMALL = 1 << 11
_NAMES = (Fields._fields.index("name"), Fields._fields.index("parameters"))


class Lexical:
    """BM25F over the searched text of tools; needs no model.

    The inverse document frequency is taken over `among`, so an answer depends on the tools that are
    asked about and on nothing else (`docs/semantics.md` Q3).

    Args:
        tools: The tools to index.
        min_coverage: Share of a query's known terms that a tool must hold, once the query has
            four or more of them; 0 asks for nothing (`tests/cases/README.md` D4).

    >>> tools = [Tool("board_add_arrow", "Connects two cards."), Tool("board_clear", "Empties the board.")]
    >>> Lexical(tools).rank("add an arrow").names
    ('board_add_arrow',)
    """

    def __init__(self, tools: Sequence[Tool], min_coverage: float = 0.0) -> None:
        if not 0.0 <= min_coverage <= 1.0:
            raise InputError(f"min_coverage must lie in 0…1, not {min_coverage!r}.")
        self.min_coverage = min_coverage
        self.places = places(tools)
        found = map(_terms_of if len(tools) <= _SMALL else _terms_of.__wrapped__, self.places.tools)
        self._postings = Postings(found, tuple(WEIGHTS.values()), K1)

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        """Return the best tools that hold a term of `query`; see `Retriever`."""
        return self.places.best(self.scores(query, self.places.mask(among)), k)

    def scores(self, query: str, mask: NDArray[np.bool_] | None = None) -> NDArray[np.float64]:
        """Return the score of every tool in tie order (n,), zero outside `mask`."""
        matches, total = self._postings.lookup(query_weights(query)).within(mask)
        scores = matches.scores(total, COORDINATION)
        return np.where(self._covers(query, mask), scores, 0.0) if self.min_coverage else scores

    def _covers(self, query: str, mask: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
        plain = {term: 1.0 for term in single_terms(query)}
        matches, _ = self._postings.lookup(plain).within(mask)
        known = int(np.count_nonzero(matches.sizes))
        return matches.counts() >= (math.ceil(self.min_coverage * known) if known >= 4 else 0)

    def explain(self, query: str, name: str, among: Collection[str] | None = None) -> tuple[Reason, ...]:
        """Return what each term in each field adds to the score of `name`, largest first.

        The saturated gain of a term is shared out over the fields by their weighted frequencies.
        """
        mask = self.places.mask(among)
        tool = self.places.tools[self.places.position(name)]
        idfs = {term: self._idf(term, mask) * weight for term, weight in query_weights(query).items()}
        found = [reason for term, worth in idfs.items() for reason in _reasons(tool, term, worth)]
        held = sum(idfs[term] for term in {reason.term for reason in found}) / max(sum(idfs.values()), 1e-9)
        whole = [Reason(r.term, r.field, r.score * (1 + COORDINATION * held)) for r in found]
        return tuple(sorted(whole, key=lambda reason: (-reason.score, reason.term, reason.field)))

    def _idf(self, term: str, mask: NDArray[np.bool_] | None) -> float:
        """Return the IDF of a term, 0 when no tool holds it."""
        matches, total = self._postings.lookup({term: 1.0}).within(mask)
        return float(idf(matches.sizes.sum(), total)) if matches.sizes.any() else 0.0

    def __repr__(self) -> str:
        options = {"min_coverage": self.min_coverage} if self.min_coverage else {}
        return format_spec("lexical", options)


@lru_cache(maxsize=1 << 12)
def _terms_of(tool: Tool) -> tuple[list[str], ...]:
    """Return the terms of each field; kept of tools in small catalogs: replays index them again with neighbours."""
    return field_terms(fields(tool))


def field_terms(texts: Fields) -> tuple[list[str], ...]:
    """Return the terms of each field; stop words stay in name and server only, and glued names are taken apart."""
    known = fold(f"{texts.description} {texts.details}")
    found = [terms(texts.name), terms(texts.server), *map(content_terms, texts[2:])]
    for place in _NAMES:
        found[place] += chain.from_iterable(map(word_terms, unglued(texts[place], known)))
    return tuple(found)


def query_weights(query: str) -> dict[str, float]:
    """Return the terms of a query with their weights.

    A term that comes three times or more counts more, by the logarithm; stop words and numbers count
    less. Neighbouring words are also looked up joined, so that `water bed` finds `waterbed`
    (`tests/cases/README.md` D9).
    """
    query = query[:_LONGEST_QUERY]
    weights = {term: _weight(term, n) for term, n in Counter(terms(query)).items()}
    for joined in joined_terms(query):
        weights.setdefault(joined, JOINED_WEIGHT)
    return weights


def _weight(term: str, times: int) -> float:
    if term in STOP_WORDS:
        return STOP_WEIGHT
    plain = NUMBER_WEIGHT if len(term) == 1 or term.isdigit() else 1.0
    return plain if times < 3 else plain * (1.0 + REPEATED * math.log(times - 1))


def joined_terms(query: str) -> Iterator[str]:
    """Yield two and three neighbouring words of the query, stop words aside, as one term."""
    parts = [part for word in raw_words(query) for part in word_parts(word)]
    runs = [() if part in STOP_WORDS else (part,) for part in parts]
    for first, second, third in zip(runs, [*runs[1:], ()], [*runs[2:], (), ()], strict=False):
        if first and second:
            yield stem(first[0] + second[0])
            if third:
                yield stem(first[0] + second[0] + third[0])


def single_terms(query: str) -> set[str]:
    """Return the terms of the query's single words, without stop words and compounds."""
    parts = [part for word in raw_words(query) for part in word_parts(word)]
    return {term for part in parts for term in word_terms(part)} - STOP_WORDS


def _reasons(tool: Tool, term: str, factor: float) -> list[Reason]:
    texts = field_terms(fields(tool))
    weighted = {
        name: words.count(term) * field.norm(len(words))
        for (name, field), words in zip(WEIGHTS.items(), texts, strict=True)
    }
    total = sum(weighted.values())
    gain = factor * saturated(total, K1) if total else 0.0
    return [Reason(term, name, gain * part / total) for name, part in weighted.items() if part]
