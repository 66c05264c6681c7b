"""A view of a host as selectors get it, with a ranker that remembers what it was asked."""

from __future__ import annotations

from typing import Any

from tests.builders import TOOLS
from toolkit.engine import HostView
from toolkit.engine.view import EarlierTurn
from toolkit.selectors import resolve


class Ranker:
    """Answers the names that it was given, with falling scores, and remembers the questions."""

    def __init__(self, *names: str, scores: Any = None) -> None:
        self.names, self.asked = names, []  # type: tuple[str, ...], list[tuple[str, int, str | None]]
        self.scores = scores or [1 / place for place in range(1, len(names) + 1)]

    def __call__(self, query: str, k: int, retriever: str | None) -> tuple[tuple[str, float], ...]:
        self.asked.append((query, k, retriever))
        return tuple(zip(self.names, self.scores, strict=True))[:k]


def view(words: str = "", *earlier: Any, ranker: Any = None, **more: Any) -> HostView:
    past = [EarlierTurn(one) if isinstance(one, str) else one for one in earlier]
    return HostView(len(past) + 1, words, past, _ranker=ranker or Ranker(), **more)


def split(spec: Any, host: HostView | None = None, visible: Any = TOOLS) -> tuple[set[str], set[str]]:
    chosen = resolve(spec)(visible, host or view())
    return set(chosen.declared), set(chosen.searchable)


def declared(spec: Any, host: HostView | None = None, visible: Any = TOOLS) -> list[str]:
    """Return what a selector declares, in its own order."""
    return list(resolve(spec)(visible, host or view()).declared)
