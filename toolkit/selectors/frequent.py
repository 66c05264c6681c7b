"""`frequent(k)`: the k tools that earlier sessions used most are declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any, ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.fitted import Fitted
from toolkit.selectors.usage import Usage
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Frequent(Fitted):
    """Declare the k told tools that earlier sessions called in most turns, each against how often it was there.

    Use it when sessions are alike: a few tools do most of the work, and the declared set never
    changes, so that the cached prefix stands. Fitted on earlier sessions:
    `resolve("frequent(k=8)").fit(sessions).save("usage.json")`.

    Args:
        k: How many tools to declare, at least 1.
        usage: A `Usage`, or the file of one.

    Raises:
        InputError: k is no whole number of at least 1, or the file is no usage file.
    """

    k: int = 8
    usage: Any = None
    spec: ClassVar[str] = "frequent"

    def __post_init__(self) -> None:
        checks.whole("frequent", "k", self.k)
        self._read()

    @property
    def static(self) -> bool:
        """True when it looks at the told set alone; what stands in a file may change."""
        return isinstance(self.usage, Usage)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        return self.chosen(most_used(self.learnt, told, self.k), told)


def most_used(usage: Usage, told: Sequence[Tool], k: int) -> list[str]:
    """Return the k told tools that were used most, the most used first."""
    known = toolset(told).by_name
    return list(islice((name for name in by_use(usage) if name in known), k))


@lru_cache(maxsize=16)
def by_use(usage: Usage) -> dict[str, float]:
    """Return tool → turns that call it for each session that has it, the most used first.

    A tool of one session counts half: one session says little.
    """
    shares = {name: turns / (usage.told_in.get(name, 0) + 1) for name, turns in usage.in_turns.items()}
    return dict(sorted(shares.items(), key=lambda one: (-one[1], one[0])))
