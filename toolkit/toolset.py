"""`ToolSet`: the one value for "these tools", and the one place where what is worked out of them is kept."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache, reduce
from itertools import chain
from operator import xor
from typing import Any, Concatenate, ParamSpec, TypeVar, overload

from toolkit.patterns import NameIndex
from toolkit.tool import Tool, canonical_order, content_digest

P = ParamSpec("P")
T = TypeVar("T")
_DERIVED = 48


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ToolSet(Sequence[Tool]):
    """Tools with unique names in canonical order (`docs/semantics.md` B5); equal ones are equal in any order.

    Of several tools with one name the first stays. Hashing is cheap, and so is a part of a set; `toolset` gives
    the same object for equal sets, so that what hangs on it (`derived`) is found again.

    >>> found = ToolSet([Tool("mcp.git.log"), Tool("builtin.read"), Tool("tools.search")])
    >>> found.names, found.matching(("mcp.*",)), len(found.without({"builtin.read"}))
    (('tools.search', 'builtin.read', 'mcp.git.log'), ('mcp.git.log',), 2)
    """

    tools: tuple[Tool, ...]

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        named: dict[str, Tool] = {}
        for tool in tools:
            named.setdefault(tool.name, tool)
        self.__dict__["tools"] = tuple(sorted(named.values(), key=canonical_order))

    @cached_property
    def by_name(self) -> dict[str, Tool]:
        """Name → tool, in canonical order."""
        return {tool.name: tool for tool in self.tools}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names in canonical order."""
        return tuple(self.by_name)

    @cached_property
    def name_set(self) -> frozenset[str]:
        """The names as a set."""
        return frozenset(self.by_name)

    @cached_property
    def by_source(self) -> dict[str, tuple[str, ...]]:
        """Source → names; core tools left out."""
        found: dict[str, list[str]] = {}
        for tool in self.tools:
            if tool.source != "core":
                found.setdefault(tool.source, []).append(tool.name)
        return {source: tuple(names) for source, names in found.items()}

    @cached_property
    def place(self) -> dict[str, int]:
        """Name → place in canonical order, from 0."""
        return {tool.name: place for place, tool in enumerate(self.tools)}

    @cached_property
    def name_index(self) -> NameIndex:
        """The names, ready to be matched with patterns (V4)."""
        return NameIndex(self.by_name)

    @cached_property
    def digest(self) -> str:
        """A digest of every tool's content, the same in every process."""
        return content_digest(self.tools)

    def matching(self, patterns: tuple[str, ...]) -> tuple[str, ...]:
        """Return the names that match a pattern (V4), sorted."""
        return self.derived(_matching, patterns)

    def subset(self, names: Iterable[str]) -> ToolSet:
        """Return the tools of these names; unknown ones are passed over."""
        kept = sorted({self.place[name] for name in names if name in self.place})
        return self if len(kept) == len(self.tools) else _part(map(self.tools.__getitem__, kept))

    def without(self, names: Collection[str]) -> ToolSet:
        """Return the tools but those of these names: cut out where they are few."""
        if not names:
            return self
        if 4 * len(names) > len(self.tools):
            return _part([tool for tool in self.tools if tool.name not in names])
        cut = sorted([self.place[name] for name in names if name in self.place])
        starts = [0, *(at + 1 for at in cut)]
        part = _part(chain.from_iterable(map(self.tools.__getitem__, map(slice, starts, [*cut, len(self.tools)]))))
        part.__dict__["_hash"] = reduce(xor, [hash(self.tools[at]) for at in cut], self._hash)
        return part

    def __or__(self, others: Iterable[Tool]) -> ToolSet:
        """Return the tools of both; of one name its own stays."""
        both = ToolSet(chain(self.tools, others))
        if isinstance(others, ToolSet) and len(both) == len(self) + len(others):
            both.__dict__["_hash"] = self._hash ^ others._hash
        return both

    def derived(self, make: Callable[Concatenate[ToolSet, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Return what `make` gives of this set and the arguments, which can be hashed; worked out once.

        What was asked for longest ago goes first. Safe in threads, two of which may work out the same.
        """
        key = (make, args, *kwargs.items())
        store = self._derived
        found = store.pop(key, store)
        if found is store:
            found = make(self, *args, **kwargs)
            while len(store) >= _DERIVED:
                store.pop(next(iter(list(store)), None), None)
        store[key] = found
        kept: T = found
        return kept

    @cached_property
    def _derived(self) -> dict[Any, Any]:
        return {}

    @cached_property
    def _hash(self) -> int:
        return reduce(xor, map(hash, self.tools), 0)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        return isinstance(other, ToolSet) and self._hash == other._hash and self.tools == other.tools

    @overload
    def __getitem__(self, at: int) -> Tool: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Tool, ...]: ...
    def __getitem__(self, at: int | slice) -> Tool | tuple[Tool, ...]:
        return self.tools[at]

    def __iter__(self) -> Iterator[Tool]:
        return iter(self.tools)

    def __len__(self) -> int:
        return len(self.tools)

    def __reduce__(self) -> tuple[Any, ...]:
        """Leave out what was worked out: a hash of text is another in another process."""
        return (toolset, (self.tools,))

    def __repr__(self) -> str:
        return f"ToolSet({len(self)} tools)"


def toolset(tools: Iterable[Tool]) -> ToolSet:
    """Return tools as a set: the same object for equal tools in the same order, as long as it is in use."""
    return tools if isinstance(tools, ToolSet) else _shared(tuple(tools))


@lru_cache(maxsize=128)
def _shared(tools: tuple[Tool, ...]) -> ToolSet:
    return ToolSet(tools)


def _part(tools: Iterable[Tool]) -> ToolSet:
    """Return a set of tools that are unique and in canonical order already."""
    part = object.__new__(ToolSet)
    part.__dict__["tools"] = tuple(tools)
    return part


def _matching(tools: ToolSet, patterns: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted({name for pattern in patterns for name in tools.name_index.matching(pattern)}))
