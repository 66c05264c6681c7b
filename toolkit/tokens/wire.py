"""Requests as they went over the wire or into an SDK, in five forms, brought into the one of `request.Request`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolkit.errors import InputError
from toolkit.tokens.parts import Json, dicts, inner_media, mapping, parts, raw, words
from toolkit.tokens.plain import deeply_given, given, plain
from toolkit.tokens.request import Definition, Message, Part, Request


def request(body: Json, api: str, provider: str = "", model: str = "") -> Request:
    """Return the request in the shared form.

    Args:
        body: What was sent, parsed; or what an SDK was given: dicts, pydantic models, their dumps, values not given.
        api: `chat`, `responses`, `messages`, `gemini`, `converse`, `cohere`, or the counting endpoint of
            one (`responses_count`, `anthropic_count`, `gemini_count`, `bedrock_count`).
        provider: Who served it.
        model: Its name where the body has none.

    Raises:
        InputError: The body is no object, or its API is not known.
    """
    body = plain(body)
    if not isinstance(body, Mapping):
        raise InputError(f"a request must be a JSON object, not {type(body).__name__}.")
    if api not in READERS:
        raise InputError(f"unknown API {api!r}.", hint=f"Known: {', '.join(sorted(READERS))}.")
    return READERS[api](body, provider, api, str(body.get("model") or model))


def _chat(body: Json, provider: str, api: str, model: str) -> Request:
    messages = tuple(_chat_message(one) for one in dicts(body.get("messages")))
    entries = [*dicts(body.get("tools")), *({"function": one} for one in dicts(body.get("functions")))]
    choice = body.get("tool_choice") or body.get("function_call")
    return Request(
        provider, api, model, messages, tuple(map(_chat_tool, entries)),
        _choice(choice), body.get("parallel_tool_calls") is not False,
        _schema_of(body.get("response_format")), _unreadable(messages), body,
    )  # fmt: skip


def _chat_tool(entry: Json) -> Definition:
    return _function(mapping(entry.get("function") or entry.get("custom")) or entry, entry)


def _chat_message(one: Json) -> Message:
    role = str(one.get("role") or "user")
    if role in ("tool", "function"):
        name, join, content = str(one.get("name") or ""), str(one.get("tool_call_id") or ""), one.get("content")
        return Message("tool", (Part("result", words(content), name, join), *inner_media(content)))
    calls = [*dicts(one.get("tool_calls")), *({"function": call} for call in dicts([one.get("function_call")]))]
    return Message(role, (*parts(one.get("content")), *map(_chat_call, calls)), str(one.get("name") or ""))


def _chat_call(call: Json) -> Part:
    function = mapping(call.get("function") or call.get("custom")) or call
    return Part(
        "call",
        raw(function.get("arguments") or function.get("input")),
        str(function.get("name") or ""),
        str(call.get("id") or ""),
    )


def _responses(body: Json, provider: str, api: str, model: str) -> Request:
    items = body.get("input")
    items = [{"role": "user", "content": items}] if isinstance(items, str) else dicts(items)
    system = [Message("developer", (Part("text", words(body["instructions"])),))] if body.get("instructions") else []
    messages = (*system, *map(_item, items))
    unknown = [key for key in ("previous_response_id", "prompt", "conversation") if body.get(key)]
    tools = tuple(_function(one, one) for entry in dicts(body.get("tools")) for one in _named(entry))
    form = mapping(body.get("text")).get("format") or body.get("text_format")
    return Request(
        provider, api, model, messages, tools, _choice(body.get("tool_choice")),
        body.get("parallel_tool_calls") is not False, _schema_of(form),
        (*unknown, *_unreadable(messages)), body,
    )  # fmt: skip


def _named(entry: Json) -> list[Json]:
    """A namespace is an entry of its own, before the functions that it holds."""
    return [entry, *dicts(entry.get("tools"))] if entry.get("type") == "namespace" else [entry]


def _item(item: Json) -> Message:
    kind, name, join = item.get("type"), str(item.get("name") or ""), str(item.get("call_id") or "")
    if kind in ("function_call", "custom_tool_call"):
        return Message("assistant", (Part("call", raw(item.get("arguments") or item.get("input")), name, join, item),))
    if kind in ("function_call_output", "custom_tool_call_output"):
        output = item.get("output")
        return Message("tool", (Part("result", words(output), name, join, item), *inner_media(output)))
    if kind in (None, "message"):
        return Message(str(item.get("role") or "user"), tuple(parts(item.get("content"))))
    return Message("assistant", (Part("opaque", "", str(kind), join, item),))


def _anthropic(body: Json, provider: str, api: str, model: str) -> Request:
    system = [Message("system", tuple(parts(body["system"])))] if body.get("system") else []
    messages = (*system, *map(_role_message, dicts(body.get("messages"))))
    choice = mapping(body.get("tool_choice"))
    tools = tuple(_function(one, one) for one in dicts(body.get("tools")))
    schema = _schema_of(mapping(body.get("output_config")).get("format") or body.get("output_format"))
    return Request(
        provider, api, model, messages, tools, _choice(choice), not choice.get("disable_parallel_tool_use"),
        schema, _unreadable(messages), body,
    )  # fmt: skip


def _role_message(one: Json) -> Message:
    return Message(str(one.get("role") or "user"), tuple(parts(one.get("content"))))


def _gemini(body: Json, provider: str, api: str, model: str) -> Request:
    """Google's request, over the wire or as its SDK takes it, with all but the contents under `config`."""
    body = given(mapping(body.get("generateContentRequest")) or body)
    body = body | given(body.get("config"))
    head = body.get("systemInstruction") or body.get("system_instruction")
    system = [Message("system", tuple(parts(_said(head))))] if head else []
    messages = (*system, *map(_gemini_message, _contents(body.get("contents"))))
    config = body | given(body.get("generationConfig") or body.get("generation_config"))
    names = ("responseSchema", "responseJsonSchema", "response_schema", "response_json_schema")
    schema = next((config[name] for name in names if isinstance(config.get(name), Mapping)), None)
    return Request(
        provider, api, model, messages, tuple(_gemini_tools(body.get("tools"))), _gemini_choice(body),
        True, schema, _unreadable(messages), body,
    )  # fmt: skip


def _contents(contents: Any) -> list[dict[str, Any]]:
    """Messages; texts and pieces that stand without one are the user's, those that follow each other one message."""
    found: list[dict[str, Any]] = []
    loose: list[Any] = []
    for one in contents if isinstance(contents, list) else [contents]:
        if isinstance(one, Mapping) and "parts" in one:
            found.append(dict(one))
            loose = []
        elif one:
            if not loose:
                found.append({"role": "user", "parts": loose})
            loose.append(one)
    return found


def _said(head: Any) -> Any:
    return head.get("parts") if isinstance(head, Mapping) and "parts" in head else head


def _gemini_message(message: Json) -> Message:
    role = "assistant" if message.get("role") == "model" else str(message.get("role") or "user")
    return Message(role, tuple(parts(message.get("parts"))))


def _gemini_tools(tools: Any) -> Iterable[Definition]:
    for tool in dicts(tools):
        declared = dicts(tool.get("functionDeclarations") or tool.get("function_declarations"))
        yield from (_declared(one) for one in declared)
        others = (key for key in tool if key not in ("functionDeclarations", "function_declarations"))
        yield from (Definition(key, kind=key, raw=tool) for key in others)


def _declared(one: Json) -> Definition:
    found = _function(one, one)
    return replace(found, schema=deeply_given(found.schema)) if "parameters" in one else found


def _gemini_choice(body: Json) -> str:
    config = mapping(body.get("toolConfig") or body.get("tool_config"))
    calling = mapping(config.get("functionCallingConfig") or config.get("function_calling_config"))
    return {"ANY": "required", "NONE": "none"}.get(str(calling.get("mode")), "auto")


def _converse(body: Json, provider: str, api: str, model: str) -> Request:
    body = mapping(body.get("input")).get("converse") or body
    system = [Message("system", tuple(parts(body["system"])))] if body.get("system") else []
    messages = (*system, *map(_role_message, dicts(body.get("messages"))))
    config = mapping(body.get("toolConfig"))
    specs = (mapping(one.get("toolSpec")) for one in dicts(config.get("tools")))
    tools = tuple(_function(spec, spec) for spec in specs if spec)
    return Request(
        provider, api, model, messages, tools, _choice(config.get("toolChoice")), True,
        _schema_of(mapping(body.get("outputConfig")).get("textFormat")), _unreadable(messages), body,
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
        str(function.get("name") or kind), words(function.get("description")), schema, kind, deferred, entry
    )


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
    pieces = [part for message in messages for part in message.parts]
    found = [f"{part.kind}:{part.name}" for part in pieces if part.kind in ("media", "opaque")]
    signed = any((part.raw or {}).get(key) for part in pieces for key in ("thoughtSignature", "thought_signature"))
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
