"""What went wrong with a server, in words that say what to do and hold no secret."""

from __future__ import annotations

import httpx2
from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED
from pydantic import ValidationError

from toolkit.errors import ToolkitError
from toolkit.hosts import mcp_reports as states
from toolkit.hosts.mcp_reports import ServerReport
from toolkit.hosts.mcp_wire import Wire
from toolkit.hosts.secrets import redactor, shown

_SHOWN = 300


def failure(wire: Wire, error: BaseException) -> ServerReport:
    """Return the report of a connection that an error ended."""
    redact = redactor(wire.server)
    state, text = _said(wire, error)
    said = _cut(redact(text))
    if wire.rubbish:
        said += f" It printed on standard output what is no JSON-RPC: {_cut(redact(wire.rubbish[0]))!r}."
    if last := wire.tail.last():
        said += f" Its last words on standard error: {_cut(redact(last))}"
    return ServerReport(wire.server.name, state, error=said)


def _said(wire: Wire, error: BaseException) -> tuple[str, str]:
    state = states.RUBBISH if wire.rubbish else ""
    if isinstance(error, TimeoutError):
        seconds = f"{wire.server.startup_timeout_sec:g} s (startup_timeout_sec)"
        return state or states.TIMED_OUT, f"it did not start and list its tools within {seconds}."
    if isinstance(error, FileNotFoundError | PermissionError | NotADirectoryError):
        return states.NOT_FOUND, _not_started(wire, error)
    if isinstance(error, httpx2.TransportError):
        return states.ENDED, f"nothing answers at {shown(wire.server)}: {error or type(error).__name__}."
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return state or states.ENDED, "it ended."
    if isinstance(error, MCPError) and wire.http_status:
        what = "headers" if wire.http_status in (401, 403) else "url"
        return states.FAILED, f"it answered HTTP {wire.http_status}: {error}. Check its {what}."
    return states.FAILED, _other(error)


def _not_started(wire: Wire, error: OSError) -> str:
    server = wire.server
    if server.cwd is not None and error.filename == server.cwd:
        return f"its folder {server.cwd!r} (cwd) cannot be entered: {error.strerror}."
    return f"its command {server.command!r} cannot be started: {error.strerror}. Install it or give its full path."


def _other(error: BaseException) -> str:
    if isinstance(error, ToolkitError):
        return str(error)
    if isinstance(error, ValidationError):
        first = error.errors(include_input=False, include_url=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"its answer is not what the protocol says: {place}: {first['msg']}."
    return f"{type(error).__name__}: {error}"


def first_cause(error: BaseException) -> BaseException:
    """Return the first error inside a group of errors."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


def _cut(text: str) -> str:
    """Return a text in one line that is not too long; cut last, so that no half of a secret is left."""
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "…"
