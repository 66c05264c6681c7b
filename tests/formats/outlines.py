"""What a session holds, as plain values that a person can read and compare."""

from __future__ import annotations

from typing import Any

from toolkit.formats.sessions import Sessions
from toolkit.session import Call, Pass, Session, text_of


def outline(sessions: Sessions) -> dict[str, Any]:
    """Return what was read, and the codes of what could not be."""
    return {"sessions": [of_session(one) for one in sessions], "problems": [one.code for one in sessions.problems]}


def of_session(session: Session) -> dict[str, Any]:
    """Return a session without its texts' layout, ids of its own making and files."""
    return {
        "model": session.model,
        "system": session.system,
        "definitions": session.definitions,
        "outcome": session.outcome,
        "is_child": session.parent is not None,
        "tools": {tool.name: [tool.source, tool.deferred, sorted(tool.input_schema)] for tool in session.catalog},
        "turns": [{"input": turn.words, "passes": [_of_pass(one) for one in turn.passes]} for turn in session.turns],
    }


def _of_pass(one: Pass) -> dict[str, Any]:
    usage = one.usage
    return {
        "said": one.words,
        "reasoning": one.reasoning,
        "calls": [_of_call(call) for call in one.calls],
        "usage": usage and [usage.prompt, usage.completion, usage.cached, usage.cache_write],
        "declared": one.declared,
        "searchable": one.searchable,
        "requested": one.requested,
        "model": one.model,
        "timestamp": one.timestamp,
        "history": [[message.role, text_of(message.content)] for message in one.context],
    }


def _of_call(call: Call) -> dict[str, Any]:
    result = call.result
    told = result and [text_of(result.content), result.is_error, list(result.returned)]
    return {"name": call.name, "arguments": dict(call.arguments), "kind": call.kind, "result": told}
