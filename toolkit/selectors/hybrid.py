"""`hybrid(k)`: the k tools nearest to the turn's input in meaning and words are declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import nearest
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True, repr=False)
class Hybrid(Combining):
    """Declare the k tools that the hybrid retriever ranks first.

    Use it before `semantic` and `lexical`: it finds more than either. Without an encoder installed
    it ranks as `lexical` does.

    Args:
        k: How many tools to declare, at least 1.

    Raises:
        InputError: k is no whole number of at least 1.
    """

    k: int = 8
    spec: ClassVar[str] = "hybrid"

    def __post_init__(self) -> None:
        checks.whole("hybrid", "k", self.k)

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`semantics.md` S2)."""
        return nearest(visible, host, self.k, "hybrid")
