"""What each tool of a catalog costs on every pass that declares it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from toolkit.tokens.counter import Counter
from toolkit.tokens.counters import counter
from toolkit.tokens.request import total
from toolkit.tool import Catalog, Tool


@dataclass(frozen=True, slots=True)
class CatalogCost:
    """Tokens by tool, costliest first; `overhead` comes once with the first declared tool."""

    rows: tuple[dict[str, Any], ...]
    overhead: int
    total: int
    low: int
    high: int
    method: str
    counter: str


def costs(catalog: Catalog, model: str, provider: str = "", api: str = "") -> CatalogCost:
    """Count every definition of a catalog by a model's own rules."""
    found = counter(provider or None, api or None, model)
    counts = Counter(found)
    rows = [_row(tool, counts.definition(tool)) for tool in catalog]
    extra = found.tools_overhead(len(catalog), True)
    band = total([extra, *(found.definition(tool) for tool in list(catalog)[:1])])
    whole = counts.definitions(catalog) + extra.tokens
    spread = (band.low / max(band.tokens, 1), (band.high or band.tokens) / max(band.tokens, 1))
    return CatalogCost(
        tuple(sorted(rows, key=lambda row: (-row["tokens"], row["name"]))),
        extra.tokens,
        whole,
        max(0, round(whole * spread[0])),
        round(whole * spread[1]),
        band.method,
        found.name,
    )


def _row(tool: Tool, tokens: int) -> dict[str, Any]:
    return {"name": tool.name, "server": tool.server or tool.source, "tokens": tokens}


def by_server(found: CatalogCost) -> list[tuple[str, int, int, str]]:
    """Return (server, tools, tokens, share) rows, costliest first."""
    sums: dict[str, list[int]] = {}
    for row in found.rows:
        sums.setdefault(row["server"], []).append(row["tokens"])
    whole = max(1, sum(map(sum, sums.values())))
    ordered: Iterable[tuple[str, list[int]]] = sorted(sums.items(), key=lambda item: (-sum(item[1]), item[0]))
    return [(server, len(tokens), sum(tokens), f"{sum(tokens) / whole:.1%}") for server, tokens in ordered]
