"""One connection to an MCP server by the official SDK: how it is opened, and what is heard on it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from threading import Thread
from typing import Any, TextIO

import anyio
import httpx2
import mcp_types as types
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from toolkit import __version__
from toolkit.errors import InputError
from toolkit.hosts.config import ServerConfig
from toolkit.hosts.mcp_tools import as_tool, is_named, strict
from toolkit.tool import Tool

_LISTEN_AGAIN_SECONDS = 0.5
_LINES = 20


class Wire:
    """What is heard on one connection beside the answers.

    Attributes:
        server: Whose connection it is.
        ended: True once the server's side has closed.
        rubbish: The first messages that were no JSON-RPC.
        http_status: The last answer's HTTP status where that was an error, else 0.
        listed: The rows of the newest page of tools, as they came.
    """

    def __init__(self, server: ServerConfig) -> None:
        self.server = server
        self.ended = False
        self.rubbish: deque[str] = deque(maxlen=_LINES)
        self.http_status = 0
        self.listed: list[Any] = []
        self.tail = Tail()
        self._woken = anyio.Event()

    def wake(self) -> None:
        """Let `news` return: the list changed, or the connection ended."""
        self._woken.set()

    def end(self) -> None:
        """Note that the server's side has closed."""
        self.ended = True
        self.wake()

    async def news(self) -> None:
        """Wait until something happened since the last time."""
        await self._woken.wait()
        self._woken = anyio.Event()

    def open(self) -> AbstractAsyncContextManager[Client]:
        """Return the connection, to be entered: it starts the server, and leaving it always ends the server."""
        who = types.Implementation(name="selector-toolkit", version=__version__)
        return Client(self._streams(), message_handler=self._hear, client_info=who, cache=None)

    @asynccontextmanager
    async def _streams(self) -> AsyncIterator[Any]:
        """Open the transport, and listen along on what comes in."""
        async with self._over_http() if self.server.url else self._over_stdio() as (read, write):
            yield _Overheard(read, self), write

    @asynccontextmanager
    async def _over_stdio(self) -> AsyncIterator[Any]:
        server = self.server
        process = StdioServerParameters(
            command=server.command or "",
            args=list(server.args),
            env=dict(server.env),
            cwd=server.cwd,
            encoding_error_handler="replace",
        )
        with self.tail as log:
            async with stdio_client(process, errlog=log) as streams:
                yield streams

    @asynccontextmanager
    async def _over_http(self) -> AsyncIterator[Any]:
        limits = httpx2.Timeout(30.0, read=None)
        hooks = {"response": [self._note_status]}
        async with (
            httpx2.AsyncClient(headers=dict(self.server.headers), timeout=limits, event_hooks=hooks) as http,
            streamable_http_client(self.server.url or "", http_client=http) as streams,
        ):
            yield streams

    async def _note_status(self, response: Any) -> None:
        self.http_status = response.status_code if response.status_code >= 400 else 0

    async def _hear(self, message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self.wake()

    async def listen(self, client: Client) -> None:
        """Subscribe to list changes where the protocol wants it; older servers are heard without.

        Each subscription begins with a wake-up, so that no change before it is missed.
        """
        try:
            while client.protocol_version in MODERN_PROTOCOL_VERSIONS:
                with suppress(SubscriptionLost):
                    await self._subscription(client)
                self.wake()
                await anyio.sleep(_LISTEN_AGAIN_SECONDS)
        except MCPError:
            return

    async def _subscription(self, client: Client) -> None:
        async with client.listen(tools_list_changed=True) as changes:
            self.wake()
            async for _ in changes:
                self.wake()


class _Overheard:
    """A transport's read stream that tells its wire of rubbish, of tools as they came, and of its end."""

    def __init__(self, stream: Any, wire: Wire) -> None:
        self._stream, self._wire = stream, wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def __aiter__(self) -> _Overheard:
        return self

    async def __anext__(self) -> Any:
        try:
            item = await anext(self._stream)
        except (StopAsyncIteration, anyio.ClosedResourceError):
            self._wire.end()
            raise
        if isinstance(item, Exception):
            self._wire.rubbish.append(_said(item))
        elif isinstance(item.message, types.JSONRPCResponse):
            self._take_tools(item.message.result)
        return item

    def _take_tools(self, result: dict[str, Any]) -> None:
        """Keep a page of tools as it came, and hand on what the SDK, which refuses a page for one row, accepts."""
        if isinstance(result.get("tools"), list):
            self._wire.listed = result["tools"]
            result["tools"] = strict(filter(is_named, self._wire.listed))

    async def __aenter__(self) -> _Overheard:
        await self._stream.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        return await self._stream.__aexit__(*error)


def _said(error: Exception) -> str:
    """Return the line that could not be parsed."""
    details = error.errors() if isinstance(error, ValidationError) else []
    return str(details[0].get("input", "")) if details else str(error)


class Tail:
    """The last lines that a server wrote on standard error; the rest is read and forgotten."""

    def __init__(self) -> None:
        self._lines: deque[str] = deque(maxlen=_LINES)

    def __enter__(self) -> TextIO:
        reading, writing = os.pipe()
        self._file = os.fdopen(writing, "w")
        self._thread = Thread(target=self._read, args=(reading,), daemon=True)
        self._thread.start()
        return self._file

    def __exit__(self, *error: object) -> None:
        self._file.close()
        self._thread.join(0.5)

    def _read(self, descriptor: int) -> None:
        with os.fdopen(descriptor, "rb") as pipe:
            for line in pipe:
                self._lines.append(line.decode("utf-8", "replace").strip())

    def last(self) -> str:
        """Return the last line that says something."""
        return next((line for line in reversed(tuple(self._lines)) if line), "")


async def all_tools(client: Client, wire: Wire) -> tuple[tuple[Tool, ...], str]:
    """Return the tools of all pages of `tools/list`, and what there is to say of rows that are no tools.

    Raises:
        InputError: The server gives the same page again and again, or lists nothing that is a tool.
    """
    rows: list[Any] = []
    found: list[Tool] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        page = await client.list_tools(cursor=cursor)
        accepted = {tool.name for tool in page.tools}
        rows += wire.listed
        found += [as_tool(row, wire.server) for row in wire.listed if is_named(row) and row["name"] in accepted]
        cursor = page.next_cursor
        if not cursor:
            return tuple(found), _left_out(rows, found)
        if cursor in seen:
            raise InputError("its tools/list names the same next page twice.", hint="Its pages would never end.")
        seen.add(cursor)


def _left_out(rows: list[Any], found: list[Tool]) -> str:
    nameless = sum(not is_named(row) for row in rows)
    if nameless and not found:
        raise InputError("its answer is not what the protocol says: no tool in it has a name.")
    return f"{nameless} of the {len(rows)} tools it lists have no name and are left out." if nameless else ""
