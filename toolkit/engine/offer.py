"""The offer: how a selector's two lists become what a turn declares and leaves searchable (`docs/semantics.md` S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from toolkit.engine.ports import Selection
from toolkit.tool import SEARCH, Tool, canonical_order, definition_text


@dataclass(frozen=True, eq=False)
class Offer:
    """Two disjoint lists in canonical order (B5), out of what was told."""

    declared: tuple[Tool, ...] = ()
    searchable: tuple[Tool, ...] = ()
    told: tuple[Tool, ...] = ()

    @cached_property
    def declared_by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.declared}

    @cached_property
    def searchable_by_name(self) -> dict[str, Tool]:
        return {tool.name: tool for tool in self.searchable}

    @cached_property
    def withheld(self) -> tuple[Tool, ...]:
        """What was told but is on neither list; `tools.search` never is (S3, S5)."""
        if len(self.declared) + len(self.searchable) >= len(self.told):
            return ()
        offered = {SEARCH, *self.declared_by_name, *self.searchable_by_name}
        return tuple([tool for tool in self.told if tool.name not in offered])

    @cached_property
    def definitions(self) -> str:
        """The declared bytes: one definition a line, the same for the same set (B5)."""
        return "\n".join(map(definition_text, self.declared))

    def get(self, name: str) -> Tool | None:
        return self.declared_by_name.get(name) or self.searchable_by_name.get(name)


def notice(code: str, subject: str = "") -> str:
    """Return a notice as `code:subject`, or the code alone when the subject is empty (section 12)."""
    return f"{code}:{subject}" if subject else code


def default_selection(told: Iterable[Tool]) -> Selection:
    """Return the split without a selector: what is flagged deferred is searchable (S1)."""
    told = tuple(told)
    return Selection([t.name for t in told if not t.deferred], [t.name for t in told if t.deferred])


def as_selection(value: Any) -> Selection:
    """Return what a selector returned as two lists of names.

    Raises:
        TypeError: It is not two lists of names (S7); the message says what it is.
    """
    declared, searchable = _two_parts(value)
    notices = value.notices if isinstance(value, Selection) else ()
    for part in (declared, searchable, notices):
        if not isinstance(part, list | tuple):
            raise TypeError(f"a list of names was expected, a {type(part).__name__} came")
        if not set(map(type, part)) <= {str}:
            wrong = next((item for item in part if not isinstance(item, str)), None)
            if wrong is not None:
                raise TypeError(f"names must be text, a {type(wrong).__name__} came")
    return Selection(tuple(declared), tuple(searchable), tuple(notices))


def _two_parts(value: Any) -> tuple[Any, Any]:
    if isinstance(value, Selection):
        return value.declared, value.searchable
    if isinstance(value, Mapping) and "declared" in value and "searchable" in value:
        return value["declared"], value["searchable"]
    if isinstance(value, tuple | list) and len(value) == 2:
        return value[0], value[1]
    raise TypeError(f"two lists, declared and searchable, were expected, a {type(value).__name__} came")


def make_offer(told: tuple[Tool, ...], names: frozenset[str], selection: Selection) -> tuple[Offer, tuple[str, ...]]:
    """Return the offer that a selection gives over the told tools, and the notices it caused.

    Unknown names are dropped (S3), a tool on both lists is declared (S3), `tools.search` is declared
    exactly when something is searchable, and nothing is stranded when it may not be told (S5).
    """
    declared, searchable = frozenset(selection.declared), _as_set(tuple(selection.searchable))
    unknown = sorted((declared - names) | (searchable - names))
    offer, caused = _split(told).offer(declared & names - {SEARCH}, searchable)
    return offer, (*selection.notices, *(notice("selector_unknown_name", name) for name in unknown), *caused)


@lru_cache(maxsize=256)
def _as_set(names: tuple[str, ...]) -> frozenset[str]:
    """Return names as a set: most selectors leave the same ones searchable again and again."""
    return frozenset(names)


def default_offer(told: tuple[Tool, ...], names: frozenset[str]) -> tuple[Offer, tuple[str, ...]]:
    """Return the offer of a host without a selector: what is flagged deferred is searchable (S1)."""
    searchable = tuple([tool for tool in told if tool.deferred and tool.name != SEARCH])
    declared = tuple([tool for tool in told if not tool.deferred and tool.name != SEARCH])
    return _settled(told, names, declared, searchable, ())


def _settled(
    told: tuple[Tool, ...],
    names: frozenset[str],
    declared: tuple[Tool, ...],
    searchable: tuple[Tool, ...],
    notices: tuple[str, ...],
) -> tuple[Offer, tuple[str, ...]]:
    """Declare `tools.search` exactly when something is searchable; strand nothing where it may not be told (S5)."""
    if not searchable:
        return Offer(declared, (), told), notices
    if SEARCH not in names:
        return Offer(tuple(sorted((*declared, *searchable), key=canonical_order)), (), told), (
            *notices,
            "search_unavailable",
        )
    search = next(tool for tool in told if tool.name == SEARCH)
    return Offer(tuple(sorted((search, *declared), key=canonical_order)), searchable, told), notices


class _Split:
    """A told tuple, and the offers lately made of it: a set declared again is the same offer, and costs nothing."""

    def __init__(self, told: tuple[Tool, ...]) -> None:
        self.told = told
        self.places = {tool.name: place for place, tool in enumerate(told)}
        self.names = frozenset(self.places)
        self.rankable = self.without({SEARCH})
        self.offer = lru_cache(maxsize=16)(self._offer)

    def _offer(self, declared: frozenset[str], searchable: frozenset[str]) -> tuple[Offer, tuple[str, ...]]:
        left = self.without((self.names - searchable) | declared | {SEARCH})
        return _settled(self.told, self.names, self.those(declared), left, ())

    def those(self, names: Iterable[str]) -> tuple[Tool, ...]:
        """Return the told tools of these names, in canonical order as they are told (B5)."""
        return tuple([self.told[place] for place in sorted(map(self.places.__getitem__, names))])

    def without(self, names: set[str] | frozenset[str]) -> tuple[Tool, ...]:
        """Return the told tools without these names, in the same order: cut out where they are few."""
        if 4 * len(names) > len(self.told):
            return tuple([tool for tool in self.told if tool.name not in names])
        places = sorted([self.places[name] for name in names if name in self.places])
        starts = [0, *(place + 1 for place in places)]
        return tuple(chain.from_iterable(map(self.told.__getitem__, map(slice, starts, [*places, len(self.told)]))))


class _Same:
    """A tuple that is equal to itself alone: comparing thousands of tools takes longer than what is kept for them."""

    __slots__ = ("told",)

    def __init__(self, told: tuple[Tool, ...]) -> None:
        self.told = told

    def __hash__(self) -> int:
        return id(self.told)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.told is other.told


@lru_cache(maxsize=32)
def _split_of(same: _Same) -> _Split:
    return _Split(same.told)


def _split(told: tuple[Tool, ...]) -> _Split:
    return _split_of(_Same(told))


def rankable(told: tuple[Tool, ...]) -> tuple[Tool, ...]:
    """Return what can be ranked of the told tools: all but `tools.search`; the same tuple for the same one."""
    return _split(told).rankable
