"""Writing sessions as OTLP-JSON: a trace a session, a span a pass with the GenAI attributes, a span a tool run."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from toolkit.session import Billed, Call, Content, Pass, Session, Turn
from toolkit.store import write_whole
from toolkit.tool import Tool, compact_json

_SCOPE = {"name": "toolkit"}


def write_spans(sessions: Sequence[Session], path: Path) -> None:
    """Write sessions as one OTLP-JSON document, all or nothing. Message contents and tool definitions are in it."""
    spans = [span for session in sessions for span in _spans(session)]
    resource = {"attributes": [_attribute("service.name", "toolkit")]}
    whole = {"resourceSpans": [{"resource": resource, "scopeSpans": [{"scope": _SCOPE, "spans": spans}]}]}
    write_whole(path, compact_json(whole).encode("utf-8", "replace"))


def _spans(session: Session) -> Iterator[dict[str, Any]]:
    trace = _digest(session.id, 32)
    history: list[dict[str, Any]] = []
    number = 0
    for turn in session.turns:
        history += _input(turn)
        for one in turn.passes:
            number += 1
            start = _nanoseconds(one.timestamp or turn.timestamp) + number
            id = _digest(f"{session.id}/{number}", 16)
            reply = _reply(one)
            if one.requested:
                facts = {**_pass(session, one), **_messages(session, history, reply)}
                yield _span(trace, id, f"chat {one.model or session.model or ''}".strip(), start, facts, 3)
            for place, call in enumerate(one.calls):
                inner = _digest(f"{session.id}/{number}/{place}", 16)
                yield _span(trace, inner, f"execute_tool {call.name}", start + 1, _run(session, call), 1, id)
            history += [reply, *_results(one)]


def _span(
    trace: str, id: str, name: str, start: int, facts: Mapping[str, Any], kind: int, parent: str = ""
) -> dict[str, Any]:
    span = {"traceId": trace, "spanId": id, "name": name, "kind": kind}
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(start + 1)}
    attributes = [_attribute(key, value) for key, value in facts.items() if value is not None]
    return {**span, **({"parentSpanId": parent} if parent else {}), **times, "attributes": attributes}


def _attribute(key: str, value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"key": key, "value": {"intValue": str(value)}}
    return {"key": key, "value": {"stringValue": value}}


def _pass(session: Session, one: Pass) -> dict[str, Any]:
    usage = one.usage or Billed()
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "unknown",
        "gen_ai.conversation.id": session.id,
        "gen_ai.request.model": one.model or session.model,
        "gen_ai.response.model": one.model,
        "gen_ai.usage.input_tokens": usage.prompt,
        "gen_ai.usage.output_tokens": usage.completion,
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.usage.cache_creation.input_tokens": usage.cache_write,
    }


def _messages(session: Session, history: list[dict[str, Any]], reply: dict[str, Any]) -> dict[str, Any]:
    system = [{"type": "text", "content": session.system}] if session.system else None
    defined = [_definition(tool) for tool in session.catalog] if session.definitions != "missing" else []
    return {
        "gen_ai.system_instructions": compact_json(system) if system else None,
        "gen_ai.input.messages": compact_json(history),
        "gen_ai.output.messages": compact_json([reply]),
        "gen_ai.tool.definitions": compact_json(defined) if defined else None,
    }


def _definition(tool: Tool) -> dict[str, Any]:
    schema = {"parameters": tool.input_schema} if tool.schema_text else {}
    later = {"defer_loading": True} if tool.deferred else {}
    return {"type": "function", "name": tool.name, "description": tool.description, **schema, **later}


def _input(turn: Turn) -> list[dict[str, Any]]:
    said = [{"role": message.role, "parts": _parts(message.content)} for message in turn.context]
    return [*said, {"role": "user", "parts": _parts(turn.input)}]


def _reply(one: Pass) -> dict[str, Any]:
    thought = [{"type": "reasoning", "content": one.reasoning}] if one.reasoning else []
    called = [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": dict(call.arguments)} for call in one.calls
    ]
    return {"role": "assistant", "parts": [*thought, *_parts(one.content), *called]}


def _results(one: Pass) -> list[dict[str, Any]]:
    return [
        {
            "role": "tool",
            "parts": [{"type": "tool_call_response", "id": call.id, "response": _plain(call.result.content)}],
        }
        for call in one.calls
        if call.result is not None
    ]


def _run(session: Session, call: Call) -> dict[str, Any]:
    answer = call.result.content if call.result is not None else None
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": session.id,
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": call.arguments_text,
        "gen_ai.tool.call.result": None if call.result is None else compact_json(_plain(answer)),
        "error.type": "tool_error" if call.result is not None and call.result.is_error else None,
    }


def _parts(content: Content) -> list[dict[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "content": content}] if content else []
    return [
        {"type": "text", "content": part["text"]} if part.get("type") == "text" and "text" in part else dict(part)
        for part in content
    ]


def _plain(content: Content | None) -> Any:
    return list(content) if isinstance(content, tuple) else content or ""


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def _nanoseconds(moment: str | None) -> int:
    try:
        return int(datetime.fromisoformat(moment or "").timestamp() * 1e9)
    except ValueError:
        return 1
