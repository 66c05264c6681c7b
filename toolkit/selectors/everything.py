"""`all`: every told tool stands in every prompt. The bound that other selectors are measured against."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.engine import HostView, Selection
from toolkit.tool import Tool


def declare_all(visible: Sequence[Tool], host: HostView) -> Selection:
    """Declare everything (`semantics.md` S9). Use it when the catalog is small."""
    return Selection([tool.name for tool in visible])


declare_all.static = True  # type: ignore[attr-defined]
