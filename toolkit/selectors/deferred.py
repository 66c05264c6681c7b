"""`deferred`: what a host does without a selector. It is no selector call: S1 costs no round trip."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.engine.offer import default_selection
from toolkit.selectors.combined import Combining
from toolkit.tool import Tool


@dataclass(frozen=True, slots=True, repr=False)
class Deferred(Combining):
    """Leave searchable what its server flags `deferred`, declare the rest (`docs/semantics.md` S1).

    Use it when you know which servers are large and seldom needed. Alone it is no selector at all;
    combined with others it is a part like any.
    """

    spec: ClassVar[str] = "deferred"
    static: ClassVar[bool] = True
    is_default: ClassVar[bool] = True

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        return default_selection(told)
