"""The offer: how a selector's two lists become what a turn declares and leaves searchable (`docs/semantics.md` S)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

from toolkit.engine.ports import Selection
from toolkit.tool import SEARCH, Tool, definition_text
from toolkit.toolset import ToolSet


@dataclass(frozen=True, eq=False)
class Offer:
    """Two disjoint sets, in canonical order (B5), out of what was told."""

    declared: ToolSet = ToolSet()
    searchable: ToolSet = ToolSet()
    told: ToolSet = ToolSet()

    @cached_property
    def withheld(self) -> ToolSet:
        """What was told but is on neither list; `tools.search` never is (S3, S5)."""
        return self.told.without({SEARCH, *self.declared.by_name, *self.searchable.by_name})

    @cached_property
    def definitions(self) -> str:
        """The declared bytes: one definition a line, the same for the same set (B5)."""
        return "\n".join(map(definition_text, self.declared))

    def get(self, name: str) -> Tool | None:
        """Return the offered tool of a name."""
        return self.declared.by_name.get(name) or self.searchable.by_name.get(name)


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


Made = tuple[Offer, tuple[str, ...]]
"""An offer, and the notices that it caused."""


def make_offer(told: ToolSet, selection: Selection) -> Made:
    """Return the offer that a selection gives over the told tools, and the notices it caused.

    Unknown names are dropped (S3), a tool on both lists is declared (S3), `tools.search` is declared
    exactly when something is searchable, and nothing is stranded when it may not be told (S5).
    """
    names, declared, searchable = told.name_set, frozenset(selection.declared), _as_set(tuple(selection.searchable))
    unknown = sorted((declared - names) | (searchable - names))
    offer, caused = told.derived(_offer, declared & names - {SEARCH}, searchable)
    return offer, (*selection.notices, *(notice("selector_unknown_name", name) for name in unknown), *caused)


@lru_cache(maxsize=256)
def _as_set(names: tuple[str, ...]) -> frozenset[str]:
    """Return names as a set: most selectors leave the same ones searchable again and again."""
    return frozenset(names)


def default_offer(told: ToolSet) -> Made:
    """Return the offer of a host without a selector: what is flagged deferred is searchable (S1)."""
    selection = default_selection(told)
    return told.derived(_offer, frozenset(selection.declared) - {SEARCH}, frozenset(selection.searchable))


def _offer(told: ToolSet, declared: frozenset[str], searchable: frozenset[str]) -> Made:
    """Declare `tools.search` exactly when something is searchable; strand nothing where it may not be told (S5)."""
    rest = told.without((told.name_set - searchable) | declared | {SEARCH})
    if not rest:
        return Offer(told.subset(declared), rest, told), ()
    if SEARCH not in told.by_name:
        return Offer(told.subset(declared | rest.name_set), ToolSet(), told), ("search_unavailable",)
    return Offer(told.subset(declared | {SEARCH}), rest, told), ()


def rankable(told: ToolSet) -> ToolSet:
    """Return what can be ranked of the told tools: all but `tools.search`."""
    return told.without({SEARCH})
