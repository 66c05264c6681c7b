"""`semantic(k)`: the k tools nearest in meaning to the turn's input are declared, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec

from toolkit.engine import HostView, Selection
from toolkit.errors import InputError, MissingExtra
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True, repr=False)
class Semantic:
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

    def __post_init__(self) -> None:
        if isinstance(self.k, bool) or not isinstance(self.k, int) or self.k < 1:
            raise InputError(f"semantic: k must be a whole number of at least 1, not {self.k!r}.")
        if find_spec("sentence_transformers") is None:
            raise MissingExtra("sentence-transformers, which semantic(k) ranks with,", "embed")

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`semantics.md` S2)."""
        return Selection(host.rank(latest_words(host), self.k, "dense"), [tool.name for tool in visible])

    def __repr__(self) -> str:
        return f"semantic(k={self.k})"


def latest_words(host: HostView) -> str:
    """Return the newest input of the session that has words, this turn's first."""
    inputs = (host.turn_input, *(turn.input for turn in reversed(host.earlier)))
    return next((words for words in inputs if words.strip()), "")
