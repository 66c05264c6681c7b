"""Which of the listed tools get into the catalog of a turn: names that are unique, legal and free (V5–V7)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolkit.tool import CORE_NAMES, CORE_WIRE_NAMES, Catalog, Tool, wire_name
from toolkit.toolset import ToolSet


@dataclass(frozen=True, slots=True)
class Admitted:
    """The tools of a turn's catalog, and why others were left out of it."""

    tools: ToolSet
    problems: frozenset[str] = frozenset()


def listed(catalog: Catalog) -> tuple[Tool, ...]:
    """Return everything that servers, extensions and the host list, several of one name too."""
    return (*catalog.tools, *catalog.dropped)


def relisted(catalog: Catalog, source: str, tools: Iterable[Tool]) -> Catalog:
    """Return a listing with another list of tools for one source."""
    return Catalog((*(tool for tool in listed(catalog) if tool.source != source), *tools))


@lru_cache(maxsize=256)
def listed_keys(catalog: Catalog) -> frozenset[tuple[str, str]]:
    """Return (name, source) of every listed tool."""
    return frozenset((tool.name, tool.source) for tool in listed(catalog))


@lru_cache(maxsize=256)
def at_start(catalog: Catalog) -> Admitted:
    """Return the catalog of a first turn, with every server up and no name held yet."""
    return admit(listed(catalog), {})


def admit(tools: Iterable[Tool], held: Mapping[str, Tool]) -> Admitted:
    """Return what gets into the catalog of a turn.

    Args:
        tools: What is listed and alive, in order.
        held: Name → tool that held it at the last boundary (V7).
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
    return Admitted(ToolSet(chosen.values()), frozenset(problems))


def _name_problem(tool: Tool) -> str | None:
    if not tool.name:
        return "invalid_name"
    if tool.name in CORE_WIRE_NAMES or (tool.name in CORE_NAMES and tool.source != "core"):
        return f"reserved_name:{tool.name}"
    return None


def _claim(tool: Tool, held: Mapping[str, Tool]) -> tuple[bool, bool, bool, str]:
    source, holder = tool.source, held.get(tool.name)
    return (holder is None or holder.source != source, source != "core", source != "builtin", source)


def _named_like_a_wire_name(chosen: Mapping[str, Tool]) -> list[str]:
    taken = {wire for name in chosen if (wire := wire_name(name)) != name}
    return [name for name in chosen if name in taken]


def by_wire(tools: ToolSet) -> dict[str, str]:
    """Return wire name → full name (V6)."""
    return {wire_name(name): name for name in tools.names}


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
