"""What selectors look up in a told set, worked out once for each: the engine hands the same tuple again and again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, Generic, TypeVar

from toolkit.engine.patterns import NameIndex
from toolkit.tool import Tool, canonical_order, definition_text

T = TypeVar("T")
_KEPT = 32
_SAMPLED = 8


class Kept(Generic[T]):
    """Keeps what was made of objects, found again by their identity; the oldest go first. Safe in threads."""

    def __init__(self, make: Callable[..., T], size: int = _KEPT) -> None:
        self.make, self.size = make, size
        self._kept: OrderedDict[tuple[int, ...], tuple[tuple[Any, ...], T]] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, *objects: Any) -> T:
        key = tuple(map(id, objects))  # no other objects can have these while they are kept
        with self._lock:
            if key not in self._kept:
                self._kept[key] = (objects, self.make(*objects))
                if len(self._kept) > self.size:
                    self._kept.popitem(last=False)
            self._kept.move_to_end(key)
            return self._kept[key][1]

    def forget(self, *objects: Any) -> None:
        """Let what was made of objects go, to be made anew."""
        with self._lock:
            self._kept.pop(tuple(map(id, objects)), None)


class Told:
    """A told set in canonical order, whatever order it came in."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tuple(sorted(tools, key=canonical_order))
        self.by_name = {tool.name: tool for tool in self.tools}
        self.names = tuple(self.by_name)
        self._matching: dict[tuple[str, ...], tuple[str, ...]] = {}

    @cached_property
    def by_source(self) -> dict[str, tuple[str, ...]]:
        """Source → names; core tools left out."""
        found: dict[str, list[str]] = {}
        for tool in self.tools:
            if tool.source != "core":
                found.setdefault(tool.source, []).append(tool.name)
        return {source: tuple(names) for source, names in found.items()}

    @cached_property
    def _index(self) -> NameIndex:
        return NameIndex(self.names)

    def matching(self, patterns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that match a pattern (`docs/semantics.md` V4), sorted."""
        if patterns not in self._matching:
            found = {name for pattern in patterns for name in self._index.matching(pattern)}
            self._matching[patterns] = tuple(sorted(found))
        return self._matching[patterns]


class Costs(dict[str, int]):
    """Name → tokens that declaring a tool adds to a prompt, each counted once.

    Where nobody counts, a quarter of the definition's characters stands for its tokens.
    """

    def __init__(self, told: Told, tokens: Callable[[str], int]) -> None:
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

    def of(self, names: Sequence[str]) -> int:
        """Return the tokens of several tools."""
        return sum(map(self.__getitem__, names))


_told: Kept[Told] = Kept(Told)
_costs: Kept[Costs] = Kept(Costs)


def told(visible: Sequence[Tool]) -> Told:
    """Return what is worked out of a told set; kept for a tuple, which nobody can change."""
    return _told(visible) if isinstance(visible, tuple) else Told(visible)


def costs(visible: Sequence[Tool], tokens: Callable[[str], int]) -> Costs:
    """Return the tokens of a told set as a host counts them (`HostView.tokens`)."""
    if not isinstance(visible, tuple):
        return Costs(told(visible), tokens)
    found = _costs(told(visible), tokens)
    if found.stale:
        _costs.forget(found.told, tokens)
        found = _costs(found.told, tokens)
    return found
