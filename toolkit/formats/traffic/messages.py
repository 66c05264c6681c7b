"""Messages of every API as pieces in their order: what a person and a model said, what was called and answered.

One reader serves them all, because an agent's log mixes them: Anthropic blocks, OpenAI chat messages and Responses
items, Gemini parts, the parts of OpenTelemetry, LangChain's constructors, Bedrock's and the AI SDK's shapes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from toolkit.formats.importing import parsed
from toolkit.formats.pieces import content_of, rows, text
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.definitions import tools_of

Row = Mapping[str, Any]
_ROLES = {
    "human": "user",
    "HumanMessage": "user",
    "HumanMessageChunk": "user",
    "ai": "assistant",
    "model": "assistant",
    "AIMessage": "assistant",
    "AIMessageChunk": "assistant",
    "developer": "system",
    "SystemMessage": "system",
    "function": "tool",
    "ToolMessage": "tool",
    "FunctionMessage": "tool",
}
_HELD = ("content", "parts", "contents", "tool_calls", "toolCalls", "function_call")
_GIVEN = ("arguments", "args", "input", "parameters")
_IDS = ("call_id", "tool_use_id", "toolCallId", "tool_call_id", "toolUseId", "id")
_KNOWN = {"user", "assistant", "system", "tool"}


def pieces_of(value: Any, role: str = "user") -> tuple[Piece, ...]:
    """Return the pieces of messages: a list of them, one, or a text that `role` said."""
    return tuple(_pieces(value, role))


def _pieces(value: Any, role: str) -> Iterator[Piece]:
    if isinstance(value, str):
        if value:
            yield Piece("text" if role == "assistant" else role if role in _KNOWN else "user", value)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _pieces(one, role)
    elif isinstance(value, dict):
        yield from _of_encoded(msgspec.json.encode(value), role)


@lru_cache(maxsize=8192)
def _of_encoded(data: bytes, role: str) -> tuple[Piece, ...]:
    """Return the pieces of an encoded message: every request of a session repeats those before it."""
    return tuple(_message(_unwrapped(msgspec.json.decode(data)), role))


def _unwrapped(row: Row) -> Row:
    """Return the message inside LangChain's and OpenInference's wrappers."""
    if isinstance(row.get("kwargs"), Mapping) and isinstance(row.get("id"), list) and row["id"]:
        return {**row["kwargs"], "role": row["id"][-1]}
    if isinstance(row.get("data"), Mapping) and row.get("type") in _ROLES:
        return {**row["data"], "role": row["type"]}
    if isinstance(row.get("message"), Mapping) and "role" not in row:
        return row["message"]  # type: ignore[no-any-return]
    return row


def _message(row: Row, role: str) -> Iterator[Piece]:
    kind = row.get("type")
    if isinstance(kind, str) and kind in _ITEMS:
        yield from _ITEMS[kind](row)
        return
    said = row.get("role") or (kind if kind in _ROLES else None)
    if said is None and (isinstance(kind, str) or not any(key in row for key in _HELD)):
        yield from _parts([row], role)
        return
    role = _ROLES.get(str(said), str(said)) if said is not None else role
    role = role if role in _KNOWN else "user"
    if role == "tool" and not isinstance(row.get("parts"), list):
        yield from _tool_message(row)
        return
    thought = row.get("reasoning_content") or row.get("reasoning")
    if role == "assistant" and isinstance(thought, str) and thought:
        yield Piece("reasoning", thought)
    content = next((row[key] for key in ("content", "parts", "contents") if row.get(key)), None)
    calls = tuple(_calls(row))
    known = {piece.id for piece in calls if piece.id}
    for piece in _parts(content, role):
        if piece.kind != "call" or piece.id not in known:
            yield piece
    yield from calls


def _tool_message(row: Row) -> Iterator[Piece]:
    content = row.get("content")
    blocks = [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []
    if any(part.get("type") in ("tool_result", "tool-result", "tool_call_response") for part in blocks):
        yield from _parts(content, "tool")
        return
    yield Piece(
        "result",
        content_of(content),
        text(row.get("tool_call_id")) or text(row.get("call_id")),
        text(row.get("name")) or text(row.get("function")),
        is_error=row.get("status") == "error" or row.get("is_error") is True or bool(row.get("error")),
        returned=_references(content),
    )


def _parts(content: Any, role: str) -> Iterator[Piece]:
    """Yield the pieces of a message's content; what stands beside each other and is no call becomes one piece."""
    said: list[Any] = []
    kind = "text" if role == "assistant" else role
    for part in content if isinstance(content, list | tuple) else [content]:
        found = _part(part, role)
        if found is None:
            said.append(part)
            continue
        if said:
            yield Piece(kind, content_of(said))
            said = []
        yield from found
    if said and said != [None]:
        yield Piece(kind, content_of(said if len(said) > 1 or not isinstance(said[0], str) else said[0]))


def _part(part: Any, role: str) -> Iterable[Piece] | None:
    """Return the pieces of one part, or None where it is what somebody said."""
    if not isinstance(part, Mapping):
        return None
    inner = part.get("message_content")
    if isinstance(inner, Mapping):
        part = {**part, **inner}
    kind = part.get("type")
    if isinstance(kind, str) and kind in _ITEMS:
        return _ITEMS[kind](part)
    for key, read in _KEYED.items():
        if isinstance(part.get(key), Mapping):
            return read(part[key])
    if part.get("thought") is True:
        return (Piece("reasoning", str(part.get("text") or "")),)
    if isinstance(kind, str) and kind.endswith("_tool_result"):
        return _result(part)
    if kind == "text" and "text" not in part and isinstance(part.get("content"), str):
        return (Piece("text" if role == "assistant" else role, part["content"]),)
    return None


def _calls(row: Row) -> Iterator[Piece]:
    """Yield the calls that a chat message keeps beside its content."""
    calls = row.get("tool_calls") or row.get("toolCalls")
    for call in rows(parsed(calls)):
        yield from _call(call)
    for call in rows(row.get("invalid_tool_calls")):
        yield from _call(call)
    if isinstance(row.get("function_call"), Mapping):
        yield from _call(row["function_call"])


def _call(row: Row) -> Iterator[Piece]:
    row = row["tool_call"] if isinstance(row.get("tool_call"), Mapping) else row
    function = row.get("function")
    inner = function if isinstance(function, Mapping) else row
    name = function if isinstance(function, str) else inner.get("name") or row.get("toolName") or row.get("tool_name")
    space = row.get("namespace")
    given = next((inner[key] for key in _GIVEN if inner.get(key) is not None), None)
    id = next((row[key] for key in _IDS if row.get(key)), None)
    yield Piece("call", "", text(id), f"{space}.{name}" if space else text(name) or "?", given)


def _result(row: Row) -> Iterator[Piece]:
    keys = ("content", "output", "response", "result")
    value = next((row[key] for key in keys if row.get(key) is not None), None)
    id = next((row[key] for key in _IDS if row.get(key)), None)
    content = content_of(value) if isinstance(value, str | list | None) else msgspec.json.encode(value).decode()
    failed = row.get("is_error") is True or row.get("isError") is True or row.get("status") in ("error", "failed")
    name = row.get("name") or row.get("toolName")
    yield Piece("result", content, text(id), text(name), None, failed, _references(value))


def _references(value: Any) -> tuple[str, ...]:
    """Return the names that the `tool_reference` blocks of a result point at."""
    if isinstance(value, Mapping):
        value = value.get("tool_references")
    return tuple(
        str(one.get("tool_name") or one.get("name")) for one in rows(value) if one.get("type") == "tool_reference"
    )


def _searched(row: Row) -> Iterator[Piece]:
    yield Piece("call", "", text(row.get("call_id")), "tool_search", row.get("arguments"))


def _found(row: Row) -> Iterator[Piece]:
    tools = tools_of(row.get("tools"))
    names = tuple(tool.name for tool in tools)
    yield Piece("result", "", text(row.get("call_id")), "tool_search", None, False, names, tools)


def _hosted(row: Row) -> Iterator[Piece]:
    """Yield a call that the provider ran itself, and its answer."""
    kind = str(row.get("type"))
    name = text(row.get("name")) or kind.removesuffix("_call")
    given = next((row[key] for key in ("arguments", "action", "queries", "code") if row.get(key) is not None), None)
    given = {"queries": given} if isinstance(given, list) else given if kind == "mcp_call" else _as_object(given)
    id = text(row.get("id"))
    yield Piece("call", "", id, name, given)
    answer = next((row[key] for key in ("output", "results", "outputs", "error") if row.get(key) is not None), None)
    failed = row.get("status") == "failed" or (row.get("output") is None and bool(row.get("error")))
    yield Piece("result", content_of(answer), id, name, None, failed)


def _as_object(value: Any) -> Any:
    return {"code": value} if isinstance(value, str) else value


def _listed(row: Row) -> Iterator[Piece]:
    yield Piece("tools", tools=tools_of(row.get("tools"), server=str(row.get("server_label") or "")))


def _reasoned(row: Row) -> Iterator[Piece]:
    value = row.get("thinking") or row.get("text") or row.get("content") or row.get("summary") or row.get("reasoning")
    if isinstance(value, Mapping):
        value = value.get("text") or value.get("reasoningText")
    if isinstance(value, list):
        value = "\n".join(str(one.get("text") or "") for one in rows(value))
    if isinstance(value, str) and value:
        yield Piece("reasoning", value)


def _nothing(row: Row) -> Iterator[Piece]:
    return iter(())


def _said_item(row: Row) -> Iterator[Piece]:
    yield from _message({**row, "type": None}, "assistant")


_READERS: tuple[tuple[Callable[[Row], Iterable[Piece]], str], ...] = (
    (_call, "tool_use server_tool_use mcp_tool_use tool_call tool-call server_tool_call function_call toolCall"),
    (_call, "custom_tool_call invalid_tool_call local_shell_call shell_call computer_call apply_patch_call"),
    (_result, "tool_result tool-result tool_call_response server_tool_call_response function_call_output"),
    (_result, "custom_tool_call_output local_shell_call_output shell_call_output computer_call_output"),
    (_hosted, "web_search_call file_search_call code_interpreter_call image_generation_call mcp_call"),
    (_reasoned, "thinking reasoning"),
    (_nothing, "redacted_thinking compaction item_reference mcp_approval_request tool_addition tool_removal"),
    (_searched, "tool_search_call"),
    (_found, "tool_search_output"),
    (_listed, "mcp_list_tools additional_tools"),
    (_said_item, "message"),
)
_ITEMS = {name: read for read, names in _READERS for name in names.split()}
_KEYED: dict[str, Callable[[Row], Iterable[Piece]]] = {
    "functionCall": _call,
    "function_call": _call,
    "functionResponse": _result,
    "function_response": _result,
    "toolUse": _call,
    "toolResult": _result,
    "reasoningContent": _reasoned,
}
