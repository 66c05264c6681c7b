"""Which of the listed tools get into the catalog of a turn: names that are unique, legal and free (V5–V7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from typing import Any

from toolkit.engine.patterns import NameIndex
from toolkit.tool import CORE_NAMES, CORE_WIRE_NAMES, Tool, canonical_order, wire_name

Key = tuple[str, str]


class Listing:
    """Everything that servers, extensions and the host list now, in their order; shared between sessions."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.tools = tuple(tools)

    @cached_property
    def keys(self) -> frozenset[Key]:
        """(name, source) of every listed tool."""
        return frozenset((tool.name, tool.source) for tool in self.tools)

    @cached_property
    def roster(self) -> Roster:
        """The catalog with every server up and no name held yet: what a session starts with."""
        return admit(self.tools, {})

    def replacing(self, source: str, tools: Iterable[Tool]) -> Listing:
        """Return the listing with another list of tools for one source."""
        return Listing((*(tool for tool in self.tools if tool.source != source), *tools))


class Roster:
    """The catalog of a turn: unique names in canonical order, and why the others were left out."""

    def __init__(self, tools: Iterable[Tool], problems: frozenset[str]) -> None:
        self.tools = tuple(sorted(tools, key=canonical_order))
        self.by_name = {tool.name: tool for tool in self.tools}
        self.problems = problems

    @cached_property
    def index(self) -> NameIndex:
        return NameIndex(self.by_name)

    @cached_property
    def sources(self) -> dict[str, str]:
        """Name → source that holds it (V7)."""
        return {tool.name: tool.source for tool in self.tools}

    @cached_property
    def by_wire(self) -> dict[str, str]:
        """Wire name → full name (V6)."""
        return {wire_name(name): name for name in self.by_name}


def admit(tools: Iterable[Tool], held: Mapping[str, str]) -> Roster:
    """Return the roster of a listing.

    Args:
        tools: What is listed and alive, in order.
        held: Name → source that held it at the last boundary (V7).
    """
    problems: set[str] = set()
    chosen: dict[str, Tool] = {}
    for tool in tools:
        problem = _name_problem(tool)
        if problem:
            problems.add(problem)
        elif tool.name not in chosen:
            chosen[tool.name] = tool
        else:
            problems.add(f"duplicate_name:{tool.name}")
            chosen[tool.name] = min(chosen[tool.name], tool, key=lambda one: _claim(one, held))
    for name in _named_like_a_wire_name(chosen):
        problems.add(f"duplicate_name:{name}")
        del chosen[name]
    return Roster(chosen.values(), frozenset(problems))


def _name_problem(tool: Tool) -> str | None:
    if not tool.name:
        return "invalid_name"
    if tool.name in CORE_WIRE_NAMES or (tool.name in CORE_NAMES and tool.source != "core"):
        return f"reserved_name:{tool.name}"
    return None


def _claim(tool: Tool, held: Mapping[str, str]) -> tuple[bool, bool, bool, str]:
    source = tool.source
    return (held.get(tool.name) != source, source != "core", source != "builtin", source)


def _named_like_a_wire_name(chosen: Mapping[str, Tool]) -> list[str]:
    taken = {wire for name in chosen if (wire := wire_name(name)) != name}
    return [name for name in chosen if name in taken]


def same_definition(one: Tool, other: Tool) -> bool:
    """Say whether two definitions are equal as JSON values (B6)."""
    if (one.name, one.description) != (other.name, other.description):
        return False
    return one.schema_text == other.schema_text or _canonical(one.schema_text) == _canonical(other.schema_text)


@lru_cache(maxsize=4096)
def _canonical(text: str) -> str:
    try:
        return json.dumps(_numbers_alike(json.loads(text or "null")), sort_keys=True)
    except (ValueError, RecursionError):
        return text


def _numbers_alike(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_numbers_alike(item) for item in value]
    if isinstance(value, dict):
        return {key: _numbers_alike(item) for key, item in value.items()}
    return value
