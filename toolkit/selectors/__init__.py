"""Selectors: each splits, once a turn, what a model is told into declared and searchable."""

from toolkit.selectors.combined import combine, parts, ready
from toolkit.selectors.registry import SELECTORS, known_selectors, label, resolve, selector

__all__ = ["combine", "known_selectors", "label", "parts", "ready", "resolve", "selector"]

SELECTORS.built_in.update(
    {
        "all": "toolkit.selectors.everything:Everything",
        "auto": "toolkit.selectors.auto:Auto",
        "budget": "toolkit.selectors.budget:Budget",
        "builtin-only": "toolkit.selectors.builtin_only:BuiltinOnly",
        "deferred": "toolkit.selectors.deferred:Deferred",
        "expected_cost": "toolkit.selectors.expected_cost:ExpectedCost",
        "frequent": "toolkit.selectors.frequent:Frequent",
        "hybrid": "toolkit.selectors.nearest:hybrid",
        "lazy": "toolkit.selectors.lazy:Lazy",
        "lexical": "toolkit.selectors.nearest:lexical",
        "mmr": "toolkit.selectors.mmr:Mmr",
        "next_tool": "toolkit.selectors.next_tool:NextTool",
        "pinned": "toolkit.selectors.pinned:Pinned",
        "recent": "toolkit.selectors.recent:Recent",
        "semantic": "toolkit.selectors.nearest:semantic",
        "servers": "toolkit.selectors.servers:Servers",
        "sticky": "toolkit.selectors.sticky:Sticky",
        "threshold": "toolkit.selectors.threshold:Threshold",
    }
)
