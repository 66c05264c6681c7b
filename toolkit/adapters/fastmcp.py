"""FastMCP 4.x: a transform that lists what the selector declares, and finds the rest with the toolkit's own search.

    server.add_transform(ToolSelection("lazy"))

A FastMCP server sees no turns: the split is made over the tools alone, whenever they are listed, and what is only
searchable or withheld stays callable by its name (FastMCP's own rule). What scope, policy or a hide takes away does
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from toolkit.errors import need

need("fastmcp", "FastMCP")
from fastmcp.server.context import Context
from fastmcp.server.transforms.search.base import BaseSearchTransform
from fastmcp.tools.base import Tool as Served

from toolkit.adapters.conversation import OWN_NAMES, Now, Selecting
from toolkit.engine.visibility import policy_verdict
from toolkit.host import CALL_TOOL, SEARCH_TOOL
from toolkit.search.shared import searcher
from toolkit.tool import Tool, wire_name
from toolkit.toolset import ToolSet


class ToolSelection(BaseSearchTransform):
    """Lists and searches in front of a FastMCP server's tools.

    Args:
        selector: See `Selecting`, whose options these are.
        limit: Matches of a search.
        options: The same as of `Selecting`.
    """

    def __init__(self, selector: Any = None, *, limit: int = 5, **options: Any) -> None:
        names = {"search_tool_name": wire_name(SEARCH_TOOL.name), "call_tool_name": CALL_TOOL.name}
        super().__init__(max_results=limit, **names)
        self.selecting, self.limit = Selecting(selector, **options), limit
        self._searcher = searcher(options.get("retriever"))

    async def transform_tools(self, tools: Sequence[Served]) -> Sequence[Served]:
        """Return the declared tools, in canonical order, and the search where anything is to be found."""
        now, by_name = self._now(tools), {tool.name: tool for tool in tools}
        declared = [by_name[tool.name] for tool in now.declared if tool.name in by_name]
        return [self._make_search_tool(), self._make_call_tool(), *declared] if now.searches else declared

    async def get_tool(self, name: str, call_next: Any, **more: Any) -> Served | None:
        """Return the tool of a name, unless scope, policy or a hide takes it away or a person must be asked (V3)."""
        found = await super().get_tool(name, call_next, **more)
        if found is None or name in OWN_NAMES:
            return found
        full, turn = self.selecting.full_name(name), self._now([found]).turn
        asks = policy_verdict(turn.host.state.policy, full) == "ask"  # a server has nobody whom to ask
        return found if full in turn.told.by_name and not asks else None

    def _make_search_tool(self) -> Served:
        async def tools_search(
            query: Annotated[str, SEARCH_TOOL.input_schema["properties"]["query"]["description"]],
            ctx: Context = None,
        ) -> Any:
            found = await self._search(await self.get_tool_catalog(ctx), query)
            return await self._render_results(found)

        name = wire_name(SEARCH_TOOL.name)
        return Served.from_function(fn=tools_search, name=name, description=SEARCH_TOOL.description)

    async def _search(self, tools: Sequence[Served], query: str) -> Sequence[Served]:
        """Return the best of the searchable tools; a blank query finds nothing."""
        now, by_name = self._now(tools), {tool.name: tool for tool in tools}
        if not query.strip():
            return []
        answer = self._searcher(query, now.turn.offer.searchable, ToolSet(), self.limit)
        return [by_name[now.named(name)] for name in answer.names]

    def _now(self, tools: Sequence[Served]) -> Now:
        return self.selecting.now([_tool(one) for one in tools if one.name not in OWN_NAMES], [])


def _tool(one: Served) -> Tool:
    """Return a tool as a client is told it."""
    return Tool(one.name, one.description or "", one.parameters)
