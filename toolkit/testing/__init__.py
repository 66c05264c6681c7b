"""The conformance kit: for selectors, retrievers, and other hosts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolkit.testing.selector_rules import check_selector

__all__ = ["check_selector"]


def __getattr__(name: str) -> Any:
    if name == "check_selector":
        return import_module("toolkit.testing.selector_rules").check_selector
    raise AttributeError(f"module 'toolkit.testing' has no attribute {name!r}")
