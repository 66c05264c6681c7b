"""`recent(n)`: tools that the last n turns called stay declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Recent(Combining):
    """Declare what the last n turns called, the newest first.

    Use it as a part of another: what was used once is often used again, and a tool found by search
    is forgotten at the turn's end (`docs/semantics.md` Q6), so it would be searched for anew:
    `lazy | recent(n=3)`. Alone it declares nothing in a session's first turn.

    Args:
        n: How many turns to look back, at least 1.

    Raises:
        InputError: n is no whole number of at least 1.
    """

    n: int = 2
    spec: ClassVar[str] = "recent"

    def __post_init__(self) -> None:
        checks.whole("recent", "n", self.n)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        known = toolset(told)
        called = (name for turn in reversed(host.earlier[-self.n :]) for name in reversed(turn.calls))
        return Selection([name for name in dict.fromkeys(called) if name in known.by_name], known.names)
