"""OpenAI's rules count what OpenAI bills."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.tokens.providers.openai import OpenAICounter
from toolkit.tokens.providers.openai_family import family, named
from toolkit.tokens.request import Count, Definition, total
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tokens.wire import request
from toolkit.tool import Tool

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOL = {"type": "function", "function": {"name": "get_weather", "description": "Weather.", "parameters": CITY}}


def chat(model: str = "gpt-4o", **body: Any) -> int:
    found = OpenAICounter(model, "chat", family(model) or named("4"))
    return found.count(request({"model": model, **body}, "chat", "openai")).tokens


def responses(model: str, **body: Any) -> int:
    found = OpenAICounter(model, "responses", family(model) or named("4"))
    return found.count(request({"model": model, **body}, "responses", "openai")).tokens


def user(text: str) -> list[dict[str, Any]]:
    return [{"role": "user", "content": text}]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-4o-mini", "4"),
        ("openai/gpt-4.1", "4"),
        ("gpt-4", "classic"),
        ("gpt-3.5-turbo", "classic"),
        ("gpt-5", "harmony"),
        ("gpt-5.4-nano", "harmony-5.4"),
        ("gpt-5-chat-latest", "4"),
        ("o4-mini", "o4"),
        ("o3-mini", "o3"),
    ],
)
def test_a_model_belongs_to_its_family(model: str, expected: str) -> None:
    assert family(model) is named(expected)


def test_a_name_that_is_not_openais_has_no_family() -> None:
    assert family("zeta") is None


def test_an_older_deployment_has_a_family_of_its_own() -> None:
    assert family("o4-mini", "azure") is named("o4-azure")


def test_a_message_costs_three_its_role_and_its_words() -> None:
    assert chat(messages=user("hello world")) == 3 + 3 + 1 + 2
    assert chat("gpt-5", messages=user("hello world")) == 2 + 3 + 1 + 2


def test_an_earlier_answer_costs_two_more_in_harmony() -> None:
    turns = [*user("a"), {"role": "assistant", "content": "b"}, *user("c")]
    assert chat("gpt-5", messages=turns) - chat("gpt-4o", messages=turns) == -1 + 2


def test_the_same_call_costs_eighty_two_more_over_chat_than_over_responses() -> None:
    tool = {"type": "function", "name": "get_weather", "description": "Weather.", "parameters": CITY}
    over_chat = chat("gpt-5", messages=user("hi"), tools=[CHAT_TOOL])
    assert over_chat - responses("gpt-5", input="hi", tools=[tool]) == 82


def test_keys_that_the_model_never_reads_cost_nothing() -> None:
    strict = {**CITY, "additionalProperties": False}
    tool = {"type": "function", "function": {**CHAT_TOOL["function"], "parameters": strict, "strict": True}}
    assert chat(messages=user("hi"), tools=[tool]) == chat(messages=user("hi"), tools=[CHAT_TOOL])


def test_a_named_tool_choice_costs_seven_and_its_name() -> None:
    named = {"type": "function", "function": {"name": "get_weather"}}
    more = chat(messages=user("hi"), tools=[CHAT_TOOL], tool_choice=named) - chat(
        messages=user("hi"), tools=[CHAT_TOOL]
    )
    assert more == 7 + count_text("get_weather")


def test_forbidding_parallel_calls_costs_seventeen_or_thirteen() -> None:
    for model, price in (("gpt-4o", 17), ("gpt-5", 13)):
        plain = chat(model, messages=user("hi"), tools=[CHAT_TOOL])
        assert chat(model, messages=user("hi"), tools=[CHAT_TOOL], parallel_tool_calls=False) - plain == price


def test_a_call_and_its_result_are_one_pair_whose_arguments_are_compacted() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{ "city": "Rome" }'}}
    pair = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
    ]
    texts = ("functions.get_weather", '{"city":"Rome"}', "get_weather", "sunny")
    assert chat(messages=[*user("hi"), *pair]) - chat(messages=user("hi")) == 12 + sum(map(count_text, texts))


def test_a_stored_item_costs_three_more_than_one_without_an_id() -> None:
    def pair(**more: str) -> list[dict[str, Any]]:
        call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}", **more}
        return [call, {"type": "function_call_output", "call_id": "c", "output": "ok"}]

    assert responses("gpt-5", input=pair(id="fc_1")) - responses("gpt-5", input=pair()) == 3
    assert responses("gpt-5.4", input=pair(id="fc_1")) == responses("gpt-5.4", input=pair())


def test_the_breakdown_adds_up_and_names_its_parts() -> None:
    asked = request({"messages": user("hi"), "tools": [CHAT_TOOL]}, "chat", "openai", "gpt-4o")
    found = OpenAICounter("gpt-4o", "chat", named("4"))
    parts = found.breakdown(asked)
    assert {"base", "messages", "tools"} <= parts.keys() and total(parts.values()) == found.count(asked)


def test_a_picture_is_counted_as_media_and_never_as_text() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "QUJD" * 50_000}}
    asked = request({"messages": [{"role": "user", "content": [picture]}]}, "chat", "openai", "gpt-4o")
    parts = OpenAICounter("gpt-4o", "chat", named("4")).breakdown(asked)
    assert parts["images"].method == "not countable" and 0 < parts["images"].tokens < 10_000
    assert parts["images"].high is None


names = st.from_regex(r"[a-z]{1,6}(_[a-z]{1,6})?", fullmatch=True)
tools = st.lists(st.builds(Tool, names, st.sampled_from(["", "Does it."]), st.sampled_from([None, CITY])), max_size=5)
texts = st.sampled_from(["hello", "Be terse.", "a\n\nb", "{}"])


@given(
    st.sampled_from(["gpt-4o", "gpt-4", "gpt-5", "gpt-5.4", "o3"]),
    st.sampled_from(["chat", "responses"]),
    tools,
    st.lists(texts, min_size=1, max_size=4),
)
def test_the_pieces_add_up_to_the_whole_request(model: str, api: str, some: list[Tool], said: list[str]) -> None:
    found = OpenAICounter(model, api, family(model) or named("4"))
    messages = [{"role": "user", "content": one} for one in said]
    body = {"messages": messages} if api == "chat" else {"input": messages}
    declared = [_sent(Definition.of(tool), api) for tool in some]
    whole = found.count(request({**body, "tools": declared}, api, "openai", model))
    pieces: list[Count] = [found.base(), *(found.message("user", one) for one in said), *map(found.definition, some)]
    overhead = found.tools_overhead(len(some), has_system=False, described=bool(some and some[0].description))
    assert (total(pieces) + overhead).tokens == whole.tokens


def _sent(tool: Definition, api: str) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function} if api == "chat" else {"type": "function", **function}
