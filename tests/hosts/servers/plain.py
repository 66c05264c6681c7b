"""A server by the SDK, over stdio; its tools add, wait, die and change the list. `--http` serves on a free port."""

import os
import socket
import sys

import anyio
import uvicorn
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

server = MCPServer("plain")


@server.tool(annotations=ToolAnnotations(read_only_hint=True), structured_output=False)
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(structured_output=False)
async def wait(seconds: float) -> str:
    """Answer late."""
    await anyio.sleep(seconds)
    return "awake"


@server.tool(structured_output=False)
def die() -> str:
    """End the server in mid-call."""
    os._exit(9)


@server.tool(structured_output=False)
def fail() -> str:
    """Fail, and quote the environment."""
    raise ToolError(f"the key is {os.environ.get('SECRET_KEY')}")


def extra() -> str:
    """A tool that came later."""
    return "late"


@server.tool(structured_output=False)
async def grow(ctx: Context) -> str:
    """Add a tool to the list and say so."""
    server.add_tool(extra, structured_output=False)
    await ctx.notify_tools_changed()
    return "grown"


async def over_http() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    app = server.streamable_http_app()
    await uvicorn.Server(uvicorn.Config(app, log_level="error")).serve(sockets=[listener])


if __name__ == "__main__":
    anyio.run(over_http) if "--http" in sys.argv else server.run()
