"""`auto(percent)`: everything declared while it is small against the window, searchable beyond, without flapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.errors import InputError
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.costs import costs
from toolkit.tool import SEARCH, Tool
from toolkit.toolset import toolset

WINDOW = 200_000
HYSTERESIS = 0.1
"""Back to declaring everything only when the definitions are a tenth below the threshold."""


@dataclass(frozen=True, slots=True, repr=False)
class Auto(Combining):
    """Declare all while the definitions stay below a share of the window, else only `builtin.*`.

    Use it when you do not know the catalogs: a few tools are declared, a marketplace is searched. A
    changed mode is a changed prefix: the session flips back only when the definitions are a tenth
    below the threshold, so that a catalog at the border flips once. Each flip gives the notice
    `mode_changed` (`docs/semantics.md` section 12). Where nothing can be searched, all is declared.

    Args:
        percent: Share of the window, above 0 and up to 100.
        window: The model's context window in tokens; by default the one that the host tells, else 200,000.

    Raises:
        InputError: A number is out of range.
    """

    percent: float = 10
    window: int | None = None
    spec: ClassVar[str] = "auto"

    def __post_init__(self) -> None:
        checks.number("auto", "percent", self.percent, 0, 100)
        if not self.percent:
            raise InputError(f"auto: percent must be above 0, not {self.percent!r}.")
        if self.window is not None:
            checks.whole("auto", "window", self.window)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        known, cost = toolset(told), costs(told, host.tokens)
        small = known.matching(("builtin.*",))
        searching = SEARCH in host.declared_before
        window = self.window or host.window or WINDOW
        limit = window * self.percent / 100 * (1 - HYSTERESIS if searching else 1)
        tokens = cost.of(known.names) - (cost[SEARCH] if SEARCH in known.by_name else 0)
        search_now = tokens > limit and SEARCH in known.by_name and len(small) + 1 < len(known.names)
        flipped = host.turn_no > 1 and search_now != searching
        notices = ("mode_changed",) if flipped else ()
        return Selection(small, known.names, notices) if search_now else Selection(known.names, (), notices)
