"""The two ways of asking a retriever: through `tools.search`, which is what hosts and replays get, and alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from toolkit.host import SEARCH_TOOL
from toolkit.search import RetrieverFactory, ToolSearch
from toolkit.tool import Tool
from toolkit.toolset import toolset

Ask = Callable[[str], tuple[Sequence[str], Sequence[float]]]
"""A query → the names of the best tools, best first, and their chances where those are told."""


def searching(factory: RetrieverFactory, tools: Sequence[Tool], depth: int) -> Ask:
    """Ask `tools.search` over the tools, as a host does that declares nothing else."""
    search, among, declared = ToolSearch(factory), toolset(tools), toolset((SEARCH_TOOL,))
    search.prepare(among | declared)

    def ask(query: str) -> tuple[Sequence[str], Sequence[float]]:
        answer = search(query, among, declared, depth)
        return answer.names, [score for _, score in answer.hits] if answer.calibrated else ()

    return ask


def alone(factory: RetrieverFactory, tools: Sequence[Tool], depth: int) -> Ask:
    """Ask the retriever itself."""
    index = factory(tools)

    def ask(query: str) -> tuple[Sequence[str], Sequence[float]]:
        ranking = index.rank(query, k=depth)
        return ranking.names, ranking.chances

    return ask
