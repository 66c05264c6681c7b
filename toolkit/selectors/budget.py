"""`budget(tokens)`: the set that is worth most within a token budget is declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.costs import costs
from toolkit.selectors.knapsack import best
from toolkit.selectors.ranked import ranking, worths
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Combining):
    """Declare the ranked tools whose scores sum up to most within a budget: an exact knapsack.

    Use it when tools differ much in size and the prompt has a limit: two small tools that match
    well stand in the place of a large one that matches a little better. It counts whole tokens, and
    `tools.search` not.

    Args:
        tokens: What the declared definitions may cost together, at least 0.
        among: How many of the best ranked tools it chooses from; the choice among them is exact.
        retriever: Whose scores are summed; the host's own retriever by default.

    Raises:
        InputError: tokens is no whole number of at least 0, or among none of at least 1.
        UnknownNameError: No retriever of that name is registered.
    """

    tokens: int = 4_000
    among: int = 1_000
    retriever: str | None = None
    spec: ClassVar[str] = "budget"

    def __post_init__(self) -> None:
        checks.whole("budget", "tokens", self.tokens, 0)
        checks.whole("budget", "among", self.among)
        checks.retriever("budget", self.retriever)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        found = ranking(told, host, self.retriever, self.among)
        cost = costs(told, host.tokens)
        sizes = np.array([cost[name] for name, _ in found], dtype=np.int64)
        taken = best(worths(found), sizes, self.tokens)
        return Selection([found[place][0] for place in taken.tolist()], toolset(told).names)
