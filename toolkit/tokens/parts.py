"""The pieces of messages in the forms of all APIs: text, calls, results, media, and what nobody can read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.tokens.plain import given
from toolkit.tokens.request import Part

Json = Mapping[str, Any]
MEDIA = frozenset((
    "image", "image_url", "input_image", "document", "input_file", "file", "input_audio", "audio", "video",
    "inlineData", "inline_data", "fileData", "file_data",
))  # fmt: skip
FREE = frozenset(("cachePoint",))
"""Marks that cost nothing."""


def parts(content: Any) -> list[Part]:
    """Return the pieces of a message's content, which is a text, a piece or a list of both."""
    if content is None or isinstance(content, str):
        return [Part("text", content)] if content else []
    items = content if isinstance(content, list) else [content]
    return [part for one in items for part in _pieces(one)]


def _pieces(one: Any) -> Iterator[Part]:
    if isinstance(one, str):
        yield Part("text", one)
    elif (found := given(one)) and not FREE & set(found):
        yield _part(found)
        yield from inner_media(_content(found))


def _part(one: Json) -> Part:
    kind = one.get("type")
    if isinstance(one.get("text"), str) and kind in (None, "text", "input_text", "output_text", "refusal"):
        return Part("opaque" if one.get("thought") else "text", one["text"], raw=one)
    if kind == "tool_use" or "toolUse" in one:
        use = mapping(one.get("toolUse")) or one
        return Part("call", raw(use.get("input")), str(use.get("name") or ""), _join(use), one)
    if kind == "tool_result" or "toolResult" in one:
        result = mapping(one.get("toolResult")) or one
        return Part("result", words(result.get("content")), "", _join(result), one)
    if call := mapping(one.get("functionCall") or one.get("function_call")):
        return Part("call", raw(call.get("args")), str(call.get("name") or ""), str(call.get("id") or ""), one)
    if answer := mapping(one.get("functionResponse") or one.get("function_response")):
        return Part(
            "result", raw(answer.get("response")), str(answer.get("name") or ""), str(answer.get("id") or ""), one
        )
    if text := document_text(one):
        return Part("text", text, "document", raw=one)
    media = kind in MEDIA or any(key in one for key in MEDIA)
    return Part("media" if media else "opaque", "", str(kind or next(iter(one), "")), raw=one)


def _content(one: Json) -> Any:
    """What a result holds besides its words."""
    for key in ("functionResponse", "function_response"):
        if isinstance(one.get(key), Mapping):
            return one[key].get("parts")
    result = mapping(one.get("toolResult")) or one
    return result.get("content") if one.get("type") == "tool_result" or "toolResult" in one else None


def inner_media(content: Any) -> list[Part]:
    """Return the pictures, sounds and files within the content of a result; one with words of its own is text."""
    items = map(given, content) if isinstance(content, list) else ()
    return [_part(one) for one in items if one and _part(one).kind == "media"]


def document_text(one: Json) -> str:
    """Return the words of a document or search result that carries them as text, empty for any other piece."""
    body = mapping(one.get("document") or one.get("searchResult")) or one
    if body is one and one.get("type") not in ("document", "search_result"):
        return ""
    source = body.get("source")
    if isinstance(source, Mapping):
        text = source.get("data") if source.get("type") == "text" else source.get("text")
        return str(text or "") or words(source.get("content"))
    return words(body.get("content"))


def words(content: Any) -> str:
    """Return the words of a content: text, a list of text parts, or JSON."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(map(_word, content)) if isinstance(content, list) else raw(content)


def _word(one: Any) -> str:
    if not isinstance(one, Mapping):
        return words(one)
    if isinstance(one.get("text"), str):
        return str(one["text"])
    return raw(one["json"]) if "json" in one else document_text(one)


def raw(value: Any) -> str:
    """Return a value as JSON text, a text as it is."""
    if isinstance(value, str) or value is None:
        return value or ""
    return json.dumps(value, ensure_ascii=False, default=str)


def mapping(value: Any) -> Json:
    """Return an object as it is, and an empty one for anything else."""
    return value if isinstance(value, Mapping) else {}


def dicts(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, null keys left out; an object stands for a list of one."""
    value = [value] if isinstance(value, Mapping) else value
    found = map(given, value) if isinstance(value, (list, tuple)) else ()
    return [one for one in found if one]


def _join(one: Json) -> str:
    return str(one.get("id") or one.get("toolUseId") or one.get("tool_use_id") or "")
