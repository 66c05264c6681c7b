"""What observability platforms keep of a request: inputs and outputs of any shape, as an exchange."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolkit.formats.importing import parsed
from toolkit.formats.pieces import table, text
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.definitions import tools_of
from toolkit.formats.traffic.exchanges import (
    Exchange,
    declared_by,
    history_of,
    is_response,
    reply_of,
    usage_from,
    usage_in,
)
from toolkit.formats.traffic.messages import pieces_of

_ASKED = ("messages", "input", "contents", "prompt", "question")


def exchange_from(given: Any, answered: Any, tools: Any = None, **facts: Any) -> Exchange:
    """Return the exchange of an input and an output as a platform shows them; `facts` are fields that it tells."""
    asked, answer = _asked(parsed(given)), parsed(answered)
    body = answer if isinstance(answer, Mapping) else {}
    told = {name: value for name, value in facts.items() if value is not None}
    system = text(body.get("instructions"))
    history = history_of(asked)
    if system and not any(piece.kind == "system" for piece in history):
        history = (Piece("system", system), *history)
    found: dict[str, Any] = {
        "history": history,
        "reply": _reply(answer),
        "tools": tools_of(tools) or declared_by(asked, body) or None,
        "model": text(body.get("model")) or text(asked.get("model")),
        "usage": usage_in(body) or usage_from(table(table(body.get("llm_output")).get("token_usage"))),
        "id": text(body.get("id")),
        "previous": text(asked.get("previous_response_id")),
    }
    return Exchange(**{**found, **told})


def _asked(value: Any) -> dict[str, Any]:
    if isinstance(value, Mapping):
        if not value.get("messages") and isinstance(value.get("args"), list | Mapping):
            return _asked(value["args"])
        key = next((key for key in _ASKED if value.get(key)), None)
        return (
            {**value, "messages": _flattened(parsed(value[key]))}
            if key
            else {"messages": [value] if _said(value) else []}
        )
    return {"messages": _flattened(value) if value is not None else []}


def _said(value: Mapping[str, Any]) -> bool:
    return "role" in value or "kwargs" in value


def _flattened(value: Any) -> Any:
    """Return messages without the list that LangChain puts around every batch."""
    return value[0] if isinstance(value, list) and value and isinstance(value[0], list) else value


def _reply(value: Any) -> tuple[Piece, ...]:
    if isinstance(value, Mapping):
        if is_response(value) or isinstance(value.get("output"), list):
            return reply_of(value)
        generations = _flattened(value.get("generations"))
        if isinstance(generations, list) and generations:
            first = table(generations[0])
            return pieces_of(first.get("message") or first.get("text"), "assistant")
        for key in ("message", "messages", "output", "text", "response"):
            if value.get(key):
                return pieces_of(_last(parsed(value[key])), "assistant")
        return pieces_of({"role": "assistant", **value}) if "content" in value or "tool_calls" in value else ()
    if isinstance(value, list) and value and all("toolName" in table(one) for one in value):
        return pieces_of({"role": "assistant", "tool_calls": value})
    return pieces_of(value, "assistant") if value else ()


def _last(value: Any) -> Any:
    """Return the message that was answered: some clients give the whole conversation back."""
    return value[-1] if isinstance(value, list) and value else value
