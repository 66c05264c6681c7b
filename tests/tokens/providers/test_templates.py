"""A chat template that is at hand is rendered, and what comes out is counted."""

from __future__ import annotations

import pytest

from toolkit.errors import InputError
from toolkit.tokens.providers.templates import counter, rendered
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tokens.wire import request
from toolkit.tool import Tool

pytest.importorskip("jinja2")

SOURCE = """{%- if tools %}<|sys|>{% for tool in tools %}
{{ tool | tojson }}{% endfor %}{% endif -%}
{%- for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls or [] %}
{{ c.function.name }}({{ c.function.arguments | tojson }}){% endfor %}{% endfor %}
{%- if add_generation_prompt %}<|assistant|>{% endif %}"""
SPECIALS = ["<|sys|>", "<|user|>", "<|assistant|>", "<|tool|>"]


def test_a_request_costs_its_rendered_text_special_tokens_one_each() -> None:
    found = counter("m", SOURCE, "o200k_base", SPECIALS)
    asked = request({"messages": [{"role": "user", "content": "hello world"}]}, "chat", model="m")
    assert found.count(asked).tokens == 1 + count_text("hello world") + 1


def test_tools_and_calls_are_rendered_too() -> None:
    call = {"id": "c", "function": {"name": "f", "arguments": '{"a": 1}'}}
    body = {
        "messages": [{"role": "assistant", "content": "", "tool_calls": [call]}],
        "tools": [{"function": {"name": "f"}}],
    }
    found = counter("m", SOURCE, "o200k_base", SPECIALS)
    parts = found.breakdown(request(body, "chat", model="m"))
    assert parts["tools"].tokens > 5 and parts["messages"].tokens == 2 + count_text('f({"a": 1})')


def test_pieces_add_up_where_the_template_is_additive() -> None:
    found = counter("m", SOURCE, "o200k_base", SPECIALS)
    tool = Tool("f", "Does.", {"type": "object", "properties": {}})
    sent = {"name": "f", "description": "Does.", "parameters": {"type": "object", "properties": {}}}
    body = {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "function", "function": sent}]}
    pieces = found.base() + found.message("user", "hi") + found.tools_overhead(1) + found.definition(tool)
    assert abs(pieces.tokens - found.count(request(body, "chat", model="m")).tokens) <= 2


def test_a_template_cannot_reach_out_of_its_sandbox() -> None:
    with pytest.raises(InputError, match="could not be rendered"):
        rendered("{{ messages.__class__.__mro__[1].__subclasses__() }}", [])


def test_a_template_that_is_no_jinja_or_refuses_says_so() -> None:
    with pytest.raises(InputError, match="could not be rendered"):
        rendered("{% for %}", [])
    with pytest.raises(InputError, match="no system"):
        rendered("{{ raise_exception('no system') }}", [])
