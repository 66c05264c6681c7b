"""One configured server's life: started, listed, kept, and started again when it has gone."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence

import anyio
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, CallToolResult
from pydantic import ValidationError

from toolkit.errors import ToolkitError
from toolkit.hosts import mcp_reports as states
from toolkit.hosts.changes import Change, Listener
from toolkit.hosts.config import ServerConfig
from toolkit.hosts.mcp_failures import failure, first_cause
from toolkit.hosts.mcp_reports import CallAnswer, ServerReport
from toolkit.hosts.mcp_wire import Wire, all_tools
from toolkit.hosts.secrets import redactor
from toolkit.tool import Tool

_PROVEN_SECONDS = 60.0
Use = Callable[[Client, Wire, anyio.CancelScope], Awaitable[None]]


async def connect(server: ServerConfig, use: Use) -> ServerReport:
    """Start a server, use it, and always end it; return how it came to its end.

    `use` gets the connection and the scope of the start-up time-out, whose deadline it lifts when the server is up.
    """
    wire = Wire(server)
    caught: BaseException = MCPError(CONNECTION_CLOSED, "it ended")
    try:
        with anyio.CancelScope(deadline=anyio.current_time() + server.startup_timeout_sec) as limit:
            async with wire.open() as client:
                await use(client, wire, limit)
        if limit.cancelled_caught:
            caught = TimeoutError()
    except Exception as error:
        caught = first_cause(error)
    return failure(wire, caught)


async def list_once(server: ServerConfig) -> ServerReport:
    """Start a server, ask for all its tools, end it."""
    found: list[ServerReport] = []

    async def use(client: Client, wire: Wire, limit: anyio.CancelScope) -> None:
        found.append(ServerReport(server.name, states.OK, *await all_tools(client, wire)))

    report = await connect(server, use)
    return found[0] if found else report


class Link:
    """A server that is kept: it tells a listener of its tools, its end and its return.

    Attributes:
        server: Its configuration.
        report: What is known of it now.
        settled: Set when its first start has succeeded or failed.
    """

    def __init__(self, server: ServerConfig, tell: Listener, retry_after: Sequence[float]) -> None:
        self.server, self.settled = server, anyio.Event()
        self.report = ServerReport(server.name, states.ENDED, error="it has not been started yet.")
        self._tell, self._retry_after = tell, tuple(retry_after)
        self._client: Client | None = None
        self._wire: Wire | None = None
        self._redact = redactor(server)
        self._told_down = False

    async def run(self) -> None:
        """Keep the server up until cancelled; give up when it fails more often in a row than there are waits."""
        failures = 0
        while True:
            began = anyio.current_time()
            self._gone(await self._lifetime())
            failures = 0 if anyio.current_time() - began > _PROVEN_SECONDS else failures
            if self.report.state == states.NOT_FOUND or failures == len(self._retry_after):
                return
            await anyio.sleep(self._retry_after[failures])
            failures += 1

    async def _lifetime(self) -> ServerReport:
        try:
            return await connect(self.server, self._serve)
        finally:
            self._client = None
            self.settled.set()

    async def _serve(self, client: Client, wire: Wire, limit: anyio.CancelScope) -> None:
        """List the tools, and list them again whenever they change, until the server's side closes."""
        self._wire = wire
        self._up(client, *await all_tools(client, wire))
        limit.deadline = math.inf
        async with anyio.create_task_group() as group:
            group.start_soon(wire.listen, client)
            while not wire.ended:
                await wire.news()
                if not wire.ended:
                    await self._list_again(client, wire)
            group.cancel_scope.cancel()

    async def _list_again(self, client: Client, wire: Wire) -> None:
        """Ask for the changed list; a server that gives none, or not in time, keeps the one it had."""
        with anyio.move_on_after(self.server.startup_timeout_sec):
            try:
                self._listed(*await all_tools(client, wire))
            except (MCPError, ToolkitError, ValidationError) as error:
                if _is_lost(error):
                    raise

    def _up(self, client: Client, tools: tuple[Tool, ...], said: str) -> None:
        self._client = client
        self._listed(tools, said)
        if self._told_down:
            self._told_down = False
            self._tell(Change(self.server.name, "up"))
        self.settled.set()

    def _listed(self, tools: tuple[Tool, ...], said: str) -> None:
        if self.report.state != states.OK or tools != self.report.tools:
            self.report = ServerReport(self.server.name, states.OK, tools, said)
            self._tell(Change(self.server.name, "tools", tools))

    def _gone(self, report: ServerReport) -> None:
        """Note that the server is down, and tell it once (B4)."""
        self._client = None
        self.report = ServerReport(report.name, report.state, self.report.tools, report.error)
        if not self._told_down:
            self._told_down = True
            self._tell(Change(self.server.name, "down", error=report.error))

    async def call(self, tool: str, arguments: dict[str, object] | None) -> CallAnswer:
        """Call a tool by the server's own name for it; whatever happens, an answer comes in time."""
        client, name, seconds = self._client, self.server.name, self.server.tool_timeout_sec
        if client is None:
            return CallAnswer("unavailable", f"the MCP server {name!r} is down: {self.report.error}")
        try:
            with anyio.fail_after(seconds):
                return _answer(await client.call_tool(tool, arguments))
        except TimeoutError:
            return CallAnswer("timed_out", f"{tool!r} of {name!r} gave no answer within {seconds:g} s.")
        except Exception as error:
            return self._refused(first_cause(error))

    def _refused(self, error: BaseException) -> CallAnswer:
        """Return the answer of a call that brought an error; a closed connection takes the server down at once."""
        if not _is_lost(error):
            return CallAnswer("error", self._redact(str(error) or type(error).__name__))
        text = "it ended while a call was running."
        if self._client is not None:
            self._gone(ServerReport(self.server.name, states.ENDED, error=text))
        if self._wire is not None:
            self._wire.end()
        return CallAnswer("unavailable", f"the MCP server {self.server.name!r} is down: {text}")


def _is_lost(error: BaseException) -> bool:
    """Tell whether an error means that the connection, or the server's memory of it, is gone."""
    return isinstance(error, MCPError) and (error.code == CONNECTION_CLOSED or str(error) == "Session terminated")


def _answer(result: CallToolResult) -> CallAnswer:
    content = tuple(part.model_dump(mode="json", by_alias=True, exclude_none=True) for part in result.content)
    text = "\n".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
    return CallAnswer("error" if result.is_error else "ok", text, content, result.structured_content)
