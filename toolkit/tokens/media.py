"""What a prompt holds besides text and functions: media, tools that the provider runs, history nobody can read."""

from __future__ import annotations

import json
import math

from toolkit.tokens.request import Count, Definition, Part

MEDIA = {"openai": (765, 85, 2500), "anthropic": (1600, 50, 4800), "google": (258, 258, 2600)}
"""Tokens of one picture or page: usual, least, most; by the vendors' published formulas, the size being unknown."""

HOSTED = {
    "web_search": (294, 150, 9000),
    "web_search_preview": (294, 150, 9000),
    "tool_search": (381, 0, 800),
    "image_generation": (342, 200, 3000),
    "apply_patch": (623, 300, 1200),
    "custom": (107, 20, 2000),
}
"""Tokens of the definition of a tool that the provider runs: usual, least, most (`token-accounting.md` 1.1)."""


def banded(tokens: int, spread: float, method: str, least: int = 1) -> Count:
    """Return a count with a band of `spread` as a share on each side, at least `least` tokens where there are any.

    >>> banded(100, 0.05, "calibrated")
    Count(tokens=100, method='calibrated', low=95, high=105)
    """
    half = max(least if tokens else 0, math.ceil(tokens * spread - 1e-9))
    return Count(tokens, method, max(0, tokens - half), tokens + half)


def media(part: Part, provider: str) -> Count:
    """Return an estimate for a picture, page or sound: never for its base64 text."""
    tokens, low, high = MEDIA.get(provider, MEDIA["openai"])
    return Count(tokens, "estimate", low, high)


def hosted_tool(tool: Definition, provider: str) -> Count:
    """Return an estimate for a tool that the provider runs itself."""
    tokens, low, high = HOSTED.get(tool.kind, (300, 0, 9000))
    return Count(tokens, "estimate", low, high)


def opaque(part: Part) -> Count:
    """Return an estimate for a replayed item that is billed but encrypted: reasoning, signatures, hosted calls."""
    size = len(json.dumps(part.raw, default=str)) if part.raw else 0
    return Count(size // 8, "estimate", 0, size // 2)
