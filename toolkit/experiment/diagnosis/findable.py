"""Which of the tools that were needed a search would have found, by which words, and why not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

from toolkit.experiment.diagnosis.replays import Replayed, Replays
from toolkit.replaying.prepared import PreparedPass, PreparedTurn
from toolkit.replaying.query_models import OPTIMISTIC, Seen, asked, query_model
from toolkit.search.shared import tool_search
from toolkit.search.terms.texts import fields
from toolkit.search.terms.words import STOP_WORDS, fold, raw_words, terms, word_terms
from toolkit.session import Session
from toolkit.tool import Tool

_SHOWN = 3
_MOST_WORDS = 5
_NO_SUBJECT = frozenset((
    "aber", "als", "auch", "auf", "aus", "avec", "bei", "bitte", "ces", "como", "con", "dans", "das", "dass", "del",
    "dem", "den", "der", "des", "die", "diese", "diesem", "diesen", "dieser", "donde", "ein", "eine", "einem",
    "einen", "einer", "ella", "elle", "ellos", "est", "esta", "este", "esto", "für", "habe", "ich", "ihr", "ist",
    "kann", "las", "les", "leur", "los", "mais", "mein", "meine", "mir", "mit", "más", "nach", "nicht", "noch",
    "nous", "oder", "par", "para", "pas", "pero", "por", "pour", "que", "qui", "sich", "sie", "sin", "sind", "son",
    "sont", "sur", "una", "und", "une", "unos", "uns", "von", "vous", "was", "wenn", "wer", "wie", "wir", "wird",
    "zum", "zur", "über",
))  # fmt: skip
"""What German, French and Spanish queries hold whatever they are about."""


class Try(NamedTuple):
    """A query that was or would have been written when a tool was needed, and where it ranks the tool (0: nowhere)."""

    query: str
    rank: int
    ahead: tuple[str, ...] = ()


@dataclass(slots=True)
class Needs:
    """The turns in which one tool was needed, each with its tries as they were made."""

    tool: Tool
    recorded: bool = False
    turns: list[list[Try]] = field(default_factory=list)
    among: tuple[Tool, ...] = ()

    def found(self, k: int) -> int:
        """Return in how many of the turns a query ranks it within k."""
        return sum(any(0 < one.rank <= k for one in tries) for tries in self.turns)

    @property
    def words(self) -> frozenset[str]:
        """The words that it was first asked for with."""
        return frozenset(word for tries in self.turns for word in _asked_with(tries[:1]))

    @property
    def best(self) -> Try:
        """The try that came nearest."""
        return min((one for tries in self.turns for one in tries), key=_nearness, default=Try("", 0))


def _nearness(one: Try) -> tuple[bool, int]:
    return (not one.rank, one.rank)


class Ranks:
    """Rankings of the tools that were told, by the setting's retriever; each query once."""

    def __init__(self, retriever: str) -> None:
        self.searcher = tool_search(retriever)
        self._kept = lru_cache(maxsize=4096)(self._rank)

    def prepare(self, tools: Sequence[Tool]) -> None:
        """Build one index over all tools, of which every session's are a part."""
        self.searcher.prepare(tools)

    def tried(self, query: str, name: str, among: tuple[Tool, ...]) -> Try:
        """Return where a query ranks a tool, and what stands right ahead of it."""
        names = self._kept(query, among)
        place = names.index(name) if name in names else -1
        return Try(query, place + 1, names[: min(place, _SHOWN)] if place >= 0 else names[:_SHOWN])

    def _rank(self, query: str, among: tuple[Tool, ...]) -> tuple[str, ...]:
        return tuple(self.searcher.rank(query, among, len(among)).names) if query.strip() else ()


class Search:
    """The tools that were needed, and what a search would have made of it, added up session by session."""

    def __init__(self, replays: Replays, ranks: Ranks) -> None:
        self.replays, self.ranks = replays, ranks
        self.ask = query_model(replays.setting.query_model)
        self.optimistic = replays.setting.query_model in OPTIMISTIC
        self.needs: dict[str, Needs] = {}

    def add(self, session: Session, found: Replayed) -> None:
        """Add the calls of a session that was replayed with everything declared: one need a turn and tool."""
        prepared = self.replays.prepared(session)
        for turn, trace in zip(prepared.turns, found.trace.turns, strict=True):
            told = {tool.name: tool for tool in trace.offer.declared if tool.source != "core"}
            among = tuple(told.values())
            met: set[str] = set()
            for step in turn.passes:
                for name in dict.fromkeys(call.name for call in step.calls if call.name in told):
                    if name not in met:
                        self._need(told[name], among, turn, step)
                    met.add(name)

    def _need(self, tool: Tool, among: tuple[Tool, ...], turn: PreparedTurn, step: PreparedPass) -> None:
        need = self.needs.setdefault(tool.name, Needs(tool))
        need.among = among
        need.recorded = need.recorded or bool(step.searched)
        seen = Seen(step.words, turn.input, step.last_words, tool.name if self.optimistic else "", step.searched)
        queries = step.searched or asked(self.ask, seen)[0]
        need.turns.append([self.ranks.tried(query, tool.name, among) for query in queries])

    def reaches(self, name: str, k: int) -> bool:
        """Say whether any query found a tool within k; so it counts when nobody needed it."""
        return name not in self.needs or self.needs[name].found(k) > 0

    def why(self, need: Needs) -> str:
        """Say why the best query did not find a tool: what in it matched, what stood ahead, which words no tool has."""
        best = need.best
        if not best.query:
            return "nothing was said that could be asked with"
        reasons = self.ranks.searcher.explain(best.query, need.tool.name, need.among)[:_SHOWN]
        matched = ", ".join(dict.fromkeys(map(_matched, reasons)))
        unknown = self.ranks.searcher(best.query, need.among, (), 1).unmatched_words[:_MOST_WORDS]
        said = [f"matched by {matched}" if matched else "no word of the query is in it"]
        said += [f"behind {', '.join(best.ahead)}"] if best.ahead else []
        said += [f"no tool has {', '.join(map(repr, unknown))}"] if unknown else []
        return "; ".join(said)


def _matched(reason: Any) -> str:
    """Name what matched: a word and where it stands, or the meaning as an encoder has it."""
    return f"{reason.term!r} in its {reason.field}" if reason.term else f"its meaning ({reason.field})"


def missing_words(need: Needs, others: Iterable[Needs] = ()) -> list[str]:
    """Return the words that tell best when a tool was needed, and that stand nowhere in its texts.

    A word counts for each turn whose first query has it, and less the more other tools were asked for with it.

    >>> need = Needs(Tool("mcp.mail.send_message", "Sends a letter."), turns=[[Try("an email to Ann", 0)]])
    >>> missing_words(need)
    ['email', 'ann']
    """
    held = {term for text in fields(need.tool) for term in terms(text)}
    used = Counter(word for tries in need.turns for word in _asked_with(tries[:1]))
    spread = Counter(word for other in others for word in other.words)
    worth = {word: n / (1 + spread[word]) for word, n in used.items() if not held.intersection(word_terms(word))}
    return sorted(worth, key=lambda word: -worth[word])[:_MOST_WORDS]


def _asked_with(tries: Iterable[Try]) -> dict[str, None]:
    return dict.fromkeys(word for one in tries for word in map(fold, raw_words(one.query)) if _tells(word))


def _tells(word: str) -> bool:
    return len(word) > 2 and word not in STOP_WORDS and word not in _NO_SUBJECT and word.isalpha()


def hint(need: Needs, others: Iterable[Needs], known: bool) -> str:
    """Say what to change in a tool's description."""
    words = ", ".join(map(repr, missing_words(need, others)))
    if not need.tool.description:
        lost = (
            "its description was not recorded: judge it with one" if not known else "it has no description: write one"
        )
        return f"{lost}{f', with words such as {words}' if words else ''}"
    if not words:
        return "its texts hold all the words it was needed with: say what sets it apart from those ahead"
    return f"its texts lack words it was needed with: {words}"


COLUMNS = (
    *("server", "name", "needed_turns", "found_turns", "found_share", "best_rank", "best_query"),
    *("queries", "queries_from", "why", "hint"),
)


def row(need: Needs, k: int) -> dict[str, Any]:
    """Return a tool that was needed as a row of a frame."""
    best, times, found = need.best, len(need.turns), need.found(k)
    queries = dict.fromkeys(one.query for tries in need.turns for one in tries)
    return {
        "server": need.tool.server or need.tool.source,
        "name": need.tool.name,
        "needed_turns": times,
        "found_turns": found,
        "found_share": found / times,
        "best_rank": best.rank or None,
        "best_query": best.query,
        "queries": len(queries),
        "queries_from": "recorded" if need.recorded else "modelled",
    }
