"""`tools.search`: any retriever, the exact-name rule and the facts around an answer."""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain, islice, zip_longest
from typing import Any

from toolkit.engine.ports import Answer
from toolkit.search.learned.requests import listed, selected
from toolkit.search.ranking import Ranking, Reason, Retriever, RetrieverFactory, tie_order
from toolkit.search.retrievers.registry import default_retriever, retriever
from toolkit.search.terms.names import Names
from toolkit.search.terms.texts import fields
from toolkit.search.terms.words import STOP_WORDS, fold, raw_words, word_terms
from toolkit.search.terms.words import terms as terms_of
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

_ANSWERING = 256
_MOST_TOOLS = 48_000
_MOST_NAMES = 3_000_000
_GROWTH = 1.25


class _Index:
    """A retriever over a set of tools, and what the exact-name rule needs of them."""

    def __init__(self, tools: ToolSet, build: RetrieverFactory) -> None:
        self.tools, self.content = tools, frozenset(tools)
        self.retriever: Retriever = build(tools)
        self.names = Names(tools)

    def missing(self, tools: ToolSet) -> list[Tool] | None:
        """Return the tools that this index lacks; None when one of its own has the name of another tool."""
        lacking = [tool for tool in tools if tool not in self.content]
        return None if any(tool.name in self.tools.by_name for tool in lacking) else lacking

    def ranked(self, query: str, among: frozenset[str]) -> Ranking:
        """Return every match within `among`: named tools first (Q4), of which the chance is 1, then by score (Q3)."""
        asked = self._asked(query, among)
        if asked is not None:
            return Ranking(tuple(asked), (0.0,) * len(asked))
        ranking = self.retriever.rank(query, among, len(among))
        scored, named = list(ranking), self.names.named(query, among)
        if not named:
            return ranking
        scores, by_name = dict(scored), self.tools.by_name
        first = sorted(named, key=lambda name: (-scores.get(name, 0.0), tie_order(by_name[name])))
        names = (*first, *(name for name, _ in scored if name not in named))
        chances = dict(zip(ranking.names, ranking.chances, strict=False)) | dict.fromkeys(named, 1.0)
        told = tuple(map(chances.__getitem__, names)) if ranking.chances else ()
        return Ranking(names, tuple(scores.get(name, 0.0) for name in names), told)

    def _asked(self, query: str, among: frozenset[str]) -> list[str] | None:
        """Return the tools that a query asks for by `select:` or by server; None when it describes them."""
        chosen = selected(query, self.names, among)
        return chosen if chosen is not None else listed(query, (self.tools.by_name[name] for name in among))


Ranked = tuple[tuple[str, ...], Sequence[float], Sequence[float]]
"""Names, their scores, and their chances where the retriever tells them; best first."""

POOR = 0.1
"""Chance of the best hit below which an answer is poor."""


class ToolSearch:
    """The searcher of a host: a retriever by spec or factory, with its indexes kept.

    An index is built once for a set of tools and reused by every turn, session and host that asks
    about these tools or fewer of them; for a few more it grows. Rankings are kept too, since replays
    under many systems ask the same again. Safe to share between threads.

    Args:
        build: A retriever's spec (`lexical`, `hybrid`…) or factory; the best one installed by default.
        size: How many tools the indexes may hold together; the newest index always stays.

    >>> search = ToolSearch("lexical")
    >>> search("close an issue", [Tool("mcp.git.close_issue"), Tool("mcp.git.log")], [], 5).names
    ('mcp.git.close_issue',)
    """

    def __init__(self, build: str | RetrieverFactory | None = None, size: int = _MOST_TOOLS) -> None:
        build = build or default_retriever()
        self.build: RetrieverFactory = retriever(build) if isinstance(build, str) else build
        self.size = size
        self._indexes: OrderedDict[ToolSet, _Index] = OrderedDict()
        self._answering: OrderedDict[ToolSet, _Index] = OrderedDict()
        self._rankings: OrderedDict[tuple[ToolSet, str], Ranked] = OrderedDict()
        self._names = 0
        self._lock = threading.RLock()

    def __call__(self, query: str, searchable: Sequence[Tool], declared: Sequence[Tool], limit: int) -> Answer:
        """Answer a query over the tools given (`docs/semantics.md` Q1–Q5, Q10); see `Searcher`."""
        told = toolset(declared)
        tools = toolset(searchable).derived(ToolSet.__or__, told)
        (names, scores, chances), notices = self._ranked(query, tools)
        known = tools.derived(_vocabulary)
        if chances and not any(map(str.isalpha, query)) and known.isdisjoint(terms_of(query)):
            return Answer(notices=notices, calibrated=True)  # signs alone are near to everything and mean nothing
        matches = tuple(filter(told.by_name.__contains__, names))
        others = (
            (name, score) for name, score in zip(names, chances or scores, strict=True) if name not in told.by_name
        )
        hits = tuple(islice(others, max(limit, 0)))
        words = unmatched_words(query, known)
        poor = bool(chances and hits) and hits[0][1] < POOR
        matched = len(names) - len(matches)
        return Answer(hits, matched, words, matches, (), notices, poor, calibrated=bool(chances))

    def rank(self, query: str, among_tools: Sequence[Tool], k: int = 10) -> Ranking:
        """Return the `k` best of the tools given, named ones first (Q4)."""
        (names, scores, _), _ = self._ranked(query, toolset(among_tools))
        return Ranking(names[: max(k, 0)], tuple(scores[: max(k, 0)]))

    def union(self, queries: Sequence[str], searchable: Sequence[Tool], declared: Sequence[Tool], limit: int) -> Answer:
        """Answer several queries at once: their hits in turn, best first, each tool once."""
        answers = [self(query, searchable, declared, len(searchable)) for query in queries]
        turns = zip_longest(*(answer.hits for answer in answers))
        best: dict[str, float] = {}
        for name, score in (hit for turn in turns for hit in turn if hit):
            best.setdefault(name, score)
        words = dict.fromkeys(word for answer in answers for word in answer.unmatched_words)
        matches = dict.fromkeys(name for answer in answers for name in answer.declared_matches)
        notices = dict.fromkeys(notice for answer in answers for notice in answer.notices)
        hits = tuple(best.items())[: max(limit, 0)]
        return Answer(hits, len(best), tuple(words), tuple(matches), notices=tuple(notices))

    def explain(self, query: str, name: str, tools: Sequence[Tool]) -> tuple[Any, ...]:
        """Return why `name` is ranked among `tools`: named in the query (Q4), then the retriever's reasons."""
        asked = toolset(tools)
        index = self._index(asked)
        reasons: tuple[Any, ...] = getattr(index.retriever, "explain", _silent)(query, name, asked.name_set)
        named = name in index.names.named(query, {name})
        return (Reason(name, "exact name", 0.0), *reasons) if named else reasons

    @property
    def notices(self) -> tuple[str, ...]:
        """Notice codes of the kept indexes, e.g. `semantic_unavailable`."""
        with self._lock:
            told = [getattr(index.retriever, "notices", ()) for index in self._indexes.values()]
        return tuple(dict.fromkeys(chain.from_iterable(told)))

    def prepare(self, tools: Sequence[Tool]) -> None:
        """Build the index of a whole catalog now, so that later calls about parts of it are fast."""
        self._index(toolset(tools))

    def _ranked(self, query: str, tools: ToolSet) -> tuple[Ranked, tuple[str, ...]]:
        """Return every match within a set, best first, and the index's notices; the newest rankings are kept."""
        key = (tools, query)
        with self._lock:
            if key in self._rankings:
                self._rankings.move_to_end(key)
                return self._rankings[key], ()
        index = self._index(tools)
        found = index.ranked(query, tools.name_set)
        ranked = found.names, array("d", found.scores), array("d", found.chances)
        notices = tuple(getattr(index.retriever, "notices", ()))
        if notices:
            return ranked, notices  # it fell back, and may do better next time
        with self._lock:
            self._names += len(found) - len(self._rankings.get(key, ((),))[0])
            self._rankings[key] = ranked
            while self._names > _MOST_NAMES:
                self._names -= len(self._rankings.popitem(last=False)[1][0])
        return ranked, ()

    def _index(self, tools: ToolSet) -> _Index:
        """Return the index that answers for a set: one that holds it, or the nearest grown by a few, or a new one."""
        with self._lock:
            index = self._answering.get(tools) or self._holding(tools)
            self._indexes.move_to_end(index.tools)
            self._answering[tools] = index
            self._answering.move_to_end(tools)
            if len(self._answering) > _ANSWERING:
                self._answering.popitem(last=False)
            return index

    def _holding(self, tools: ToolSet) -> _Index:
        lacking: dict[ToolSet, list[Tool]] = {}
        for key, one in self._indexes.items():
            missing = one.missing(tools)
            if missing == []:
                return one
            if missing is not None:
                lacking[key] = missing
        nearest = min(lacking, key=lambda key: len(lacking[key]), default=None)
        if nearest is not None and len(nearest) + len(lacking[nearest]) <= _GROWTH * len(tools):
            return self._keep(_Index(nearest | lacking[nearest], self.build), nearest)
        return self._keep(_Index(tools, self.build))

    def _keep(self, index: _Index, grown: ToolSet | None = None) -> _Index:
        """Keep an index in place of the one that it has grown out of, and as many older ones as fit."""
        old = self._indexes.pop(grown) if grown is not None else None
        self._answering.update([(tools, index) for tools, one in self._answering.items() if one is old])
        self._indexes[index.tools] = index
        while len(self._indexes) > 1 and sum(map(len, self._indexes)) > self.size:
            gone = self._indexes.popitem(last=False)[1]
            for tools in [tools for tools, one in self._answering.items() if one is gone]:
                del self._answering[tools]
        return index

    def __repr__(self) -> str:
        return f"ToolSearch({repr(self.build)!r})"


def unmatched_words(query: str, vocabulary: frozenset[str]) -> tuple[str, ...]:
    """Return the words of a query that occur in no tool, folded, in order, without stop words (Q10).

    >>> unmatched_words("the tide flurbometer", frozenset(terms_of("tide table")))
    ('flurbometer',)
    """
    return tuple(dict.fromkeys(word for word, found in _terms_by_word(query) if vocabulary.isdisjoint(found)))


@lru_cache(maxsize=1 << 10)
def _terms_by_word(query: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the words of a query, folded, without stop words, and the terms of each; replays ask the same again."""
    words = ((fold(word), word_terms(word)) for word in raw_words(query))
    return tuple((word, found) for word, found in words if word not in STOP_WORDS)


@lru_cache(maxsize=1 << 13)
def _terms_of_tool(tool: Tool) -> frozenset[str]:
    return frozenset(term for text in fields(tool) for term in terms_of(text))


def _vocabulary(tools: ToolSet) -> frozenset[str]:
    return frozenset().union(*map(_terms_of_tool, tools))


def _silent(query: str, name: str, among: frozenset[str]) -> tuple[Any, ...]:
    return ()
