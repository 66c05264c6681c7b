"""`pinned(patterns)`: what you name stands in every prompt, all else is found by search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining, one_or_all
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Pinned(Combining):
    """Declare what matches a pattern (`docs/semantics.md` V4), leave the rest searchable.

    Use it when you know which tools nearly every turn needs, and as a part of others:
    `pinned('builtin.*') | hybrid(k=6)`. `lazy` is `pinned('builtin.*')`.

    Args:
        patterns: A glob pattern over whole names, or a list of them.

    Raises:
        InputError: It is no pattern and no list of them.
    """

    patterns: Any
    spec: ClassVar[str] = "pinned"
    static: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "patterns", checks.patterns("pinned", self.patterns))

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        known = toolset(told)
        return Selection(known.matching(self.patterns), known.names)

    def __repr__(self) -> str:
        return f"pinned({one_or_all(self.patterns)})"
