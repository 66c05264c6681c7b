"""What a selector may know: the present and the past of one session, never the turn's recorded calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Scored = tuple[tuple[str, float], ...]
Ranker = Callable[[str, int, str | None], Scored]


class Rates(Protocol):
    """USD per token: uncached input, input read from a cache, input written to one, output."""

    @property
    def input(self) -> float: ...
    @property
    def cached(self) -> float: ...
    @property
    def write(self) -> float: ...
    @property
    def output(self) -> float: ...


class Price(Protocol):
    """What a model's tokens cost, by the size of the request."""

    def rates(self, prompt_tokens: float, /) -> Rates: ...
    def cost(self, uncached: float, cached: float, cache_write: float, output: float, /) -> float: ...


@dataclass(frozen=True, slots=True)
class EarlierTurn:
    """One turn that is over: its input, the tools it called, the queries it searched, the requests it took."""

    input: str
    calls: tuple[str, ...] = ()
    searches: tuple[str, ...] = ()
    passes: int = 0


def _no_ranker(query: str, k: int, retriever: str | None) -> Scored:
    return ()


def _no_tokens(name: str) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class HostView:
    """A read-only view of the host at a turn boundary (S2).

    Attributes:
        turn_no: 1 for the session's first turn.
        turn_input: The words of the turn's input; empty for a trigger without words.
        earlier: The session's earlier turns, oldest first.
        declared_before, searchable_before: The offer of the turn before, in canonical order; empty at the first.
        history_tokens: Tokens of what stands before this turn's input, definitions left out; 0 when nobody counts.
        config: The selector's own table of the host's configuration.
        tokens: Name → tokens that declaring the tool adds to every prompt; 0 when nobody counts.
        price: What the model's tokens cost; None when the host does not say.
        window: Tokens of the model's context window; None when the host does not say.
    """

    turn_no: int = 1
    turn_input: str = ""
    earlier: Sequence[EarlierTurn] = ()
    declared_before: tuple[str, ...] = ()
    searchable_before: tuple[str, ...] = ()
    history_tokens: int = 0
    config: Mapping[str, Any] = field(default_factory=dict)
    tokens: Callable[[str], int] = _no_tokens
    price: Price | None = None
    window: int | None = None
    _ranker: Ranker = _no_ranker

    def rank(self, query: str, k: int = 10, retriever: str | None = None) -> list[str]:
        """Return the names of the k visible tools that match best, best first.

        Args:
            query: Any text; an empty one matches nothing.
            k: At most so many names.
            retriever: A retriever's spec, e.g. `dense`; by default the host's own.
        """
        return [name for name, _ in self.ranking(query, k, retriever)]

    def ranking(self, query: str, k: int = 10, retriever: str | None = None) -> Scored:
        """Return (name, score) of the k visible tools that match best, best first; see `rank`.

        Scores are the retriever's own; a tool that the query names stands first whatever its score (Q4).
        """
        return self._ranker(query, k, retriever) if query.strip() and k > 0 else ()
