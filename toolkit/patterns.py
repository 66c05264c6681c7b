"""Glob patterns over whole names, as `docs/semantics.md` V4 reads them, and a fast index of names."""

from __future__ import annotations

import fnmatch
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate

_MOST_ANSWERS = 10_000
_SPECIAL = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class Glob:
    """One compiled pattern: the literal text before its first special character, and the rest."""

    pattern: str
    prefix: str
    regex: re.Pattern[str] | None

    def matches(self, name: str) -> bool:
        """Say whether the whole `name` matches, case-sensitively (V4)."""
        if self.regex is not None:
            return self.regex.match(name) is not None
        return name == self.pattern if self.prefix == self.pattern else name.startswith(self.prefix)


@lru_cache(maxsize=1 << 16)
def glob(pattern: str) -> Glob:
    """Compile a pattern.

    >>> glob("mcp.*").matches("mcp.a/b.c"), glob("report.?").matches("reportX1")
    (True, False)
    """
    special = _SPECIAL.search(pattern)
    prefix = pattern[: special.start()] if special else pattern
    plain = special is None or pattern == f"{prefix}*"
    return Glob(pattern, prefix, None if plain else re.compile(fnmatch.translate(pattern)))


@lru_cache(maxsize=1 << 18)
def matches_any(patterns: tuple[str, ...], name: str) -> bool:
    """Say whether at least one pattern matches the name."""
    return any(glob(pattern).matches(name) for pattern in patterns)


class NameIndex:
    """Sorted names, so that a pattern looks only at names that hold its literal text; answers are kept."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = sorted(names)
        self.all = frozenset(self.names)
        self._text = "\n".join(self.names)
        self._starts = [0, *accumulate(len(name) + 1 for name in self.names)]
        self._answers: dict[str, list[str]] = {}

    def matching(self, pattern: str) -> list[str]:
        """Return the names that match a pattern, sorted."""
        known = self._answers.get(pattern)
        if known is None:
            if len(self._answers) >= _MOST_ANSWERS:
                self._answers.clear()
            known = self._answers[pattern] = self._match(glob(pattern))
        return known

    def _match(self, compiled: Glob) -> list[str]:
        if compiled.regex is None and compiled.prefix != compiled.pattern:
            return self._with_prefix(compiled.prefix)
        literal = max(_literals(compiled.pattern), key=len, default="")
        whole = len(literal) < 2 or len(literal) <= len(compiled.prefix)
        near = self._with_prefix(compiled.prefix) if whole else self._holding(literal)
        return [name for name in near if compiled.matches(name)]

    def _with_prefix(self, prefix: str) -> list[str]:
        if not prefix:
            return self.names
        start = bisect_left(self.names, prefix)
        stop = bisect_left(self.names, prefix + "\U0010ffff", lo=start)
        while stop < len(self.names) and self.names[stop].startswith(prefix):
            stop += 1
        return self.names[start:stop]

    def _holding(self, literal: str) -> list[str]:
        """Return the names that hold a text, found in one sweep over all of them."""
        text, starts = self._text, self._starts
        found, at = [], text.find(literal)
        while at >= 0:
            number = bisect_right(starts, at) - 1
            found.append(self.names[number])
            at = text.find(literal, starts[number + 1])
        return found


def _literals(pattern: str) -> list[str]:
    """Return the runs of a pattern that stand for themselves; a class ends them, read cautiously."""
    return re.split(r"[*?]", pattern.partition("[")[0])
