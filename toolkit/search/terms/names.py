"""The exact-name rule (`docs/semantics.md` Q4): a tool that the query names comes before any scored one."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from toolkit.search.terms.words import fold
from toolkit.tool import Tool, wire_name

_WORDS = re.compile(r"[^\W_]+")
_IDENTIFIERS = re.compile(r"[^\W_]+(?:[_\-./:]+[^\W_]+)*")


class Names:
    """Squashed full name, wire name and leaf of tools → the tools that bear it.

    `create issue`, as a whole query, names `mcp.github.create_issue`, and so does a query that holds
    `create_issue` or `createIssue`; the plain words in a longer one name nothing.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._bearers: dict[str, set[str]] = defaultdict(set)
        for tool in tools:
            for spelling in spellings(tool):
                self._bearers[spelling].add(tool.name)

    def named(self, query: str, among: Collection[str]) -> set[str]:
        """Return the names within `among` that the query names."""
        written = {squash(query), *map(squash, identifiers(query))}
        return {name for one in written for name in self._bearers.get(one, ()) if name in among}


def identifiers(text: str) -> Iterator[str]:
    """Yield the identifier-shaped words of a text: those with a separator inside, or a capital after a small letter.

    >>> list(identifiers("Run `list_all`, then gitLog: see a/b or Log."))
    ['list_all', 'gitLog', 'a/b']
    """
    for word in _IDENTIFIERS.findall(unicodedata.normalize("NFKC", text)):
        humped = any(one.islower() and other.isupper() for one, other in zip(word, word[1:], strict=False))
        if humped or not word.isalnum():
            yield word


@lru_cache(maxsize=1 << 16)
def spellings(tool: Tool) -> frozenset[str]:
    """Return the folded, squashed spellings under which a tool is named.

    >>> sorted(spellings(Tool("mcp.git.Log_show")))
    ['logshow', 'mcpgitlogshow']
    """
    written = (tool.name, wire_name(tool.name), tool.leaf, tool.leaf.rpartition("__")[2])
    return frozenset(squash(name) for name in written) - {""}


def squash(name: str) -> str:
    """Return `name` folded and without separators."""
    return "".join(_WORDS.findall(fold(name)))
