"""Pictures and words within results and documents are counted, wherever an API lets them stand."""

from __future__ import annotations

import base64
import struct
from typing import Any

import pytest

from toolkit.tokens.counters import counter_for
from toolkit.tokens.request import Count
from toolkit.tokens.wire import request

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", 512, 512)).decode()
URL = f"data:image/png;base64,{PNG}"
SOURCE = {"type": "base64", "media_type": "image/png", "data": PNG}


def anthropic(*content: Any) -> dict[str, Any]:
    use = {"type": "tool_use", "id": "t", "name": "f", "input": {}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": list(content)}
    return {"messages": [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]}


def chat(content: Any) -> dict[str, Any]:
    call = {"id": "t", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    return {
        "messages": [
            {"role": "assistant", "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "t", "content": content},
        ]
    }


def responses(output: Any) -> dict[str, Any]:
    call = {"type": "function_call", "call_id": "t", "name": "f", "arguments": "{}"}
    return {"input": [call, {"type": "function_call_output", "call_id": "t", "output": output}]}


def gemini(*parts: Any) -> dict[str, Any]:
    answer = {"functionResponse": {"name": "f", "response": {}, "parts": list(parts)}}
    return {"contents": [{"role": "user", "parts": [answer]}]}


def count(body: Any, api: str, provider: str, model: str) -> Count:
    asked = request(body, api, provider, model)
    return counter_for(asked).count(asked)


WITH_PICTURE = [
    ("messages", "anthropic", "claude-sonnet-4-5", anthropic(), anthropic({"type": "image", "source": SOURCE})),
    ("chat", "openai", "gpt-4o", chat([]), chat([{"type": "image_url", "image_url": {"url": URL}}])),
    ("responses", "openai", "gpt-4o", responses([]), responses([{"type": "input_image", "image_url": URL}])),
    ("gemini", "google", "gemini-2.5-flash", gemini(), gemini({"inlineData": {"mimeType": "image/png", "data": PNG}})),
]


@pytest.mark.parametrize(
    ("api", "provider", "model", "without", "with_one"), WITH_PICTURE, ids=lambda one: str(one)[:9]
)
def test_a_picture_in_a_result_costs_its_tokens(
    api: str, provider: str, model: str, without: Any, with_one: Any
) -> None:
    less, more = count(without, api, provider, model), count(with_one, api, provider, model)
    assert more.tokens - less.tokens > 200 and more.method == "calibrated" and more.high is not None


LONG = "The moon is made of basalt and anorthosite. " * 10
DOCUMENTS = [
    {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": LONG}},
    {"type": "document", "source": {"type": "content", "content": [{"type": "text", "text": LONG}]}},
    {
        "type": "search_result",
        "source": "https://example.com",
        "title": "Moon",
        "content": [{"type": "text", "text": LONG}],
    },
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=["text", "content", "search_result"])
def test_the_words_of_a_document_are_counted_alone_and_in_a_result(document: Any) -> None:
    alone = {"messages": [{"role": "user", "content": [document]}]}
    words = count({"messages": [{"role": "user", "content": LONG}]}, "messages", "anthropic", "claude-sonnet-4-5")
    found = count(alone, "messages", "anthropic", "claude-sonnet-4-5")
    inside = count(anthropic(document), "messages", "anthropic", "claude-sonnet-4-5")
    assert found.tokens >= words.tokens and inside.tokens > words.tokens and found.method == "estimate"


def test_cited_sources_are_not_countable() -> None:
    cited = {**DOCUMENTS[2], "citations": {"enabled": True}}
    found = count({"messages": [{"role": "user", "content": [cited]}]}, "messages", "anthropic", "claude-sonnet-4-5")
    assert found.method == "not countable" and found.high is None


def functions(n: int) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"id": {"type": "string"}}}
    return [{"type": "function", "name": f"get_{at}", "description": "Gets.", "parameters": schema} for at in range(n)]


def test_the_functions_of_a_namespace_are_counted_and_listed() -> None:
    counts = []
    for n in (1, 50, 400):
        body = {"input": "hi", "tools": [{"type": "namespace", "name": "crm", "tools": functions(n)}]}
        asked = request(body, "responses", "openai", "gpt-5")
        assert len(asked.tools) == n + 1
        counts.append(counter_for(asked).count(asked).tokens)
    assert counts[0] < counts[1] / 10 < counts[2] / 40


@pytest.mark.parametrize("contents", ["hello world", ["hello world"], [{"text": "hello world"}]])
def test_gemini_contents_may_be_bare_texts(contents: Any) -> None:
    whole = [{"role": "user", "parts": [{"text": "hello world"}]}]
    bare = {"contents": contents, "systemInstruction": "Be brief."}
    full = {"contents": whole, "systemInstruction": {"parts": [{"text": "Be brief."}]}}
    assert count(bare, "gemini", "google", "gemini-2.5-flash") == count(full, "gemini", "google", "gemini-2.5-flash")


def test_a_mark_for_the_cache_is_free() -> None:
    said = [{"text": "hi"}, {"cachePoint": {"type": "default"}}]
    marked = {"messages": [{"role": "user", "content": said}]}
    plain = {"messages": [{"role": "user", "content": said[:1]}]}
    assert count(marked, "converse", "bedrock", "nova") == count(plain, "converse", "bedrock", "nova")
