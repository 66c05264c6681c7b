"""Small catalogs for conformance vectors. Each has the same parts under other names, sources and orders.

No word stands in two tools of a world, its servers' names aside, so that every sane lexical ranker
agrees on what a query of such words finds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]

ANY: Row = {"type": "object", "properties": {}}
NEED: Row = {"type": "object", "properties": {"bay": {"type": "integer"}}, "required": ["bay"]}
DEER: Row = {"required": ["bay"], "properties": {"bay": {"type": "integer"}}, "type": "object"}
QUAY: Row = {"type": "object", "properties": {"quay": {"type": "string"}}, "required": ["quay"]}
FULL: Row = {
    "type": "object",
    "properties": {
        "bay": {"type": "integer", "minimum": 1, "maximum": 9},
        "mode": {"enum": ["slow", "fast"]},
        "tags": {"type": "array", "items": {"type": "string"}, "minItems": 1},
    },
    "additionalProperties": False,
}
SCHEMAS: Mapping[str, Any] = {"any": ANY, "need": NEED, "deen": DEER, "quay": QUAY, "full": FULL, "none": None}


@dataclass(frozen=True, slots=True)
class World:
    """A catalog by parts: R and W are builtin, A and B a server's deferred tools, C and D another's, E an extension's.

    Attributes:
        tools: Part → (name, source, deferred, description).
        words: More words that recipes use: servers S and T, extensions X and Y, patterns, queries.
        order: The order in which the parts are listed.
    """

    name: str
    tools: Mapping[str, tuple[str, str, bool, str]]
    words: Mapping[str, str]
    order: str

    @property
    def vocabulary(self) -> dict[str, str]:
        """What `$word` stands for in a recipe."""
        names = {part: row[0] for part, row in self.tools.items()}
        twisted = {f"{part}U": name.swapcase() for part, name in names.items()}
        short = {f"{part}N": name[:-1] for part, name in names.items()}
        return {**names, **twisted, **short, **self.words}

    def rows(self) -> dict[str, Row]:
        """Return the rows of the catalog by part, in listed order."""
        return {part: row(*self.tools[part]) for part in self.order}


def row(name: str, source: str, deferred: bool = False, description: str = "", schema: Any = ANY) -> Row:
    """Return a tool as the events hold it."""
    return {
        "name": name,
        "description": description,
        "input_schema": schema,
        "source": source,
        "deferred": deferred,
        "annotations": {},
    }


WORLDS = (
    World(
        "harbor",
        {
            "R": ("builtin.peek", "builtin", False, "Opens drawers."),
            "W": ("builtin.stamp", "builtin", False, "Inks paper."),
            "A": ("mcp.harbor.anchor", "mcp:harbor", True, "Drops iron."),
            "B": ("mcp.harbor.buoy", "mcp:harbor", True, "Marks shallows."),
            "C": ("mcp.orchard.prune", "mcp:orchard", False, "Cuts branches."),
            "D": ("mcp.orchard.graft", "mcp:orchard", True, "Joins twigs."),
            "E": ("ext.notes.jot", "extension:notes", False, "Scribbles."),
        },
        {"S": "harbor", "T": "orchard", "X": "notes", "Y": "panel", "SP": "mcp.harbor.*", "TP": "mcp.orchard.*",
         "BP": "builtin.*", "qa": "anchor", "qb": "buoy", "qc": "prune", "qd": "graft", "qr": "peek",
         "da": "iron", "db": "shallows"},
        "RWABCDE",
    ),
    World(
        "odd",
        {
            "R": ("builtin.k9/Fetch", "builtin", False, "Throws sticks."),
            "W": ("builtin.Zinc-tub", "builtin", False, "Rinses laundry."),
            "A": ("mcp.q.7.haul/rope", "mcp:q.7", True, "Tightens knots."),
            "B": ("mcp.q.7.Winch", "mcp:q.7", True, "Raises cargo."),
            "C": ("mcp.über.größe", "mcp:über", False, "Measures cloth."),
            "D": ("mcp.über.stoff", "mcp:über", True, "Dyes linen."),
            "E": ("ext.lamp.dim", "extension:lamp", False, "Darkens rooms."),
        },
        {"S": "q.7", "T": "über", "X": "lamp", "Y": "a b", "SP": "mcp.q.7.*", "TP": "mcp.über.*",
         "BP": "builtin.*", "qa": "haul rope", "qb": "winch", "qc": "größe", "qd": "stoff", "qr": "k9 fetch",
         "da": "knots", "db": "cargo"},
        "EDCBAWR",
    ),
    World(
        "flat",
        {
            "R": ("builtin.sift", "builtin", False, "Removes pebbles."),
            "W": ("builtin.glue", "builtin", False, "Bonds wood."),
            "A": ("quay_dredge", "mcp:quay", True, "Scoops mud."),
            "B": ("quay_moor", "mcp:quay", True, "Ties ferries."),
            "C": ("vine:trim", "mcp:vine", False, "Shortens shoots."),
            "D": ("vine:press", "mcp:vine", True, "Squeezes grapes."),
            "E": ("clip", "extension:clips", False, "Fastens sheets."),
        },
        {"S": "quay", "T": "vine", "X": "clips", "Y": "Clips", "SP": "quay_*", "TP": "vine:*",
         "BP": "builtin.*", "qa": "dredge", "qb": "moor", "qc": "trim", "qd": "press", "qr": "sift",
         "da": "mud", "db": "ferries"},
        "BRDAEWC",
    ),
)  # fmt: skip
