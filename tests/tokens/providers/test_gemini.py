"""Gemini's tools are written in three ways, by version and host."""

from __future__ import annotations

from typing import Any

import pytest

from toolkit.tokens.providers.gemini import QUOTE, counter, declaration
from toolkit.tokens.request import Definition, Part
from toolkit.tokens.wire import request
from toolkit.tool import Tool

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}


def asked(model: str, host: str = "google", **body: Any) -> int:
    body.setdefault("contents", [{"role": "user", "parts": [{"text": "hello"}]}])
    return counter(model, host).count(request(body, "gemini", host, model)).tokens


@pytest.mark.parametrize(
    ("model", "host", "style"),
    [
        ("gemini-1.5-flash", "google", "words"),
        ("gemini-2.0-flash", "google", "words"),
        ("gemini-2.5-pro", "google", "python"),
        ("models/gemini-3-flash-preview", "google", "declaration"),
        ("gemini-3-flash", "vertex", "words"),
        ("gemini-flash-latest", "google", "declaration"),
    ],
)
def test_version_and_host_decide_how_tools_are_written(model: str, host: str, style: str) -> None:
    assert counter(model, host).style == style


def test_a_message_costs_one_more_on_the_developer_api_from_2_5_on() -> None:
    words = asked("gemini-2.0-flash")
    assert asked("gemini-2.5-flash") == asked("gemini-3-flash") == words + 1
    assert asked("gemini-2.5-flash", "vertex") == words


def test_a_bare_tool_costs_its_name_on_vertex_and_eighteen_more_on_the_developer_api() -> None:
    tool = Tool("get_images")
    name = counter("gemini-2.5-flash", "vertex").definition(tool).tokens
    assert counter("gemini-2.5-flash").definition(tool).tokens == 18 + name


def test_a_required_argument_costs_nine_and_twice_its_name() -> None:
    found = counter("gemini-2.5-flash")
    bare, name = found.definition(Tool("f")).tokens, found.words.count("city")
    assert found.definition(Tool("f", "", CITY)).tokens - bare == 9 + 2 * name
    assert found.definition(Tool("f", "", {**CITY, "required": []})).tokens - bare == 13 + 2 * name


def test_a_declaration_is_written_in_gemmas_syntax() -> None:
    text = declaration(Definition("f", "Does.", CITY)).replace(QUOTE, "'")
    assert text == (
        "declaration:f{description:'Does.',parameters:{properties:{city:{type:'STRING'}},required:['city'],type:'OBJECT'}}"
    )


def test_the_schema_of_an_answer_is_free() -> None:
    config = {"responseMimeType": "application/json", "responseJsonSchema": CITY}
    assert asked("gemini-2.5-flash", generationConfig=config) == asked("gemini-2.5-flash")


@pytest.mark.parametrize("model", ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash"])
def test_a_schema_that_refers_to_itself_ends(model: str) -> None:
    node = {"type": "object", "properties": {"kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}}}
    tool = Tool("f", "", {"$defs": {"Node": node}, "properties": {"root": {"$ref": "#/$defs/Node"}}})
    assert counter(model).definition(tool).tokens > 0


def test_a_signed_call_is_a_lower_bound() -> None:
    call = {"functionCall": {"name": "f", "args": {}}, "thoughtSignature": "xyz"}
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [call]}]
    signed = counter("gemini-3-flash").count(request({"contents": contents}, "gemini", "google", "gemini-3-flash"))
    assert signed.method == "not countable" and signed.high is None
    assert Part("call").raw is None
