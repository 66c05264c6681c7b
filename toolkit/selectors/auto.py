"""`auto(percent)`: everything declared while it is small against the window, searchable beyond, without flapping."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.engine import HostView, Selection
from toolkit.errors import InputError
from toolkit.tool import SEARCH, Tool, definition_text

HYSTERESIS = 0.1
"""Back to declaring everything only when the definitions are a tenth below the threshold."""


@dataclass(frozen=True, slots=True, repr=False)
class Auto:
    """Declare all while the definitions stay below a share of the window, else only `builtin.*`.

    A changed mode is a changed prefix: the session flips back only when the definitions are a tenth
    below the threshold, so that a catalog at the border flips once. Each flip gives the notice
    `mode_changed` (`semantics.md` section 12).

    Args:
        percent: Share of the window, above 0 and up to 100.
        window: The model's context window in tokens.

    Raises:
        InputError: A number is out of range.
    """

    percent: float = 10
    window: int = 200_000

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 100:
            raise InputError(f"auto: percent must be above 0 and at most 100, not {self.percent!r}.")
        if self.window < 1:
            raise InputError(f"auto: window must be at least 1 token, not {self.window!r}.")

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`semantics.md` S2)."""
        names = [tool.name for tool in visible]
        small = [name for name in names if name.startswith("builtin.")]
        searching = SEARCH in host.declared_before
        limit = self.window * self.percent / 100 * (1 - HYSTERESIS if searching else 1)
        tokens = sum(_tokens(tool, host) for tool in visible if tool.name != SEARCH)
        search_now = tokens > limit and len(small) < len(names)
        flipped = host.turn_no > 1 and search_now != searching
        notices = ("mode_changed",) if flipped else ()
        return Selection(small, names, notices) if search_now else Selection(names, (), notices)

    def __repr__(self) -> str:
        return f"auto(percent={self.percent:g}, window={self.window})"


def _tokens(tool: Tool, host: HostView) -> int:
    """Return a definition's tokens as the host counts them, else a quarter of its characters."""
    return host.tokens(tool.name) or len(definition_text(tool)) // 4
