"""What definitions cost, for selectors that weigh it: each counted once for a told set, a few again at each turn."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice

from toolkit.tool import Tool, definition_text
from toolkit.toolset import ToolSet, toolset

_SAMPLED = 8


class Costs(dict[str, int]):
    """Name → tokens that declaring a tool adds to a prompt, each counted once.

    Where nobody counts, a quarter of the definition's characters stands for its tokens.
    """

    def __init__(self, told: ToolSet, tokens: Callable[[str], int]) -> None:
        self.told, self.tokens = told, tokens

    def __missing__(self, name: str) -> int:
        self[name] = counted = self.count(name)
        return counted

    def count(self, name: str) -> int:
        """Return what the host counts now."""
        tool = self.told.by_name.get(name)
        return self.tokens(name) or (len(definition_text(tool)) // 4 if tool is not None else 0)

    @property
    def stale(self) -> bool:
        """True when the host counts a few of the tools otherwise than before: by another model, perhaps."""
        return any(self.count(name) != counted for name, counted in list(islice(self.items(), _SAMPLED)))

    def of(self, names: Iterable[str]) -> int:
        """Return the tokens of several tools."""
        return sum(map(self.__getitem__, names))


def costs(told: Sequence[Tool], tokens: Callable[[str], int]) -> Costs:
    """Return the tokens of a told set as a host counts them (`HostView.tokens`)."""
    found = toolset(told).derived(Costs, tokens)
    if found.stale:
        found.clear()
    return found
