"""`lazy`: the host's own tools stand in every prompt, all others are found by search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors.combined import Combining
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Lazy(Combining):
    """Declare `builtin.*`, leave the rest searchable (`docs/semantics.md` S9).

    Use it when most turns need only the host's own tools.
    """

    spec: ClassVar[str] = "lazy"
    static: ClassVar[bool] = True

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        own = toolset(told).matching(("builtin.*",))
        mine = set(own)
        return Selection(own, [name for name in toolset(told).names if name not in mine])
