"""A view of a host as selectors get it, with a ranker that remembers what it was asked."""

from __future__ import annotations

from typing import Any

from tests.builders import TOOLS
from toolkit.engine import HostView
from toolkit.engine.view import EarlierTurn
from toolkit.selectors import resolve


class Ranker:
    """Answers the names that it was given, with falling scores, and remembers the questions."""

    def __init__(self, *names: str) -> None:
        self.names, self.asked = names, []  # type: tuple[str, ...], list[tuple[str, int, str | None]]

    def __call__(self, query: str, k: int, retriever: str | None) -> tuple[tuple[str, float], ...]:
        self.asked.append((query, k, retriever))
        return tuple((name, 1 / place) for place, name in enumerate(self.names[:k], 1))


def view(words: str = "", *earlier: str, ranker: Any = None) -> HostView:
    return HostView(1, words, [EarlierTurn(one) for one in earlier], _ranker=ranker or Ranker())


def split(spec: str, host: HostView | None = None, visible: Any = TOOLS) -> tuple[set[str], set[str]]:
    chosen = resolve(spec)(visible, host or view())
    return set(chosen.declared), set(chosen.searchable)
