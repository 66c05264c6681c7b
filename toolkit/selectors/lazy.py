"""`lazy`: the host's own tools stand in every prompt, all others are found by search."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.engine import HostView, Selection
from toolkit.tool import Tool


def lazy(visible: Sequence[Tool], host: HostView) -> Selection:
    """Declare `builtin.*`, leave the rest searchable (`semantics.md` S9).

    Use it when most turns need only the host's own tools.
    """
    names = [tool.name for tool in visible]
    return Selection([n for n in names if n.startswith("builtin.")], [n for n in names if not n.startswith("builtin.")])


lazy.static = True  # type: ignore[attr-defined]
