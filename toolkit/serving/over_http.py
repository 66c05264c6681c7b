"""The proxy over streamable HTTP: on loopback unless told otherwise, and only for who knows the token."""

from __future__ import annotations

import hmac
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

import uvicorn

from toolkit.errors import InputError, why
from toolkit.serving.proxy import Proxy

Scope = MutableMapping[str, Any]
App = Callable[[Scope, Any, Any], Awaitable[None]]


def listening(bind: str, port: int) -> socket.socket:
    """Return a socket that listens; port 0 takes a free one.

    Raises:
        InputError: Nobody can listen there.
    """
    try:
        return socket.create_server((bind, port), family=socket.AF_INET6 if ":" in bind else socket.AF_INET)
    except OSError as error:
        raise InputError(f"cannot listen on {bind}:{port}: {why(error)}.", hint="Give another --http PORT.") from error


async def serve_http(proxy: Proxy, listener: socket.socket, token: str) -> None:
    """Serve until cancelled."""
    app = guarded(proxy.server.streamable_http_app(host=listener.getsockname()[0]), token)
    config = uvicorn.Config(app, log_level="error", lifespan="on")
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    await server.serve(sockets=[listener])


def guarded(app: App, token: str) -> App:
    """Return an application that answers 401 to every request without the bearer token."""
    wanted = f"Bearer {token}".encode()

    async def checked(scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            given = next((value for name, value in scope["headers"] if name == b"authorization"), b"")
            if not hmac.compare_digest(given, wanted):
                await _refuse(send)
                return
        await app(scope, receive, send)

    return checked


async def _refuse(send: Any) -> None:
    head = [(b"content-type", b"text/plain; charset=utf-8"), (b"www-authenticate", b"Bearer")]
    await send({"type": "http.response.start", "status": 401, "headers": head})
    await send({"type": "http.response.body", "body": b"The bearer token is missing or wrong.\n"})
