"""What selectors that rank share: the words to rank by, the ranking, what a place in it is worth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from toolkit.engine import HostView
from toolkit.engine.view import Scored
from toolkit.tool import Tool


def latest_words(host: HostView) -> str:
    """Return the newest input of the session that has words, this turn's first."""
    inputs = (host.turn_input, *(turn.input for turn in reversed(host.earlier)))
    return next((words for words in inputs if words.strip()), "")


def ranking(told: Sequence[Tool], host: HostView, retriever: str | None, k: int | None = None) -> Scored:
    """Return (name, score) of the told tools that match the latest words, best first; all of them without a k."""
    return host.ranking(latest_words(host), len(told) if k is None else k, retriever)


def worths(scored: Scored) -> NDArray[np.float64]:
    """Return what each place of a ranking is worth (n,): its score, but never less than a place after it.

    A tool that the words name stands first whatever its score (`docs/semantics.md` Q4), so its place counts.

    >>> worths((("named", 0.0), ("best", 0.9), ("next", 0.2))).tolist()
    [0.9, 0.9, 0.2]
    """
    scores = np.array([score for _, score in scored], dtype=np.float64)
    return np.maximum.accumulate(scores[::-1])[::-1]
