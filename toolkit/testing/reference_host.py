"""The reference engine as a host under test: `python -m toolkit.testing.reference_host` speaks PROTOCOL.md."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TextIO

from toolkit.errors import IllegalStepError, ToolkitError, UnknownNameError
from toolkit.testing.driver import Driver, Event, NameRanker, NameSelector, Outcome
from toolkit.tool import wire_name

ERROR_CODES = {"illegal_step": -32001, "unknown_name": -32002}
INVALID_REQUEST, UNKNOWN_METHOD = -32600, -32601


class Engine(Protocol):
    """One session that is told and asked in events."""

    def apply(self, event: Event) -> Outcome: ...


MakeEngine = Callable[[Mapping[str, Any], Mapping[str, NameSelector], NameRanker | None], Engine]


class Server:
    """Answers `start`, `apply` and `end` for one session after another.

    A refusal is an outcome too: `{"error": code, "text": message}`.
    """

    def __init__(self, make: MakeEngine = Driver) -> None:
        self._make = make
        self._engine: Engine | None = None

    def ask(self, method: str, params: Mapping[str, Any]) -> Outcome:
        """Return what a method answers.

        Raises:
            KeyError: There is no such method.
        """
        answer: Callable[[Mapping[str, Any]], Outcome] = _METHODS[method].__get__(self)
        try:
            return answer(params)
        except (IllegalStepError, UnknownNameError) as error:
            return {"error": error.code, "text": str(error)}

    def _start(self, params: Mapping[str, Any]) -> Outcome:
        config = params["config"]
        self._engine = None
        self._engine = self._make(config, _scripted(config), _failing(config))
        return {}

    def _apply(self, params: Mapping[str, Any]) -> Outcome:
        if self._engine is None:
            raise IllegalStepError("no session has started.")
        event = dict(params["event"])
        if event.pop("wire", False):
            event["name"] = wire_name(event["name"])
        outcome = self._engine.apply(event)
        said = getattr(self._engine, "text", None)
        return {**outcome, "text": said} if said is not None and event["op"] in ("call", "search") else outcome

    def _end(self, params: Mapping[str, Any]) -> Outcome:
        self._engine = None
        return {}


_METHODS: dict[str, Any] = {"start": Server._start, "apply": Server._apply, "end": Server._end}


def _scripted(config: Mapping[str, Any]) -> dict[str, NameSelector]:
    """Return the selectors that a config scripts: each returns one value, or raises."""
    return {name: _script(script) for name, script in (config.get("selectors") or {}).items()}


def _script(script: Mapping[str, Any]) -> NameSelector:
    def select(names: list[str], info: dict[str, Any]) -> Any:
        if "raises" in script:
            raise ToolkitError(str(script["raises"]))
        return script["returns"]

    return select


def _failing(config: Mapping[str, Any]) -> NameRanker | None:
    """Return a ranker that fails on the config's `failing_query` (Q8), else by words that name and query share."""
    failing = config.get("failing_query")

    def rank(query: str, names: list[str]) -> list[tuple[str, float]]:
        if query == failing:
            raise ToolkitError("the index is broken.")
        wanted = set(query.casefold().split("."))
        return [(name, float(score)) for name in names if (score := len(wanted & set(name.casefold().split("."))))]

    return None if failing is None else rank


def serve(lines: Iterable[str], out: TextIO, make: MakeEngine = Driver) -> None:
    """Answer JSON-RPC 2.0 requests, one JSON object a line, until the input ends."""
    server = Server(make)
    for line in lines:
        if line.strip():
            out.write(json.dumps(_reply(server, line)) + "\n")
            out.flush()


def _reply(server: Server, line: str) -> dict[str, Any]:
    try:
        request = json.loads(line)
        head = {"jsonrpc": "2.0", "id": request["id"]}
        method, params = request["method"], request.get("params") or {}
    except (ValueError, KeyError, TypeError):
        return {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": "invalid_request"}}
    if method not in _METHODS:
        return {**head, "error": {"code": UNKNOWN_METHOD, "message": "unknown_method"}}
    outcome = server.ask(method, params)
    if "error" not in outcome:
        return {**head, "result": outcome}
    error = {"code": ERROR_CODES[outcome["error"]], "message": outcome["error"], "data": {"text": outcome["text"]}}
    return {**head, "error": error}


if __name__ == "__main__":
    serve(sys.stdin, sys.stdout)
