"""JSON-RPC 2.0, one message a line: what was asked is answered in order, and nothing that is said ends the server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec

from toolkit.errors import InputError, ToolkitError

PARSE_ERROR, INVALID_REQUEST, NO_METHOD, INVALID_PARAMS, INTERNAL = -32700, -32600, -32601, -32602, -32603
NOT_READY = -32002
LONGEST = 64 << 20
"""Bytes of a line that are read; the rest of a longer one is skipped."""
Methods = Callable[[str, Any], Any]


class RpcError(ToolkitError):
    """A request that gets an error for an answer."""

    code = "rpc"

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def respond(line: bytes, methods: Methods) -> bytes | None:
    """Return the answer of one line, a message or a batch of them; None where nothing is to be said."""
    try:
        asked = msgspec.json.decode(line)
    except (msgspec.DecodeError, RecursionError) as error:
        return msgspec.json.encode(_error(None, PARSE_ERROR, f"this line is no JSON: {error}"))
    if not isinstance(asked, list):
        said = _one(asked, methods)
        return None if said is None else msgspec.json.encode(said)
    if not asked:
        return msgspec.json.encode(_error(None, INVALID_REQUEST, "a batch holds at least one request."))
    answers = [said for one in asked if (said := _one(one, methods)) is not None]
    return msgspec.json.encode(answers) if answers else None


def _one(asked: Any, methods: Methods) -> dict[str, Any] | None:
    """Return the answer of one message; a notification has none."""
    known = isinstance(asked, dict) and asked.get("jsonrpc") == "2.0" and isinstance(asked.get("method"), str)
    id = asked.get("id") if isinstance(asked, dict) else None
    if not known or isinstance(id, bool | dict | list):
        return _error(None, INVALID_REQUEST, 'a request is an object with "jsonrpc": "2.0", "method" and "id".')
    said = _called(id, asked["method"], asked.get("params"), methods)
    return said if "id" in asked else None


def _called(id: Any, method: str, params: Any, methods: Methods) -> dict[str, Any]:
    try:
        return {"jsonrpc": "2.0", "id": id, "result": methods(method, {} if params is None else params)}
    except RpcError as error:
        return _error(id, error.number, str(error))
    except (msgspec.ValidationError, InputError) as error:
        return _error(id, INVALID_PARAMS, str(error))
    except ToolkitError as error:
        return _error(id, INVALID_PARAMS, str(error), error.code)
    except Exception as error:
        return _error(id, INTERNAL, f"{type(error).__name__}: {error}")


def _error(id: Any, number: int, message: str, kind: str = "") -> dict[str, Any]:
    body: dict[str, Any] = {"code": number, "message": message}
    return {"jsonrpc": "2.0", "id": id, "error": body | ({"data": {"kind": kind}} if kind else {})}


def serve(methods: Methods, reading: BinaryIO, writing: BinaryIO, ended: Callable[[], bool]) -> None:
    """Answer line by line until the other side closes, or `ended` says that it is over."""
    while line := reading.readline(LONGEST):
        said = _too_long(reading) if len(line) == LONGEST and not line.endswith(b"\n") else _said(line, methods)
        if said is not None:
            writing.write(said + b"\n")
            writing.flush()
        if ended():
            return


def _said(line: bytes, methods: Methods) -> bytes | None:
    return respond(line, methods) if line.strip() else None


def _too_long(reading: BinaryIO) -> bytes:
    while (rest := reading.readline(LONGEST)) and not rest.endswith(b"\n"):
        pass
    return msgspec.json.encode(_error(None, INVALID_REQUEST, f"a line holds at most {LONGEST >> 20} MB."))


@contextmanager
def pipes() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Yield standard input and output as bytes; what anything else prints meanwhile goes to standard error."""
    sys.stdout.flush()
    kept = os.dup(1)
    os.dup2(2, 1)
    try:
        with os.fdopen(kept, "wb", closefd=False) as writing:
            yield sys.stdin.buffer, writing
    finally:
        sys.stdout.flush()
        os.dup2(kept, 1)
        os.close(kept)
