"""The exact-name rule (`semantics.md` Q4): a tool that the query names comes before any scored one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import lru_cache

from toolkit.search.terms.words import fold
from toolkit.tool import Tool, wire_name

_WORDS = re.compile(r"[^\W_]+")
_LONGEST_NAME = 12
_HEADS = (3, 2, 1)


class Names:
    """Squashed full name, wire name and leaf of tools → the tools that bear it.

    A name stands in a query as whole words: `create_issue`, `createIssue` and `create issue` all name
    `mcp.github.create_issue`; `recreate_issue` does not.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._bearers: dict[str, set[str]] = defaultdict(set)
        for tool in tools:
            for spelling in spellings(tool):
                self._bearers[spelling].add(tool.name)
        self._longest = max(map(len, self._bearers), default=0)
        self._heads = frozenset(name[: _HEADS[0]] for name in self._bearers)

    def named(self, query: str, among: Collection[str]) -> set[str]:
        """Return the names within `among` that stand in the query."""
        pieces = _WORDS.findall(fold(query))
        found: set[str] = set()
        text, at = "".join(pieces), 0
        for start, piece in enumerate(pieces):
            if any(text[at : at + length] in self._heads for length in _HEADS):
                found |= self._from(pieces[start : start + _LONGEST_NAME])
            at += len(piece)
        return {name for name in found if name in among}

    def _from(self, pieces: list[str]) -> set[str]:
        found: set[str] = set()
        joined = ""
        for piece in pieces:
            joined += piece
            if len(joined) > self._longest:
                break
            found |= self._bearers.get(joined, set())
        return found


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
