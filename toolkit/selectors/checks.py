"""What options a selector's spec may hold, said in one way by all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from toolkit.errors import InputError
from toolkit.search.shared import searcher


def whole(selector: str, option: str, value: Any, least: int = 1) -> None:
    """Refuse what is no whole number of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise InputError(f"{selector}: {option} must be a whole number of at least {least}, not {value!r}.")


def number(selector: str, option: str, value: Any, least: float = 0, most: float = math.inf) -> None:
    """Refuse what is no finite number from `least` to `most`."""
    fits = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not fits or not least <= value <= most:
        limits = f"from {least:g} to {most:g}" if math.isfinite(most) else f"of at least {least:g}"
        raise InputError(f"{selector}: {option} must be a number {limits}, not {value!r}.")


def patterns(selector: str, value: Any) -> tuple[str, ...]:
    """Return one pattern or several as a tuple, or refuse what is none."""
    several = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, Iterable) else ()
    if not several or not all(isinstance(one, str) for one in several):
        hint = "Like this: 'mcp.git.*', or ['builtin.*', 'mcp.git.*']."
        raise InputError(f"{selector}: a pattern or a list of them was expected, not {value!r}.", hint=hint)
    return several


def retriever(selector: str, value: Any) -> None:
    """Refuse what is no retriever's spec; None is the host's own."""
    if not isinstance(value, str | None):
        raise InputError(f"{selector}: retriever must be a spec such as 'lexical', not {value!r}.")
    if value is not None:
        searcher(value)
