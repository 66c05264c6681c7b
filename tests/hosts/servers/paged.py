"""A server by the SDK whose list has three pages, and schemas with their keys in an order of their own."""

import anyio
import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

SCHEMA = {"required": ["q"], "properties": {"q": {"type": "string", "description": "ü"}, "a": {}}, "type": "object"}


async def list_tools(ctx, params) -> types.ListToolsResult:
    page = int(params.cursor) if params and params.cursor else 0
    tools = [types.Tool(name=f"tool_{page}{i}", description=f"Page {page}.", input_schema=SCHEMA) for i in (2, 1)]
    return types.ListToolsResult(tools=tools, next_cursor=str(page + 1) if page < 2 else None)


async def main() -> None:
    server = Server("paged", on_list_tools=list_tools)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


anyio.run(main)
