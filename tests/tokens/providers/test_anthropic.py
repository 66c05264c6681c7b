"""Anthropic's prompts: a hidden prompt, wrapped definitions, calls as elements."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.tokens.providers.anthropic import AnthropicCounter, call_text, counter, family, references, tool_text
from toolkit.tokens.request import Definition, Part
from toolkit.tokens.wire import request
from toolkit.tool import Tool

MODEL = "claude-sonnet-4-5"
WEATHER = {"name": "get_weather", "description": "Weather.", "input_schema": {"type": "object", "properties": {}}}


def asked(messages: list[dict[str, Any]] | None = None, model: str = MODEL, **body: Any) -> int:
    messages = messages or [{"role": "user", "content": "hello"}]
    return counter(model).count(request({"model": model, "messages": messages, **body}, "messages", "anthropic")).tokens


@pytest.mark.parametrize(
    ("model", "auto", "named_any"),
    [
        ("claude-sonnet-4-5", 497, 589),
        ("claude-opus-4-8", 290, 410),
        ("claude-opus-4-7", 675, 804),
        ("claude-opus-4-1", 314, 316),
    ],
)
def test_the_hidden_prompt_depends_on_the_family_and_the_choice(model: str, auto: int, named_any: int) -> None:
    found = counter(model)
    assert found.tools_overhead(1).tokens == auto
    assert found.tools_overhead(1, choice="required").tokens == named_any
    assert found.tools_overhead(0).tokens == 0


def test_bedrock_and_vertex_names_find_their_family() -> None:
    assert family("us.anthropic.claude-sonnet-4-20250514-v1:0") == family("claude-sonnet-4-0")
    assert family("claude-opus-4-5@20251101") == family("claude-opus-4-5")


def test_declaring_a_tool_costs_the_hidden_prompt_and_its_own_text() -> None:
    found: AnthropicCounter = counter(MODEL)
    tool = Tool("get_weather", "Weather.", WEATHER["input_schema"])
    assert asked(tools=[WEATHER]) - asked() == 497 + found.definition(tool).tokens


def test_cache_markers_and_strict_are_free() -> None:
    marked = {**WEATHER, "cache_control": {"type": "ephemeral"}, "strict": True}
    assert asked(tools=[marked]) == asked(tools=[WEATHER])


def test_a_deferred_tool_is_outside_the_prefix() -> None:
    deferred = {**WEATHER, "name": "other", "defer_loading": True}
    assert asked(tools=[WEATHER, deferred]) == asked(tools=[WEATHER])


def test_a_found_definition_is_expanded_where_it_was_found() -> None:
    deferred = {**WEATHER, "name": "other", "defer_loading": True}
    call = {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "get_weather", "input": {}}]}
    content = [{"type": "tool_reference", "tool_name": "other"}]
    answer = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]}
    messages = [{"role": "user", "content": "hello"}, call, answer]
    nothing = [*messages[:2], {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": []}]}]
    more = asked(messages, tools=[WEATHER, deferred]) - asked(nothing, tools=[WEATHER, deferred])
    definition = counter(MODEL).definition(Definition("other", "Weather.", WEATHER["input_schema"]))
    assert more == 10 + definition.tokens


def test_references_of_a_plain_result_are_none() -> None:
    assert references(Part("result", "text", raw={"content": "text"})) == []


def test_a_call_is_written_with_an_element_an_argument() -> None:
    text = call_text("f", '{"city": "Rome", "days": 3}')
    assert '="city">Rome</' in text and '="days">3</' in text and call_text("f", "broken")


def test_a_schema_that_is_missing_is_an_empty_object() -> None:
    assert tool_text(Definition("f")) == '<function>{"name": "f", "parameters": {}}</function>\n'


def test_the_band_holds_the_count_and_says_how_it_was_made() -> None:
    found = counter(MODEL).count(
        request({"messages": [{"role": "user", "content": "hi"}]}, "messages", "anthropic", MODEL)
    )
    assert found.low <= found.tokens <= found.high
    assert found.method == ("calibrated" if counter(MODEL).words.real else "estimate")
