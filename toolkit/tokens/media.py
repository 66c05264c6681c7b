"""What a prompt holds besides text and functions: tools of the provider's own, and what nobody can count.

A request is not countable where its bill is no function of it: a tool runs within the pass, part of the prompt lies on
the server or is encrypted, the provider samples several times, or sources are cited.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.tokens.request import Count, Definition, Part, Request, at_least

PROMPT = {
    "web_search": (294, 150),
    "web_search_preview": (294, 150),
    "image_generation": (342, 200),
    "tool_search": (381, 100),
}
"""The definition of a hosted tool, where it was seen: usual, least tokens; what comes back costs more."""

CLIENT = {
    "apply_patch": (623, 300, 1200),
    "shell": (300, 0, 1500),
    "local_shell": (300, 0, 1500),
    "computer_use_preview": (300, 0, 1500),
    "computer": (300, 0, 1500),
    "namespace": (24, 4, 60),
    "custom": (60, 10, 400),
}
"""Types of tools that the client runs: usual, least, most tokens of their definition."""

HISTORY = ("previous_response_id", "prompt", "conversation", "cachedContent", "cached_content", "container")
"""Keys of a request that put something before it which lies on the server."""


def banded(tokens: int, spread: float, method: str, least: int = 1) -> Count:
    """Return a count with a band of `spread` as a share on each side, at least `least` tokens where there are any.

    >>> banded(100, 0.05, "calibrated")
    Count(tokens=100, method='calibrated', low=95, high=105)
    """
    half = max(least if tokens else 0, math.ceil(tokens * spread - 1e-9))
    return Count(tokens, method, max(0, tokens - half), tokens + half)


def hosted_tool(tool: Definition) -> Count:
    """Return an estimate for a type of tool that the client runs, a lower bound for one that the provider runs."""
    if tool.kind in CLIENT:
        tokens, low, high = CLIENT[tool.kind]
        return Count(tokens, "estimate", low, high)
    tokens, low = PROMPT.get(tool.kind, (0, 0))
    return Count(tokens, "not countable", low, None)


def runs_in_pass(tool: Definition) -> bool:
    """Return whether the provider runs the tool itself, or might: a type that nobody knows is one."""
    client = tool.kind.startswith(("bash_", "text_editor_", "computer_", "memory_")) or tool.kind in CLIENT
    mine = tool.kind == "tool_search" and (tool.raw or {}).get("execution") == "client"
    return tool.kind != "function" and not client and not mine


def uncountable(request: Request) -> Iterator[tuple[str, str]]:
    """Yield why the bill is not a function of the request: the reason, a key of `check.EXCLUSIONS`, and the thing."""
    raw = request.raw or {}
    yield from (("server history", one) for one in HISTORY if raw.get(one))
    yield from (("opaque history", one) for one in request.opaque if one.startswith("opaque:"))
    yield from (("hosted tool", tool.kind) for tool in request.tools if runs_in_pass(tool))
    yield from (("hosted tool", key) for key in ("web_search_options", "mcp_servers") if raw.get(key) is not None)
    if _map(raw.get("reasoning")).get("mode") == "pro":
        yield "several passes", "reasoning.mode"
    if any(cited(part) for message in request.messages for part in message.parts):
        yield "citations", "citations"


def unbounded(request: Request) -> Count:
    """Return nothing where a request can be counted, else a lower bound of nothing."""
    return at_least(0) if any(True for _ in uncountable(request)) else Count(0, "exact-rules", 0, 0)


def cited(part: Part) -> list[Mapping[str, Any]]:
    """Return the documents and search results of a piece, or within a tool's result, that have citations turned on."""
    raw = part.raw or {}
    inner = raw.get("content")
    pieces = [raw, *(inner if isinstance(inner, list) else ())]
    return [one for one in pieces if isinstance(one, Mapping) and _map(one.get("citations")).get("enabled") is True]


def _map(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
