"""The conformance kit: for selectors, retrievers, and other hosts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from toolkit.testing.format_rules import check_format
    from toolkit.testing.retriever_rules import check_retriever
    from toolkit.testing.selector_rules import check_selector

__all__ = ["check_format", "check_retriever", "check_selector"]
_KITS = {
    "check_format": "format_rules",
    "check_retriever": "retriever_rules",
    "check_selector": "selector_rules",
}


def __getattr__(name: str) -> Any:
    if name in _KITS:
        return getattr(import_module(f"toolkit.testing.{_KITS[name]}"), name)
    raise AttributeError(f"module 'toolkit.testing' has no attribute {name!r}")
