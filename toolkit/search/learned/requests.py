"""Queries that ask for tools by name or by server, rather than by what they do."""

from __future__ import annotations

import re
from collections.abc import Iterable

from toolkit.search.terms.names import Names, squash
from toolkit.search.terms.texts import split_name
from toolkit.tool import Tool

_SELECT = re.compile(r"\s*select\s*:(.*)\Z", re.IGNORECASE | re.DOTALL)
_LISTING = re.compile(
    r"\s*(?:(?:list|show|give)(?: me)?\s+)?(?:all\s+)?(?:the\s+)?tools\s+(?:of|from|in|on|by)\s+"
    r"(?:the\s+)?(?:server\s+)?['\"`]?([^'\"`]+?)['\"`]?(?:\s+server)?\s*[.?!]*\s*\Z",
    re.IGNORECASE,
)


def selected(query: str, names: Names, among: Iterable[str]) -> list[str] | None:
    """Return the tools that `select:a,b` names, in that order; None when the query is another.

    >>> tools = [Tool("mcp.git.log"), Tool("mcp.git.push")]
    >>> selected("select: push, log", Names(tools), ["mcp.git.log", "mcp.git.push"])
    ['mcp.git.push', 'mcp.git.log']
    """
    match = _SELECT.match(query)
    if match is None:
        return None
    within = set(among)
    asked = [name for name in match.group(1).split(",") if name.strip()]
    return list(dict.fromkeys(found for name in asked for found in sorted(names.named(name, within))))


def listed(query: str, tools: Iterable[Tool]) -> list[str] | None:
    """Return all tools of the server that an inventory question names; None when it is no such question.

    >>> listed("list all tools of Git", [Tool("mcp.git.push"), Tool("mcp.git.log"), Tool("mcp.sea.tide")])
    ['mcp.git.log', 'mcp.git.push']
    """
    match = _LISTING.match(query)
    if match is None:
        return None
    asked = squash(match.group(1))
    found = sorted(tool.name for tool in tools if asked in (squash(split_name(tool)[0]), squash(tool.server or "")))
    return found or None
