"""The MCP servers of a host's file: listed once, or kept running beside a host (K2).

Both need the official SDK, the extra `mcp`; it is loaded when it is first needed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from toolkit.errors import UnknownNameError, need
from toolkit.hosts.changes import Change, Listener, Mailbox, feeding
from toolkit.hosts.config import HostConfig, ServerConfig
from toolkit.hosts.mcp_reports import OFF, CallAnswer, ServerReport, ServersListing, listing_of
from toolkit.hosts.secrets import discreet_logs, redactor
from toolkit.tool import Tool

if TYPE_CHECKING:
    from toolkit.hosts.mcp_link import Link

RETRY_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
Progress = Callable[[ServerReport], None]

__all__ = [
    "CallAnswer",
    "Change",
    "Mailbox",
    "McpServers",
    "ServerReport",
    "ServersListing",
    "feeding",
    "list_tools",
]


def list_tools(config: HostConfig, progress: Progress = lambda report: None) -> ServersListing:
    """Start every enabled server at once, ask for all pages of its tools, end it, and return what came of each.

    A server that fails is reported and the others go on. An interruption ends every server first.

    Args:
        config: What `read_config` returned.
        progress: Told of each server as soon as it is done.

    Raises:
        MissingExtraError: The official SDK is not installed.
    """
    need("mcp")
    with discreet_logs(redactor(*config.servers)):
        reports = _run(config.enabled, progress)
    off = {server.name: ServerReport(server.name, OFF) for server in config.servers if not server.enabled}
    return listing_of(tuple((off | reports)[server.name] for server in config.servers))


def _run(servers: Sequence[ServerConfig], progress: Progress) -> dict[str, ServerReport]:
    """List the servers in an event loop of our own, in a thread where one already runs (a notebook)."""
    import anyio
    from anyio.from_thread import start_blocking_portal

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return anyio.run(_list_all, servers, progress)
    with start_blocking_portal() as portal:
        return portal.call(_list_all, servers, progress)


async def _list_all(servers: Sequence[ServerConfig], progress: Progress) -> dict[str, ServerReport]:
    import anyio

    from toolkit.hosts.mcp_link import list_once

    reports: dict[str, ServerReport] = {}

    async def one(server: ServerConfig) -> None:
        reports[server.name] = await list_once(server)
        progress(reports[server.name])

    async with anyio.create_task_group() as group:
        for server in servers:
            group.start_soon(one, server)
    return reports


class McpServers:
    """The enabled servers, running for as long as this context is open.

    Entering waits until each server is up or has failed; a failed one is reported, tried again
    after each of the waits, and the others go on. Leaving ends them all, also after an interruption.

    Args:
        config: What `read_config` returned.
        listener: Told of every change, in order, in the thread of the event loop: `feeding(host)`
            for a host that lives there, a `Mailbox` for one that lives elsewhere. It must not raise.
        retry_after: Seconds to wait before each new start of a server that has gone.

    Raises:
        MissingExtraError: The official SDK is not installed.

    Example:
        async with McpServers(read_config("host.toml"), feeding(host)) as servers:
            turn = host.start_turn("close issue 7")
            verdict = turn.start_pass().call("mcp.github.close_issue", {"number": 7})
            answer = await servers.call("github", "close_issue", {"number": 7})
    """

    def __init__(
        self,
        config: HostConfig,
        listener: Listener = lambda change: None,
        *,
        retry_after: Sequence[float] = RETRY_SECONDS,
    ) -> None:
        need("mcp")
        self.config = config
        self._listener, self._retry_after = listener, retry_after
        self._links: dict[str, Link] = {}

    async def __aenter__(self) -> McpServers:
        import anyio

        self._logs, self._group = discreet_logs(redactor(*self.config.servers)), anyio.create_task_group()
        self._logs.__enter__()
        await self._group.__aenter__()
        try:
            await self._start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def _start(self) -> None:
        from toolkit.hosts.mcp_link import Link

        self._links = {one.name: Link(one, self._listener, self._retry_after) for one in self.config.enabled}
        for link in self._links.values():
            self._group.start_soon(link.run)
        for link in self._links.values():
            await link.settled.wait()

    async def __aexit__(self, *error: object) -> None:
        try:
            self._group.cancel_scope.cancel()
            await self._group.__aexit__(None, None, None)
        finally:
            self._logs.__exit__(None, None, None)

    @property
    def reports(self) -> tuple[ServerReport, ...]:
        """What is known of each server now, in the order of the file."""
        known = {name: link.report for name, link in self._links.items()}
        return tuple(known.get(one.name, ServerReport(one.name, OFF)) for one in self.config.servers)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools of the servers that are up, in canonical order (B5)."""
        return listing_of(self.reports).tools

    async def call(self, server: str, tool: str, arguments: Mapping[str, Any] | None = None) -> CallAnswer:
        """Call a tool by its server's own name for it; an answer always comes, within the server's time-out.

        Raises:
            UnknownNameError: No server of that name is enabled.
        """
        if server not in self._links:
            raise UnknownNameError("MCP server", server, self._links)
        return await self._links[server].call(tool, None if arguments is None else dict(arguments))
