"""`toolkit serve`: one MCP server in front of the servers of a host's file.

It declares what the selector declares, offers `tools_search`, and calls through; policy, scope and hides are judged
at every call. An upstream server that is slow or dies costs its own tools alone.
"""

from __future__ import annotations

import itertools
from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

import anyio
import mcp_types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged

from toolkit import __version__
from toolkit.hosts.changes import Change
from toolkit.hosts.mcp_reports import CallAnswer, ServerReport
from toolkit.hosts.mcp_servers import McpServers
from toolkit.hosts.mcp_tools import strict_schema
from toolkit.serving.proxy_session import Log, ProxySession, ProxySettings, told
from toolkit.tool import SEARCH_NAMES, Tool

TURN_KEY, SESSION_KEY = "selector-toolkit/turn", "selector-toolkit/session"
"""What a client may say in `_meta`: the words of a turn that begins, and which session a request belongs to."""
STORM_SECONDS = 0.2
"""Changes of upstream lists within so many seconds are one `list_changed` to the clients."""
MOST_SESSIONS, IDLE_SECONDS, MOST_IN_FLIGHT = 10_000, 1800.0, 64
Ctx = Any


class _Client:
    """A session, the channel to its client, and the order in which its calls are judged."""

    def __init__(self, session: ProxySession) -> None:
        self.session, self.lock = session, anyio.Lock()
        self.in_flight = anyio.CapacityLimiter(MOST_IN_FLIGHT)
        self.channel: Any = None
        self.used = monotonic()


class Proxy:
    """The proxy's MCP server; `server` runs over any transport of the SDK while the upstream servers are open.

    Args:
        upstream: The servers, open or about to be.
        settings: What every session is decided by.
        log: Takes an event and its facts.
        record: A folder for session files, one a session.
    """

    def __init__(self, upstream: McpServers, settings: ProxySettings, log: Log, record: Path | None = None) -> None:
        self.upstream, self.settings, self.log, self.record = upstream, settings, log, record
        self.clients: OrderedDict[str, _Client] = OrderedDict()
        self._began, self._numbers = datetime.now(UTC).strftime("%Y%m%d-%H%M%S"), itertools.count(1)
        self._bus = InMemorySubscriptionBus()
        self._news = anyio.Event()
        self.server: Server[Any] = Server(
            "selector-toolkit",
            version=__version__,
            instructions="Tools that are not listed are found with tools_search and called with tools_call.",
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self._bus),
        )
        options = partial(self.server.create_initialization_options, NotificationOptions(tools_changed=True))
        self.server.create_initialization_options = options  # type: ignore[method-assign]

    def heard(self, change: Change) -> None:
        """Take what an upstream server says: every session hears it, clients are told soon."""
        for client in self.clients.values():
            client.session.apply(change)
        self._news.set()

    async def tell(self) -> None:
        """Tell clients that the list has changed, once for a storm of changes; runs until it is cancelled."""
        while True:
            await self._news.wait()
            await anyio.sleep(STORM_SECONDS)
            self._news = anyio.Event()
            await self._bus.publish(ToolsListChanged())
            for client in list(self.clients.values()):
                with suppress(Exception):
                    await client.channel.send_tool_list_changed()

    def close(self) -> None:
        """End every session and its recording."""
        while self.clients:
            self.clients.popitem()[1].session.end()

    async def _list(self, ctx: Ctx, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        client = self._client(ctx)
        async with client.lock:
            tools = await anyio.to_thread.run_sync(client.session.declared, _said(ctx, TURN_KEY))
        return types.ListToolsResult(tools=[as_listed(tool) for tool in tools])

    async def _call(self, ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
        client, words = self._client(ctx), _said(ctx, TURN_KEY)
        async with client.in_flight:
            async with client.lock:
                slow = params.name in SEARCH_NAMES or client.session.turn is None or words is not None
                ask = client.session.ask
                asked = (
                    await anyio.to_thread.run_sync(ask, params.name, params.arguments, words)
                    if slow
                    else ask(params.name, params.arguments)
                )
            verdict = asked.verdict
            if verdict.answer is not None or not verdict.executed:
                return _text(told(verdict), is_error=verdict.answer is None)
            answer = await self._through(verdict.tool, asked.arguments)
        asked.answered(answer.text, answer.code != "ok")
        return _result(answer)

    async def _through(self, tool: Tool | None, arguments: Any) -> CallAnswer:
        assert tool is not None
        if tool.server is None:
            return CallAnswer("error", f"{tool.name!r} is not a tool of a server.")
        return await self.upstream.call(tool.server, tool.leaf, arguments)

    def _client(self, ctx: Ctx) -> _Client:
        """Return the session of a request; a new one gets what the upstream servers list now."""
        key = _key(ctx)
        client = self.clients.get(key)
        if client is None:
            client = self.clients[key] = _Client(self._session(f"{self._began}-{next(self._numbers)}"))
        client.channel, client.used = ctx.session, monotonic()
        self.clients.move_to_end(key)
        self._forget()
        return client

    def _session(self, id: str) -> ProxySession:
        reports = self.upstream.reports
        down = [one.name for one in reports if _is_down(one)]
        file = None if self.record is None else str(self.record / f"{id}.json")
        tools = [tool for one in reports for tool in one.tools]
        return ProxySession(id, tools, down, self.settings, self.log, file)

    def _forget(self) -> None:
        """End the sessions that nobody has used for long, and the oldest where there are too many."""
        while self.clients:
            key, oldest = next(iter(self.clients.items()))
            if len(self.clients) <= MOST_SESSIONS and monotonic() - oldest.used < IDLE_SECONDS:
                return
            self.clients.pop(key).session.end()


def _is_down(report: ServerReport) -> bool:
    return report.state not in ("ok", "off")


def _key(ctx: Ctx) -> str:
    """Return which session a request belongs to: what the client says, its HTTP session, or the one of a pipe."""
    named = _said(ctx, SESSION_KEY)
    headers = getattr(ctx.request, "headers", None) or {}
    return named or headers.get("mcp-session-id") or (_peer(ctx.request) if ctx.request is not None else "")


def _peer(request: Any) -> str:
    """A request without any session goes with the others from the same place: it can only find more, never do more."""
    return str(getattr(request.client, "host", "") or "http")


def _said(ctx: Ctx, key: str) -> str | None:
    found = ctx.meta.get(key) if isinstance(ctx.meta, Mapping) else None
    return found if isinstance(found, str) else None


def as_listed(tool: Tool) -> types.Tool:
    """Return a tool as `tools/list` gives it."""
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(strict_schema(tool.input_schema)),
        annotations=types.ToolAnnotations.model_validate(tool.annotations) if tool.annotations_text else None,
    )


def _text(text: str, *, is_error: bool) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=is_error)


def _result(answer: CallAnswer) -> types.CallToolResult:
    """Return an upstream answer as it came; one that never came is its text."""
    if not answer.content:
        return _text(answer.text, is_error=answer.code != "ok")
    body = {"content": list(answer.content), "isError": answer.code != "ok", "structuredContent": answer.structured}
    return types.CallToolResult.model_validate({key: value for key, value in body.items() if value is not None})
