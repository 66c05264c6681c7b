"""Definitions from a catalog for sessions that were recorded without them, joined by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from toolkit.session import Session
from toolkit.tool import Catalog, Tool

_PREFIXES = ("functions.", "builtin.", "mcp.", "mcp__")


def spellings(name: str) -> tuple[str, ...]:
    """Return how a tool may be written once the host's prefix is off: with dots, and with underscores.

    >>> spellings("mcp__git__log"), spellings("functions.git_log")
    (('git.log', 'git_log'), ('git_log', 'git_log'))
    """
    for prefix in _PREFIXES:
        name = name.removeprefix(prefix)
    dotted = name.replace("__", ".").replace("/", ".")
    return dotted, dotted.replace(".", "_")


def join(sessions: Iterable[Session], tools: Iterable[Tool]) -> tuple[list[Session], Catalog]:
    """Return the sessions with the definitions that a catalog has for them, and the tools that no session has by name.

    Only sessions whose `definitions` are `missing` are touched. They become `joined` where every tool has a schema
    then; one with tools that the catalog does not know stays `missing`. Names stay as the session has them, and so does
    what was deferred. A tool's last part is enough where no other tool of the catalog ends so.
    """
    tools = tuple(tools)
    index = _Index(tools)
    made = [_joined(session, index) if session.definitions == "missing" else session for session in sessions]
    return made, Catalog(tool for tool in tools if tool.name not in index.used)


class _Index:
    """The tools of a catalog by each of their spellings."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.whole: dict[str, Tool] = {}
        leaves: dict[str, list[Tool]] = {}
        for tool in tools:
            for spelling in spellings(tool.name):
                self.whole.setdefault(spelling, tool)
            leaves.setdefault(tool.leaf, []).append(tool)
        self.leaves = {leaf: ones[0] for leaf, ones in leaves.items() if len(ones) == 1}
        self.used: set[str] = set()

    def find(self, name: str) -> Tool | None:
        """Return the tool that a name means, or None."""
        dotted, flat = spellings(name)
        found = self.whole.get(dotted) or self.whole.get(flat) or self.leaves.get(dotted)
        if found is not None:
            self.used.add(found.name)
        return found


def _joined(session: Session, index: _Index) -> Session:
    tools = tuple(_defined(session.catalog, index))
    whole = bool(tools) and all(tool.schema_text for tool in tools)
    return replace(session, catalog=Catalog(tools), definitions="joined" if whole else "missing")


def _defined(catalog: Catalog, index: _Index) -> Iterator[Tool]:
    for tool in catalog:
        found = None if tool.schema_text else index.find(tool.name)
        yield tool if found is None else found.renamed(tool.name).sourced(tool.source).flagged(tool.deferred)
