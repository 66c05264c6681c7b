"""`servers(k)`: the k servers nearest to the turn's input are declared whole, the rest is searchable."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Combining
from toolkit.selectors.ranked import ranking
from toolkit.tool import Tool
from toolkit.toolset import toolset


@dataclass(frozen=True, slots=True, repr=False)
class Servers(Combining):
    """Declare all tools of the k sources whose best tool ranks first for the input.

    Use it when the tools of a server work together, as those of a browser or a database do, and when
    the declared set should seldom change: turns on one matter keep one server. The host's own tools
    (`builtin`) and those of an extension count as a server each.

    Args:
        k: How many servers to declare, at least 1.
        retriever: What ranks the tools; the host's own retriever by default.

    Raises:
        InputError: k is no whole number of at least 1.
        UnknownNameError: No retriever of that name is registered.
    """

    k: int = 2
    retriever: str | None = None
    spec: ClassVar[str] = "servers"

    def __post_init__(self) -> None:
        checks.whole("servers", "k", self.k)
        checks.retriever("servers", self.retriever)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        known = toolset(told)
        near: dict[str, None] = {}
        for name, _ in ranking(told, host, self.retriever):
            source = known.by_name[name].source
            if source in known.by_source:
                near[source] = None
            if len(near) == self.k:
                break
        return Selection([name for source in near for name in known.by_source[source]], known.names)
