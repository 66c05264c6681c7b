"""Any value as JSON can hold it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

_DEEPEST = 100
"""Levels of a value that are kept as they are; readers of JSON give up at some hundreds."""
_LARGEST = 10**300
"""Whole numbers of so many digits are written as text; readers of JSON give up at some thousands."""
_NAMES = {math.inf: "Infinity", -math.inf: "-Infinity"}


def plain(value: Any, above: tuple[int, ...] = ()) -> Any:
    """Return any value as JSON can hold it: what it cannot is the text that it is shown as.

    >>> plain({1: (b"x", float("nan"))})
    {'1': ["b'x'", 'NaN']}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.encode(value, "utf-8", "replace").decode()
    if isinstance(value, Mapping | list | tuple) and len(above) < _DEEPEST and id(value) not in above:
        above = (*above, id(value))
        if isinstance(value, Mapping):
            return {
                plain(key if isinstance(key, str) else _shown(key)): plain(item, above) for key, item in value.items()
            }
        return [plain(item, above) for item in value]
    return _number(value) if isinstance(value, Real) else plain(_shown(value))


def _as_key(key: Any) -> str:
    return key if isinstance(key, str) else _shown(key)


def _number(value: Real) -> int | float | str:
    if isinstance(value, Integral):
        whole = int(value)
        return whole if abs(whole) < _LARGEST else _shown(whole)
    number = float(value)
    return number if math.isfinite(number) else _NAMES.get(number, "NaN")


def _shown(value: Any) -> str:
    """Return a value as text; one that fails at it, or is too deep for it, is named by its type."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"


def is_finite(value: Any) -> bool:
    """Say whether a value that was read has only numbers that JSON has."""
    if isinstance(value, dict | list):
        return all(map(is_finite, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, float) or math.isfinite(value)
