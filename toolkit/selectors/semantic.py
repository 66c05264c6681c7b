"""`semantic(k)`: the k tools nearest in meaning to the turn's input are declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.errors import MissingExtra
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import nearest
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True, repr=False)
class Semantic(Combining):
    """Declare the k tools whose text is nearest to the input, by sentence embeddings.

    Use it when inputs name what they want. A turn without words is ranked by the last input that
    had some; a session without any leaves everything searchable.

    Args:
        k: How many tools to declare, at least 1.

    Raises:
        InputError: k is no whole number of at least 1.
        MissingExtra: sentence-transformers is not installed.
    """

    k: int = 8
    spec: ClassVar[str] = "semantic"

    def __post_init__(self) -> None:
        checks.whole("semantic", "k", self.k)
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("sentence-transformers, which semantic(k) ranks with,", "embed")

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`semantics.md` S2)."""
        return nearest(visible, host, self.k, "dense")
