"""The offer: how a selector's two lists become what a turn declares and leaves searchable (`semantics.md` S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
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
        return tuple(tool for tool in self.told if self.get(tool.name) is None and tool.name != SEARCH)

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
    declared, searchable = set(selection.declared), set(selection.searchable)
    unknown = sorted((declared | searchable) - names)
    notices = (*selection.notices, *(notice("selector_unknown_name", name) for name in unknown))
    declared = declared & names - {SEARCH}
    searchable = searchable & names - declared - {SEARCH}
    return _settled(told, names, _those(told, declared), _those(told, searchable), notices)


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


def _those(told: tuple[Tool, ...], names: set[str]) -> tuple[Tool, ...]:
    """Return the told tools of these names, in canonical order as they are told (B5)."""
    return tuple([tool for tool in told if tool.name in names]) if names else ()
