"""Regular expressions over the searched text, as some hosts offer them, within a time limit."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from toolkit.errors import InputError, need
from toolkit.search.places import places
from toolkit.search.ranking import Ranking, Reason
from toolkit.search.terms.texts import fields
from toolkit.tool import Tool

SECONDS = 0.2
_LONGEST = 1000
_SCORES = {"name": 4.0, "description": 2.0, "parameters": 1.0}


class InvalidPatternError(InputError):
    """A pattern cannot be compiled; the message names the cause."""

    code = "invalid_pattern"


class SlowPatternError(InputError):
    """A pattern took longer than the time limit."""

    code = "pattern_too_slow"


class Regex:
    """Ranks tools whose name (4), description (2) or parameters (1) a pattern matches, case folded.

    Args:
        tools: The tools to search.
        seconds: Time limit of one search over all tools, in seconds of processor time.

    Raises:
        MissingExtraError: The package regex is not installed.

    >>> Regex([Tool("mcp.git.get_log"), Tool("mcp.git.push")]).rank("get_.*").names
    ('mcp.git.get_log',)
    """

    def __init__(self, tools: Sequence[Tool], seconds: float = SECONDS) -> None:
        need("regex")
        self.seconds = seconds
        self.places = places(tools)
        seen = [(tool.name, fields(tool)) for tool in self.places.tools]
        self._texts = [(name, field.description, f"{field.parameters} {field.details}") for name, field in seen]

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        """Return the tools that the pattern `query` matches; see `Retriever`.

        Raises:
            InvalidPatternError: It is no pattern.
            SlowPatternError: It ran out of time.
        """
        pattern, mask = compiled(query), self.places.mask(among)
        deadline = time.process_time() + self.seconds
        scores = np.zeros(len(self.places))
        for i in range(len(self.places)) if mask is None else np.flatnonzero(mask).tolist():
            scores[i] = sum(reason.score for reason in _reasons(pattern, self._texts[i], deadline))
        return self.places.best(scores, k)

    def explain(self, query: str, name: str, among: Collection[str] | None = None) -> tuple[Reason, ...]:
        """Return what the pattern `query` matches in each field of `name`."""
        deadline = time.process_time() + self.seconds
        return tuple(_reasons(compiled(query), self._texts[self.places.position(name)], deadline))

    def __repr__(self) -> str:
        return "regex"


def compiled(pattern: str) -> Any:
    """Return a compiled pattern."""
    import regex

    if len(pattern) > _LONGEST:
        raise InvalidPatternError(
            f"the pattern has {len(pattern)} characters, at most {_LONGEST} are read.", hint="Shorten it."
        )
    try:
        return regex.compile(pattern, regex.IGNORECASE | regex.VERSION1)
    except (regex.error, OverflowError, RecursionError) as error:
        hint = "Mend it, or search by words: another retriever reads no pattern."
        raise InvalidPatternError(f"{pattern!r} is no regular expression: {error}.", hint=hint) from error


def _reasons(pattern: Any, texts: Iterable[str], deadline: float) -> list[Reason]:
    found = [_match(pattern, text, deadline) for text in texts]
    return [
        Reason(hit, field, score) for (field, score), hit in zip(_SCORES.items(), found, strict=True) if hit is not None
    ]


def _match(pattern: Any, text: str, deadline: float) -> str | None:
    left = max(deadline - time.process_time(), 1e-6)
    try:
        hit = pattern.search(text, timeout=left)
    except TimeoutError as error:
        raise SlowPatternError(f"the pattern {pattern.pattern!r} took too long.", hint="Use a simpler one.") from error
    return None if hit is None else str(hit.group())
