"""Every provider, API and model has a counter; bad input has a count or a clear error."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import InputError
from toolkit.tokens.counters import counter, counter_for, notes, register
from toolkit.tokens.models import PROVIDERS, facts
from toolkit.tokens.providers.anthropic import AnthropicCounter
from toolkit.tokens.providers.gemini import GeminiCounter
from toolkit.tokens.providers.generic import GenericCounter, template
from toolkit.tokens.providers.openai import OpenAICounter
from toolkit.tokens.request import Count, Definition, Request, TokenCounter, exact
from toolkit.tokens.vocabulary.vocabulary import fit
from toolkit.tokens.wire import READERS, request
from toolkit.tool import Tool

MODELS = (
    "gpt-4o",
    "gpt-5",
    "claude-sonnet-4-5",
    "gemini-2.0-flash",
    "gemini-2.5-flash",
    "gemini-3-flash",
    "qwen3",
    "zeta-9",
)


@pytest.mark.parametrize(
    ("provider", "api", "model", "kind"),
    [
        (None, None, "gpt-5", OpenAICounter),
        ("azure", "chat", "gpt-4o", OpenAICounter),
        ("groq", "chat", "openai/gpt-oss-20b", GenericCounter),
        ("bedrock", "converse", "us.anthropic.claude-sonnet-4-5-v1:0", AnthropicCounter),
        ("vertex", None, "gemini-2.5-pro", GeminiCounter),
        ("openrouter", "chat", "google/gemini-2.5-flash", GenericCounter),
        (None, None, "zeta-unknown-9", GenericCounter),
    ],
)
def test_provider_api_and_model_find_their_counter(
    provider: str | None, api: str | None, model: str, kind: type
) -> None:
    assert isinstance(counter(provider, api, model), kind)


def test_an_unknown_model_gets_an_estimate_with_a_wide_band_that_says_so() -> None:
    found = counter(None, None, "zeta-unknown-9")
    count = found.count(request({"messages": [{"role": "user", "content": "hello world"}]}, "chat"))
    assert count.method == "estimate" and count.low < count.tokens < count.high
    assert "encoding_fallback" in notes(found) and notes(counter(None, None, "gpt-4o")) == ()


def test_openai_rules_at_another_host_are_no_longer_exact() -> None:
    assert counter("openrouter", "chat", "openai/gpt-4o").message("user", "hi").method == "calibrated"
    assert counter("azure", "chat", "gpt-4o").message("user", "hi").method == "exact-rules"


def test_a_registered_counter_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PROVIDERS.registered, "flat", None)

    class Flat:
        name, remainder = "flat", ""

        def count(self, request: Request) -> Count:
            return exact(1)

        def breakdown(self, request: Request) -> dict[str, Count]:
            return {"messages": exact(1)}

        def base(self) -> Count:
            return exact(0)

        def message(
            self,
            role: str,
            text: str = "",
            calls: Sequence[tuple[str, str]] = (),
            results: Sequence[tuple[str, str]] = (),
        ) -> Count:  # noqa: E501
            return exact(1)

        def definition(self, tool: Tool | Definition) -> Count:
            return exact(1)

        def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count:
            return exact(0)

    @register("flat")
    def flat(provider: str, api: str, model: str) -> TokenCounter | None:
        return Flat() if model == "flat-1" else None

    assert counter(None, None, "flat-1").name == "flat" and isinstance(counter(None, None, "gpt-4o"), OpenAICounter)


def test_every_fitted_template_is_complete_and_its_family_is_known() -> None:
    for key in fit("templates")["templates"]:
        provider, family = key.split("/")
        assert template(provider, family).slack > 0


def test_names_that_share_letters_keep_their_family() -> None:
    assert [facts(name).family for name in ("gpt-oss-120b", "gpt-4o", "Meta-Llama-3", "x")] == [
        "gpt-oss",
        "gpt-",
        "llama",
        "any",
    ]


BAD_TOOLS: list[Any] = [
    [], None, [{"name": "f"}], [{"name": "f", "description": None, "input_schema": None}], [{}], [None, 3, "x"],
    [{"name": "f", "input_schema": True}], [{"name": "f", "input_schema": {"properties": {"a": False, "b": True}}}],
    [{"name": "f", "input_schema": {"type": "array", "prefixItems": [{}, {"type": "x"}]}}],
    [{"name": "f", "input_schema": {"properties": {"a": {"$ref": "#/nowhere"}, "b": {"$ref": "http://x"}}}}],
    [{"name": "f", "input_schema": {"properties": {"a": {"anyOf": [{"type": "string"}, None, 1]}, "b": {"enum": []}}}}],
    [{"name": "f", "input_schema": {"properties": {"a": {"type": ["x", "null"], "default": None}}, "required": "a"}}],
    [{"name": "f\ud83c", "description": "lone \ud83c", "input_schema": {"properties": {"\ud83c": {"type": "string"}}}}],
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("tools", BAD_TOOLS, ids=range(len(BAD_TOOLS)))
def test_any_tools_have_a_count(model: str, tools: Any) -> None:
    body = {"messages": [{"role": "user", "content": None}, {"role": "assistant", "tool_calls": None}], "tools": tools}
    assert counter(None, None, model).count(request(body, "messages", "", model)).tokens >= 0
    assert counter(None, None, model).count(request(body, "chat", "", model)).tokens >= 0


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=8), inner, max_size=3)),
    max_leaves=10,
)


@given(st.sampled_from(MODELS), st.sampled_from(sorted(READERS)), json_values, json_values)
def test_any_json_in_a_request_is_a_count_or_a_clear_error(model: str, api: str, content: Any, tools: Any) -> None:
    body = {"messages": [{"role": "user", "content": content}], "tools": tools, "input": content, "contents": content}
    try:
        asked = request(body, api, "", model)
    except InputError:
        return
    assert counter_for(asked).count(asked).tokens >= 0


@pytest.mark.parametrize("model", ["gpt-4o", "claude-sonnet-4-5", "gemini-3-flash", "zeta-9"])
def test_a_result_of_ten_megabytes_is_counted_within_seconds(model: str) -> None:
    result = {"role": "tool", "tool_call_id": "c", "content": "row 17: ok, value=3.5\n" * 450_000}
    started = time.perf_counter()
    asked = request({"messages": [{"role": "user", "content": "hi"}, result]}, "chat", "", model)
    assert counter_for(asked).count(asked).tokens > 1_000_000
    assert time.perf_counter() - started < 60


def test_a_request_that_is_no_object_or_of_an_unknown_api_is_a_clear_error() -> None:
    with pytest.raises(InputError, match="JSON object"):
        request([], "chat")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="chat"):
        request({}, "smoke signals")
