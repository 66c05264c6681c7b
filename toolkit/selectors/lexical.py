"""`lexical(k)`: the k tools that share most words with the turn's input are declared, the rest is searchable."""

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
class Lexical(Combining):
    """Declare the k tools that fielded BM25 ranks first; fewer when fewer match.

    Use it where no model may run: it needs none, and takes well under a millisecond. Inputs that
    paraphrase find less than with `semantic` or `hybrid`.

    Args:
        k: How many tools to declare, at least 1.

    Raises:
        InputError: k is no whole number of at least 1.
    """

    k: int = 8
    spec: ClassVar[str] = "lexical"

    def __post_init__(self) -> None:
        checks.whole("lexical", "k", self.k)

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`semantics.md` S2)."""
        return nearest(visible, host, self.k, "lexical")
