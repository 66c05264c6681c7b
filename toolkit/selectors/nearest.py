"""`semantic(k)`, `lexical(k)`, `hybrid(k)`: the k tools nearest to the turn's input are declared, the rest searchable.

`hybrid` finds more than the other two; without an encoder installed it ranks as `lexical` does. `lexical` is for where
no model may run: it takes well under a millisecond, and finds less where inputs paraphrase. `semantic` ranks by
sentence embeddings alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from toolkit import specs
from toolkit.engine import HostView, Selection
from toolkit.errors import need
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import latest_words
from toolkit.tool import Tool
from toolkit.toolset import toolset

RETRIEVERS = {"semantic": "dense", "lexical": "lexical", "hybrid": "hybrid"}


@dataclass(frozen=True, slots=True, repr=False)
class Nearest(Combining):
    """Declare the k tools that a retriever ranks first; fewer when fewer match.

    Use it when inputs name what they want. A turn without words is ranked by the last input that
    had some; a session without any leaves everything searchable.

    Args:
        spec: `semantic`, `lexical` or `hybrid`.
        k: How many tools to declare, at least 1.

    Raises:
        InputError: k is no whole number of at least 1.
        MissingExtraError: `semantic` without sentence-transformers installed.
    """

    spec: str  # type: ignore[misc]
    k: int = 8

    def __post_init__(self) -> None:
        checks.whole(self.spec, "k", self.k)
        if self.spec == "semantic":
            need("sentence_transformers", "sentence-transformers, which semantic(k) ranks with,")

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        return Selection(host.rank(latest_words(host), self.k, RETRIEVERS[self.spec]), toolset(told).names)

    def __repr__(self) -> str:
        return specs.format(self.spec, {"k": self.k})


semantic, lexical, hybrid = (partial(Nearest, spec) for spec in RETRIEVERS)
