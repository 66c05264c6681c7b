"""Running the proxy: the upstream servers, the clients and the log open together, and end together."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from socket import socket
from typing import Any, TextIO

import anyio
from mcp.server.stdio import stdio_server

from toolkit.errors import counted
from toolkit.hosts.changes import Change
from toolkit.hosts.config import HostConfig
from toolkit.hosts.mcp_servers import RETRY_SECONDS, McpServers
from toolkit.hosts.secrets import redactor
from toolkit.plain import plain
from toolkit.serving.over_http import serve_http
from toolkit.serving.proxy import Proxy
from toolkit.serving.proxy_session import Log, ProxySettings
from toolkit.serving.rpc import pipes


def logging_to(file: TextIO, config: HostConfig) -> Log:
    """Return a log of one JSON object a line, without the secrets of the file."""
    redact = redactor(*config.enabled)

    def log(event: str, **facts: Any) -> None:
        line = {"time": datetime.now(UTC).isoformat(timespec="milliseconds"), "event": event, **plain(facts)}
        file.write(redact(json.dumps(line, ensure_ascii=False)) + "\n")
        file.flush()

    return log


@asynccontextmanager
async def opened(
    config: HostConfig,
    settings: ProxySettings,
    log: Log,
    record: Path | None = None,
    retry_after: Sequence[float] = RETRY_SECONDS,
) -> AsyncIterator[Proxy]:
    """Yield the proxy when each upstream server is up or has failed; leaving ends its sessions, then the servers.

    Args:
        config: The host's file.
        settings: What every session is decided by.
        log: Takes an event and its facts.
        record: A folder for session files.
        retry_after: Seconds to wait before each new start of a server that has gone.
    """
    told: list[Proxy] = []

    def heard(change: Change) -> None:
        for one in told:
            one.heard(change)

    async with McpServers(config, heard, retry_after=retry_after) as servers, anyio.create_task_group() as group:
        told.append(Proxy(servers, settings, log, record))
        group.start_soon(told[0].tell)
        try:
            yield told[0]
        finally:
            told[0].close()
            group.cancel_scope.cancel()


async def run(
    config: HostConfig,
    settings: ProxySettings,
    log: Log,
    record: Path | None = None,
    listener: socket | None = None,
    token: str = "",
) -> None:
    """Serve over stdio, or over HTTP where there is a listener, until the client or an interruption ends it.

    Args:
        config: The host's file.
        settings: What every session is decided by.
        log: Takes an event and its facts.
        record: A folder for session files.
        listener: A socket that listens.
        token: What HTTP clients must know.
    """
    async with opened(config, settings, log, record) as proxy:
        tell_reports(proxy.upstream)
        await (_over_stdio(proxy) if listener is None else serve_http(proxy, listener, token))


async def _over_stdio(proxy: Proxy) -> None:
    with pipes() as (asked, answered):
        files = (anyio.wrap_file(TextIOWrapper(one, encoding="utf-8", errors="replace")) for one in (asked, answered))
        async with stdio_server(*files) as (reading, writing):
            await proxy.server.run(reading, writing, proxy.server.create_initialization_options())


def tell_reports(servers: McpServers) -> None:
    """Say on standard error what came of each upstream server."""
    for one in servers.reports:
        said = counted(len(one.tools), "tool") if one.state == "ok" else one.state
        sys.stderr.write(f"{one.name}: {said}{f' ({one.error})' if one.error else ''}\n")
