"""A request counts the same as a dict, as an SDK's models, and as their dumps."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from toolkit.tokens.counters import counter_for
from toolkit.tokens.plain import plain
from toolkit.tokens.wire import request


class NotGiven:
    """Named as the value by which SDKs say that a parameter was left out."""


class Kind(Enum):
    OBJECT = "OBJECT"
    STRING = "STRING"


class Model:
    """Has what readers use of a pydantic model."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, exclude_unset: bool = False, by_alias: bool = False) -> dict[str, Any]:
        return dict(self.fields) if exclude_unset else {"refusal": None, "audio": None, **self.fields}


def tokens(body: Any, api: str, provider: str, model: str) -> int:
    asked = request(body, api, provider, model)
    return counter_for(asked).count(asked).tokens


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}}
ANSWER: dict[str, Any] = {"role": "assistant", "content": None, "tool_calls": [CALL]}
TOOL = {"type": "function", "function": {"name": "f", "description": "F.", "parameters": {"type": "object"}}}


def chat(answer: Any, **more: Any) -> int:
    messages = [{"role": "user", "content": "hi"}, answer, {"role": "tool", "tool_call_id": "c1", "content": "ok"}]
    return tokens({"messages": messages, "tools": [TOOL], **more}, "chat", "openai", "gpt-4o")


def test_a_chat_request_of_models_and_values_not_given_counts_as_its_dicts() -> None:
    model = Model(**ANSWER)
    assert (
        chat(ANSWER) == chat(model) == chat(model.model_dump()) == chat(model, tool_choice=NotGiven(), stop=NotGiven())
    )


def test_a_responses_call_that_was_dumped_has_no_id() -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "ok"}
    dumped = {"id": None, "status": None, "namespace": None, **call}
    assert len({tokens({"input": [one, output]}, "responses", "openai", "gpt-5") for one in (call, dumped)}) == 1


NULLS = {"any_of": None, "default": None, "enum": None, "format": None}
SNAKE = {
    "system_instruction": "Be brief.",
    "tools": [{"google_search": None, "function_declarations": [{
        "name": "f", "description": "d", "response": None, "parameters": {
            "type": Kind.OBJECT, "properties": {"x": {"type": Kind.STRING, "description": "which", **NULLS}}, **NULLS,
        },
    }]}],
}  # fmt: skip
CAMEL = {
    "systemInstruction": {"parts": [{"text": "Be brief."}]},
    "tools": [{"functionDeclarations": [{
        "name": "f", "description": "d", "parameters": {
            "type": "OBJECT", "properties": {"x": {"type": "STRING", "description": "which"}},
        },
    }]}],
}  # fmt: skip


@pytest.mark.parametrize("model", ["gemini-2.0-flash", "gemini-2.5-flash", "gemini-3-flash"])
def test_a_gemini_request_counts_the_same_over_the_wire_and_into_the_sdk(model: str) -> None:
    wire = tokens({"contents": [{"role": "user", "parts": [{"text": "hi"}]}], **CAMEL}, "gemini", "google", model)
    for contents in ("hi", ["hi"], [{"text": "hi", "inline_data": None}], [{"role": None, "parts": [{"text": "hi"}]}]):
        assert tokens({"contents": contents, "config": SNAKE}, "gemini", "google", model) == wire


def test_a_class_stands_for_the_schema_that_is_sent() -> None:
    class Answer:
        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return {"type": "object", "properties": {"x": {"type": "string"}}}

    form = {"type": "json_schema", "json_schema": {"name": "Answer", "schema": Answer.model_json_schema()}}
    assert chat(ANSWER, response_format=Answer) == chat(ANSWER, response_format=form)


def test_null_arguments_of_a_call_stay() -> None:
    assert plain({"input": {"a": None}}) == {"input": {"a": None}}


def test_the_openai_sdks_own_values_are_left_out() -> None:
    openai = pytest.importorskip("openai")
    assert plain({"tools": openai.NOT_GIVEN, "model": "m"}) == {"model": "m"}
