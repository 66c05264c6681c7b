"""Requests as they went over the wire, in five forms, brought into the one of `contract.Request`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from toolkit.errors import InputError
from toolkit.tokens.request import Definition, Message, Part, Request

Json = Mapping[str, Any]


def request(body: Json, api: str, provider: str = "", model: str = "") -> Request:
    """Return the request in the shared form.

    Args:
        body: What was sent, parsed.
        api: `chat`, `responses`, `messages`, `gemini`, `converse`, `cohere`, or the counting endpoint of
            one (`responses_count`, `anthropic_count`, `gemini_count`, `bedrock_count`).
        provider: Who served it.
        model: Its name where the body has none.

    Raises:
        InputError: The body is no object, or its API is not known.
    """
    if not isinstance(body, Mapping):
        raise InputError(f"a request must be a JSON object, not {type(body).__name__}.")
    if api not in READERS:
        raise InputError(f"unknown API {api!r}.", hint=f"Known: {', '.join(sorted(READERS))}.")
    return READERS[api](body, provider, api, str(body.get("model") or model))


def tool_dicts(body: Json, api: str) -> list[Definition]:
    """Return the definitions that a list of tools in any wire form declares."""
    return list(request({"tools": body, "messages": []}, api).tools)


def _chat(body: Json, provider: str, api: str, model: str) -> Request:
    messages = tuple(_chat_message(one) for one in _dicts(body.get("messages")))
    entries = [*_dicts(body.get("tools")), *({"function": one} for one in _dicts(body.get("functions")))]
    choice = body.get("tool_choice") or body.get("function_call")
    return Request(
        provider, api, model, messages, tuple(_function(_map(one.get("function")) or one, one) for one in entries),
        _choice(choice), body.get("parallel_tool_calls") is not False,
        _schema_of(body.get("response_format")), _unreadable(messages), body,
    )  # fmt: skip


def _chat_message(one: Json) -> Message:
    role = str(one.get("role") or "user")
    if role in ("tool", "function"):
        text = _words(one.get("content"))
        return Message("tool", (Part("result", text, str(one.get("name") or ""), str(one.get("tool_call_id") or "")),))
    calls = [*_dicts(one.get("tool_calls")), *({"function": call} for call in _dicts([one.get("function_call")]))]
    parts = (*_parts(one.get("content")), *map(_chat_call, calls))
    return Message(role, parts, str(one.get("name") or ""))


def _chat_call(call: Json) -> Part:
    function = _map(call.get("function")) or call
    return Part("call", _raw(function.get("arguments")), str(function.get("name") or ""), str(call.get("id") or ""))


def _responses(body: Json, provider: str, api: str, model: str) -> Request:
    items = body.get("input")
    items = [{"role": "user", "content": items}] if isinstance(items, str) else _dicts(items)
    system = [Message("developer", (Part("text", _words(body["instructions"])),))] if body.get("instructions") else []
    messages = (*system, *map(_item, items))
    unknown = [key for key in ("previous_response_id", "prompt", "conversation") if body.get(key)]
    tools = tuple(_function(one, one) for one in _dicts(body.get("tools")))
    return Request(
        provider, api, model, messages, tools, _choice(body.get("tool_choice")),
        body.get("parallel_tool_calls") is not False, _schema_of(_map(body.get("text")).get("format")),
        (*unknown, *_unreadable(messages)), body,
    )  # fmt: skip


def _item(item: Json) -> Message:
    kind, name, join = item.get("type"), str(item.get("name") or ""), str(item.get("call_id") or "")
    if kind == "function_call":
        return Message("assistant", (Part("call", _raw(item.get("arguments")), name, join, item),))
    if kind == "function_call_output":
        return Message("tool", (Part("result", _words(item.get("output")), name, join, item),))
    if kind in (None, "message"):
        return Message(str(item.get("role") or "user"), tuple(_parts(item.get("content"))))
    return Message("assistant", (Part("opaque", "", str(kind), join, item),))


def _anthropic(body: Json, provider: str, api: str, model: str) -> Request:
    system = [Message("system", tuple(_parts(body["system"])))] if body.get("system") else []
    messages = (*system, *map(_role_message, _dicts(body.get("messages"))))
    choice = _map(body.get("tool_choice"))
    tools = tuple(_function(one, one) for one in _dicts(body.get("tools")))
    schema = _schema_of(_map(body.get("output_config")).get("format") or body.get("output_format"))
    return Request(
        provider, api, model, messages, tools, _choice(choice), not choice.get("disable_parallel_tool_use"),
        schema, _unreadable(messages), body,
    )  # fmt: skip


def _role_message(one: Json) -> Message:
    return Message(str(one.get("role") or "user"), tuple(_parts(one.get("content"))))


def _gemini(body: Json, provider: str, api: str, model: str) -> Request:
    body = _map(body.get("generateContentRequest")) or body
    head = body.get("systemInstruction") or body.get("system_instruction")
    system = [Message("system", tuple(_parts(head.get("parts"))))] if isinstance(head, Mapping) else []
    contents = (Message(_gemini_role(m), tuple(_parts(m.get("parts")))) for m in _dicts(body.get("contents")))
    messages = (*system, *contents)
    config = _map(body.get("generationConfig") or body.get("generation_config"))
    schema = config.get("responseSchema") or config.get("responseJsonSchema")
    return Request(
        provider, api, model, messages, tuple(_gemini_tools(body.get("tools"))), _gemini_choice(body),
        True, schema, _unreadable(messages), body,
    )  # fmt: skip


def _gemini_role(message: Json) -> str:
    return "assistant" if message.get("role") == "model" else str(message.get("role") or "user")


def _gemini_tools(tools: Any) -> Iterable[Definition]:
    for tool in _dicts(tools):
        declared = tool.get("functionDeclarations") or tool.get("function_declarations")
        if declared:
            yield from (_function(one, one) for one in _dicts(declared))
        else:
            yield from (Definition(key, kind=key, raw=tool) for key in tool if key != "functionDeclarations")


def _gemini_choice(body: Json) -> str:
    config = _map(body.get("toolConfig") or body.get("tool_config"))
    calling = _map(config.get("functionCallingConfig") or config.get("function_calling_config"))
    return {"ANY": "required", "NONE": "none"}.get(str(calling.get("mode")), "auto")


def _converse(body: Json, provider: str, api: str, model: str) -> Request:
    body = _map(body.get("input")).get("converse") or body
    system = [Message("system", tuple(_parts(body["system"])))] if body.get("system") else []
    messages = (*system, *map(_role_message, _dicts(body.get("messages"))))
    config = _map(body.get("toolConfig"))
    specs = (_map(one.get("toolSpec")) for one in _dicts(config.get("tools")))
    tools = tuple(_function(spec, spec) for spec in specs if spec)
    return Request(
        provider, api, model, messages, tools, _choice(config.get("toolChoice")), True,
        _schema_of(_map(body.get("outputConfig")).get("textFormat")), _unreadable(messages), body,
    )  # fmt: skip


def _function(function: Json, entry: Json) -> Definition:
    schema = function.get("parameters")
    for key in ("input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema"):
        schema = function.get(key) if schema is None else schema
    if isinstance(schema, Mapping) and set(schema) == {"json"}:
        schema = schema["json"]
    kind = str(entry.get("type") or "function")
    deferred = entry.get("defer_loading") is True
    return Definition(
        str(function.get("name") or kind), _words(function.get("description")), schema, kind, deferred, entry
    )


def _parts(content: Any) -> list[Part]:
    if content is None or isinstance(content, str):
        return [Part("text", content)] if content else []
    items = content if isinstance(content, list) else [content]
    return [
        Part("text", one) if isinstance(one, str) else _part(one) for one in items if isinstance(one, (str, Mapping))
    ]


def _part(one: Json) -> Part:
    kind = one.get("type")
    if isinstance(one.get("text"), str) and kind in (None, "text", "input_text", "output_text", "refusal"):
        return Part("opaque" if one.get("thought") else "text", one["text"], raw=one)
    if kind == "tool_use" or "toolUse" in one:
        use = _map(one.get("toolUse")) or one
        return Part("call", _raw(use.get("input")), str(use.get("name") or ""), _join(use), one)
    if kind == "tool_result" or "toolResult" in one:
        result = _map(one.get("toolResult")) or one
        return Part("result", _words(result.get("content")), "", _join(result), one)
    if call := _map(one.get("functionCall") or one.get("function_call")):
        return Part("call", _raw(call.get("args")), str(call.get("name") or ""), raw=one)
    if answer := _map(one.get("functionResponse") or one.get("function_response")):
        return Part("result", _raw(answer.get("response")), str(answer.get("name") or ""), raw=one)
    media = kind in _MEDIA or any(key in one for key in _MEDIA)
    return Part("media" if media else "opaque", "", str(kind or next(iter(one), "")), raw=one)


_MEDIA = frozenset((
    "image", "image_url", "input_image", "document", "input_file", "file", "input_audio", "audio", "video",
    "inlineData", "inline_data", "fileData", "file_data",
))  # fmt: skip


def _join(one: Json) -> str:
    return str(one.get("id") or one.get("toolUseId") or one.get("tool_use_id") or "")


def _words(content: Any) -> str:
    """The words of a content: text, a list of text parts, or JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    if isinstance(content, list):
        return "".join(_word(one) for one in content)
    return _raw(content)


def _word(one: Any) -> str:
    if not isinstance(one, Mapping):
        return _words(one)
    if isinstance(one.get("text"), str):
        return str(one["text"])
    return _raw(one["json"]) if "json" in one else ""


def _raw(value: Any) -> str:
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _map(value: Any) -> Json:
    return value if isinstance(value, Mapping) else {}


def _dicts(value: Any) -> list[Json]:
    value = [value] if isinstance(value, Mapping) else value
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, (list, tuple)) else []


def _choice(choice: Any) -> str:
    if choice is None or choice == {}:
        return "auto"
    if isinstance(choice, str):
        return {"any": "required", "REQUIRED": "required", "NONE": "none"}.get(choice, choice)
    if not isinstance(choice, Mapping):
        return "auto"
    if "allowed_tools" in choice or choice.get("type") == "allowed_tools":
        return "auto"
    named = choice.get("function") or choice.get("tool") or choice
    name = named.get("name") if isinstance(named, Mapping) else None
    kind = choice.get("type") or next(iter(choice))
    return str(name) if name else {"any": "required"}.get(str(kind), str(kind))


def _schema_of(form: Any) -> Json | None:
    if not isinstance(form, Mapping) or form.get("type") not in ("json_schema", None):
        return None
    inner = form.get("json_schema")
    return inner if isinstance(inner, Mapping) else form


def _unreadable(messages: Iterable[Message]) -> tuple[str, ...]:
    """What stands in the messages and no rule can count: media, opaque pieces, thought signatures."""
    parts = [part for message in messages for part in message.parts]
    found = [f"{part.kind}:{part.name}" for part in parts if part.kind in ("media", "opaque")]
    signed = any(key in (part.raw or {}) for part in parts for key in ("thoughtSignature", "thought_signature"))
    return tuple(dict.fromkeys([*found, *(["opaque:signature"] if signed else [])]))


READERS: dict[str, Callable[[Json, str, str, str], Request]] = {
    "chat": _chat,
    "responses": _responses,
    "responses_count": _responses,
    "messages": _anthropic,
    "anthropic_count": _anthropic,
    "gemini": _gemini,
    "gemini_count": _gemini,
    "converse": _converse,
    "bedrock_count": _converse,
    "cohere": _chat,
}
