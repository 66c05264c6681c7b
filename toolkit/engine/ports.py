"""What the engine asks of the floors above it: a selector and a searcher, each one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from toolkit.tool import Tool

if TYPE_CHECKING:
    from toolkit.engine.view import HostView


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
        hits: (name, score) pairs, at most `limit` of them.
        matched: How many searchable tools matched in all.
        unmatched_words: Words of the query that occur in no tool of the offer.
        declared_matches: Declared tools that match: they need no search.
        down: Sources within the caller's scope that are down.
        notices: What the host should know of the search, e.g. `semantic_unavailable` (section 12).
    """

    hits: tuple[tuple[str, float], ...] = ()
    matched: int = 0
    unmatched_words: tuple[str, ...] = ()
    declared_matches: tuple[str, ...] = ()
    down: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.hits)


class Selector(Protocol):
    """Splits, once a turn, what is told into declared and searchable."""

    def __call__(
        self, visible: Sequence[Tool], host: HostView
    ) -> Selection | Mapping[str, Any] | tuple[Sequence[str], Sequence[str]]: ...


class Searcher(Protocol):
    """Answers a query over the tools that it is given, and no others (Q1–Q5, Q10)."""

    def __call__(self, query: str, searchable: Sequence[Tool], declared: Sequence[Tool], limit: int) -> Answer: ...


_resolvers: dict[str, Callable[[Any], Any]] = {}


def plug_in(kind: str, resolver: Callable[[Any], Any]) -> None:
    """Say how a `selector` or a `searcher` is made from a spec; the package's face does, once."""
    _resolvers[kind] = resolver


def resolve(kind: str, spec: Any) -> Any:
    """Return the selector or searcher of a spec.

    Raises:
        UnknownNameError: Nothing of that name is registered (S8).
    """
    return _resolvers[kind](spec)
