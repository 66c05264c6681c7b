"""`builtin-only`: the host's own tools and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors.combined import Combining
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class BuiltinOnly(Combining):
    """Declare `builtin.*`, withhold the rest (`docs/semantics.md` S9). Shows what a session needs beyond them."""

    spec: ClassVar[str] = "builtin-only"
    static: ClassVar[bool] = True

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        return Selection(toolset(told).matching(("builtin.*",)))
