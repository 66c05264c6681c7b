"""`builtin-only`: the host's own tools and nothing else."""

from __future__ import annotations

from collections.abc import Sequence

from toolkit.engine import HostView, Selection
from toolkit.tool import Tool


def builtin_only(visible: Sequence[Tool], host: HostView) -> Selection:
    """Declare `builtin.*`, withhold the rest (`semantics.md` S9). Shows what a session needs beyond them."""
    return Selection([tool.name for tool in visible if tool.name.startswith("builtin.")])


builtin_only.static = True  # type: ignore[attr-defined]
