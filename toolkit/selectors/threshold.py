"""`threshold(score)`: as many tools are declared as are near enough to the turn's input, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import ranking, worths
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Threshold(Combining):
    """Declare every tool whose place in the ranking is worth a score, and those that the input names.

    Use it when turns differ much in how many tools they need: chat declares nothing, a task with
    several parts declares much. Put `.cap(tokens)` behind it where a broad input may match half the
    catalog.

    Args:
        score: The least score, in the retriever's own measure.
        retriever: Whose scores are meant. Those of `hybrid` and `dense` lie between 0 and 1, those of
            `lexical` start at 0 and have no top; without an encoder installed `hybrid` scores as `lexical`.

    Raises:
        InputError: The score is no number of at least 0.
    """

    score: float = 0.5
    retriever: str = "hybrid"
    spec: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        checks.number("threshold", "score", self.score)
        checks.retriever("threshold", self.retriever)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        found = ranking(told, host, self.retriever)
        near = int(np.count_nonzero(worths(found) >= self.score))
        return Selection([name for name, _ in found[:near]], toolset(told).names)
