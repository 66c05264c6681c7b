"""`all`: every told tool stands in every prompt. The bound that other selectors are measured against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors.combined import Combining
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Everything(Combining):
    """Declare everything (`docs/semantics.md` S9). Use it when the catalog is small."""

    spec: ClassVar[str] = "all"
    static: ClassVar[bool] = True

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        return Selection(toolset(told).names)
