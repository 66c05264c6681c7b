"""`tools.search`: any retriever, the exact-name rule and the facts around an answer."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any

from toolkit.engine.ports import Answer
from toolkit.search.exact import Names
from toolkit.search.ranking import Ranking, Reason, Retriever, RetrieverFactory, tie_order
from toolkit.search.registry import default_retriever, retriever
from toolkit.search.requests import listed, selected
from toolkit.search.texts import fields
from toolkit.search.words import STOP_WORDS, fold, raw_words, word_terms
from toolkit.search.words import terms as terms_of
from toolkit.tool import Tool

_SUBSETS = 256


class _Index:
    """A retriever over a set of tools, and what the exact-name rule needs of them."""

    def __init__(self, tools: Sequence[Tool], build: RetrieverFactory) -> None:
        self.by_name = {tool.name: tool for tool in tools}
        self.retriever: Retriever = build(tools)
        self.names = Names(tools)
        self.ties = {tool.name: tie_order(tool) for tool in tools}

    def holds(self, tools: Sequence[Tool]) -> bool:
        return all(self.by_name.get(tool.name) == tool for tool in tools)

    def ranked(self, query: str, among: frozenset[str]) -> list[tuple[str, float]]:
        """Return every match within `among`: named tools first (Q4), then by score (Q3)."""
        asked = self._asked(query, among)
        if asked is not None:
            return [(name, 0.0) for name in asked]
        scored = list(self.retriever.rank(query, among, len(among)))
        named = self.names.named(query, among)
        if not named:
            return scored
        scores = dict(scored)
        first = sorted(named, key=lambda name: (-scores.get(name, 0.0), self.ties[name]))
        return [(name, scores.get(name, 0.0)) for name in first] + [pair for pair in scored if pair[0] not in named]

    def _asked(self, query: str, among: frozenset[str]) -> list[str] | None:
        """Return the tools that a query asks for by `select:` or by server; None when it describes them."""
        chosen = selected(query, self.names, among)
        return chosen if chosen is not None else listed(query, (self.by_name[name] for name in among))


@dataclass(frozen=True)
class _Subset:
    """Tools that were asked about together; kept so that their identities stay taken."""

    tools: tuple[Tool, ...]
    index: _Index

    @cached_property
    def among(self) -> frozenset[str]:
        return frozenset(tool.name for tool in self.tools)

    @cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(term for tool in self.tools for text in fields(tool) for term in terms_of(text))


class ToolSearch:
    """The searcher of a host: a retriever by spec or factory, with its indexes kept.

    An index is built once for a set of tools and reused by every turn, session and host that asks
    about these tools or fewer of them. Safe to share between threads.

    Args:
        build: A retriever's spec (`lexical`, `hybrid`…) or factory; the best one installed by default.
        size: How many indexes are kept.

    >>> search = ToolSearch("lexical")
    >>> search("close an issue", [Tool("mcp.git.close_issue"), Tool("mcp.git.log")], [], 5).names
    ('mcp.git.close_issue',)
    """

    def __init__(self, build: str | RetrieverFactory | None = None, size: int = 8) -> None:
        build = build or default_retriever()
        self.build: RetrieverFactory = retriever(build) if isinstance(build, str) else build
        self.size = size
        self._indexes: OrderedDict[int, _Index] = OrderedDict()
        self._subsets: OrderedDict[frozenset[int], _Subset] = OrderedDict()
        self._lock = threading.RLock()

    def __call__(self, query: str, searchable: Sequence[Tool], declared: Sequence[Tool], limit: int) -> Answer:
        """Answer a query over the tools given (`semantics.md` Q1–Q5, Q10); see `Searcher`."""
        subset = self._subset((*searchable, *declared))
        ranked = subset.index.ranked(query, subset.among)
        told = {tool.name for tool in declared}
        hits = [pair for pair in ranked if pair[0] not in told]
        matches = tuple(name for name, _ in ranked if name in told)
        return Answer(tuple(hits[: max(limit, 0)]), len(hits), unmatched_words(query, subset.vocabulary), matches)

    def rank(self, query: str, among_tools: Sequence[Tool], k: int = 10) -> Ranking:
        """Return the `k` best of the tools given, named ones first (Q4)."""
        subset = self._subset(tuple(among_tools))
        best = subset.index.ranked(query, subset.among)[: max(k, 0)]
        return Ranking(tuple(name for name, _ in best), tuple(score for _, score in best))

    def union(self, queries: Sequence[str], searchable: Sequence[Tool], declared: Sequence[Tool], limit: int) -> Answer:
        """Answer several queries at once: their hits in turn, best first, each tool once."""
        answers = [self(query, searchable, declared, len(searchable)) for query in queries]
        turns = zip_longest(*(answer.hits for answer in answers))
        best: dict[str, float] = {}
        for name, score in (hit for turn in turns for hit in turn if hit):
            best.setdefault(name, score)
        words = dict.fromkeys(word for answer in answers for word in answer.unmatched_words)
        matches = dict.fromkeys(name for answer in answers for name in answer.declared_matches)
        return Answer(tuple(best.items())[: max(limit, 0)], len(best), tuple(words), tuple(matches))

    def explain(self, query: str, name: str, tools: Sequence[Tool]) -> tuple[Any, ...]:
        """Return why `name` is ranked among `tools`: named in the query (Q4), then the retriever's reasons."""
        subset = self._subset(tuple(tools))
        reasons: tuple[Any, ...] = getattr(subset.index.retriever, "explain", _silent)(query, name, subset.among)
        named = name in subset.index.names.named(query, {name})
        return (Reason(name, "exact name", 0.0), *reasons) if named else reasons

    @property
    def notices(self) -> tuple[str, ...]:
        """Notice codes of the kept indexes, e.g. `semantic_unavailable`."""
        with self._lock:
            told = [getattr(index.retriever, "notices", ()) for index in self._indexes.values()]
        return tuple(dict.fromkeys(chain.from_iterable(told)))

    def prepare(self, tools: Sequence[Tool]) -> None:
        """Build the index of a whole catalog now, so that later calls about parts of it are fast."""
        self._subset(tuple(tools))

    def _subset(self, tools: tuple[Tool, ...]) -> _Subset:
        key = frozenset(map(id, tools))
        with self._lock:
            if key not in self._subsets:
                self._subsets[key] = _Subset(tools, self._index(tools))
                _trim(self._subsets, _SUBSETS)
            self._subsets.move_to_end(key)
            return self._subsets[key]

    def _index(self, tools: tuple[Tool, ...]) -> _Index:
        for key, index in self._indexes.items():
            if index.holds(tools):
                self._indexes.move_to_end(key)
                return index
        index = _Index(tools, self.build)
        self._indexes[id(index)] = index
        _trim(self._indexes, self.size)
        return index

    def __repr__(self) -> str:
        return f"ToolSearch({repr(self.build)!r})"


def unmatched_words(query: str, vocabulary: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a query that occur in no tool, folded, in order, without stop words (Q10).

    >>> unmatched_words("the tide flurbometer", frozenset(terms_of("tide table")))
    ('flurbometer',)
    """
    words = dict.fromkeys(fold(word) for word in raw_words(query) if not vocabulary.intersection(word_terms(word)))
    return tuple(word for word in words if word not in STOP_WORDS)


def _silent(query: str, name: str, among: frozenset[str]) -> tuple[Any, ...]:
    return ()


def _trim(cache: OrderedDict[Any, Any], size: int) -> None:
    while len(cache) > size:
        cache.popitem(last=False)
