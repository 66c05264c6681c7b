"""`deferred`: what a host does without a selector. It is no selector call: S1 costs no round trip."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.engine import HostView, Selection
from toolkit.engine.offer import default_selection
from toolkit.tool import Tool


def deferred(visible: Sequence[Tool], host: HostView) -> Selection:
    """Leave searchable what its server flags `deferred`, declare the rest (`semantics.md` S1).

    Use it when you know which servers are large and seldom needed.
    """
    return default_selection(visible)


deferred.static = True  # type: ignore[attr-defined]
deferred.is_default = True  # type: ignore[attr-defined]
