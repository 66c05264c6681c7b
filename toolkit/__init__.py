"""The research toolkit for tool selectors of LLM agents.

Importing this face needs the core alone and loads neither pandas, matplotlib, torch nor tiktoken.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolkit.engine import Offer, Selection
from toolkit.errors import need
from toolkit.host import Host
from toolkit.selectors.registry import selector
from toolkit.session import Session
from toolkit.tool import Catalog, Tool

if TYPE_CHECKING:
    from toolkit.experiment.comparison.grid import grid
    from toolkit.experiment.comparison.study import compare
    from toolkit.formats.catalogs.load import load_catalog
    from toolkit.formats.sessions import load_sessions
    from toolkit.replaying import replay

__version__ = "0.1.0"
__all__ = [
    "Catalog",
    "Host",
    "Offer",
    "Selection",
    "Session",
    "Tool",
    "compare",
    "grid",
    "load_catalog",
    "load_sessions",
    "replay",
    "selector",
]

_LATER = {
    "compare": "toolkit.experiment.comparison.study",
    "grid": "toolkit.experiment.comparison.grid",
    "load_catalog": "toolkit.formats.catalogs.load",
    "load_sessions": "toolkit.formats.sessions",
    "replay": "toolkit.replaying",
}


def __getattr__(name: str) -> Any:
    if name in ("compare", "grid"):
        need("pandas")
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module 'toolkit' has no attribute {name!r}")
