"""What a query wants done, against what a tool's name says it does."""

from __future__ import annotations

from functools import lru_cache, reduce
from operator import or_

from toolkit.search.terms.texts import split_name
from toolkit.search.terms.words import raw_words, word_parts, word_terms
from toolkit.tool import Tool

_KINDS = {
    "read": "check describe details display enumerate fetch find get info inspect list lookup obtain query read"
    " retrieve return search see show view what which",
    "create": "add build create generate insert make new provision register set setup",
    "update": "adjust change configure edit enable modify patch rename replace set update",
    "delete": "cancel clear delete destroy drop erase remove unregister",
    "send": "notify post publish send share submit upload write",
    "run": "execute invoke launch restart run start trigger",
    "stop": "disable end pause stop terminate",
}
_WORDS_READ = 12


def _by_stem() -> dict[str, int]:
    found: dict[str, int] = {}
    for bit, words in enumerate(_KINDS.values()):
        for word in words.split():
            stem = word_terms(word)[0]
            found[stem] = found.get(stem, 0) | 1 << bit
    return found


KINDS = _by_stem()


def wanted(query: str) -> int:
    """Return the kinds of the first verb of a query as bits, 0 when it has none.

    >>> wanted("Please remove the old disk") == wanted("delete"), wanted("weather in Rome")
    (True, 0)
    """
    return next(iter(_kinds(query)), 0)


@lru_cache(maxsize=1 << 16)
def offered(tool: Tool) -> int:
    """Return the kinds of all verbs in a tool's name as bits, else of the first in its description."""
    named = _kinds(split_name(tool)[1])
    return reduce(or_, named) if named else next(iter(_kinds(tool.description, 3)), 0)


def _kinds(text: str, most: int = _WORDS_READ) -> list[int]:
    parts = [part for word in raw_words(text[:400]) for part in word_parts(word)][:most]
    stems = [stem for part in parts for stem in word_terms(part)[:1]]
    return [KINDS[stem] for stem in stems if stem in KINDS]
