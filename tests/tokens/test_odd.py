"""What is odd about a request is said in a line, and the rest is counted."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolkit.tokens.counters import counter_for
from toolkit.tokens.odd import oddities
from toolkit.tokens.request import Count
from toolkit.tokens.wire import request

PLAIN: dict[str, Any] = {
    "type": "function",
    "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}},
}


def chat(*tools: Any, calls: Any = None, **body: Any) -> Any:
    messages = [{"role": "user", "content": "hi"}, *([{"role": "assistant", "tool_calls": calls}] if calls else [])]
    return request({"messages": messages, "tools": list(tools), **body}, "chat", "openai", "gpt-4o")


def count(asked: Any) -> Count:
    return counter_for(asked).count(asked)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (chat({"type": "function", "function": {"description": "No name."}}), "tool 0 has no name"),
        (chat({"type": "function", "function": {"name": "f", "parameters": []}}), "'f' is a list"),
        (chat(tools={}), "tools is an object"),
        (chat({"type": "hologram_2027"}), "not countable, hosted tool: hologram_2027"),
        (chat(len), "a tool is builtin_function_or_method"),
        (chat(calls=[{"id": "c", "function": {"name": "f", "arguments": "{no"}}]), "no JSON"),
    ],
)
def test_it_is_said_in_one_line_and_the_rest_is_counted(asked: Any, said: str) -> None:
    (line,) = oddities(asked)
    assert said in line and "\n" not in line and count(asked).tokens >= 8


def test_a_request_as_it_should_be_has_nothing_odd() -> None:
    assert oddities(chat(PLAIN)) == []


def test_no_tools_as_an_object_cost_nothing() -> None:
    assert count(chat(tools={})) == count(chat())


def test_a_large_data_url_is_counted_at_once() -> None:
    url = "data:image/png;base64," + "QUJD" * 2_600_000
    piece = {"type": "image_url", "image_url": {"url": url}}
    started = time.process_time()
    found = count(request({"messages": [{"role": "user", "content": [piece]}]}, "chat", "openai", "gpt-4o"))
    assert found.method == "not countable" and found.tokens < 100 and time.process_time() - started < 2
