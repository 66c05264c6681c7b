"""What the engine asks of what stands around it: a selector, a searcher, a recorder, each one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from toolkit.engine.view import HostView
from toolkit.tool import Tool
from toolkit.toolset import ToolSet


@dataclass(frozen=True, slots=True)
class Selection:
    """What a selector returns: names to declare and names to leave searchable (S2).

    `notices` are codes that a selector may give the host, such as `mode_changed` (section 12).
    """

    declared: Sequence[str] = ()
    searchable: Sequence[str] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What a search answers: hits best first, and the extra facts of Q10.

    Attributes:
        hits: (name, score) pairs, at most `limit` of them; scores of a retriever that can tell them are chances to
            be a right tool.
        matched: How many searchable tools matched in all.
        unmatched_words: Words of the query that occur in no tool of the offer.
        declared_matches: Declared tools that match: they need no search.
        down: Sources within the caller's scope that are down.
        notices: What the host should know of the search, e.g. `semantic_unavailable` (section 12).
        poor: Whether there are hits, and even the best is hardly a right tool.
        calibrated: Whether scores are chances to be a right tool, comparable between queries.
    """

    hits: tuple[tuple[str, float], ...] = ()
    matched: int = 0
    unmatched_words: tuple[str, ...] = ()
    declared_matches: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()
    poor: bool = False
    calibrated: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.hits)


class Selector(Protocol):
    """Splits, once a turn, what is told into declared and searchable (S2)."""

    def __call__(
        self, told: Sequence[Tool], host: HostView, /
    ) -> Selection | Mapping[str, Sequence[str]] | tuple[Sequence[str], Sequence[str]]: ...
    def __hash__(self) -> int: ...


class Searcher(Protocol):
    """Answers a query over the tools that it is given, and no others (Q1–Q5, Q10)."""

    def __call__(self, query: str, searchable: ToolSet, declared: ToolSet, limit: int, /) -> Answer: ...


@runtime_checkable
class Ranks(Protocol):
    """A searcher that also ranks, for selectors: the `k` best of the tools given as (name, score)."""

    def rank(self, query: str, tools: ToolSet, k: int, /) -> Iterable[tuple[str, float]]: ...


class Recorder(Protocol):
    """Takes down what a host does, note by note; `body` holds what the note is of."""

    def __call__(self, op: str, **body: Any) -> None: ...


Checker = Callable[[str, Any], str | None]
"""A schema's JSON text and a call's arguments → what is wrong with them, or None (C1)."""
