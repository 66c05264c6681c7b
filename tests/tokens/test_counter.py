"""Texts and definitions are counted once; a message counts by its role, calls and answers."""

from __future__ import annotations

import pytest

from tests.builders import READ, TOOLS
from toolkit.session import Call, Result
from toolkit.tokens.counter import Counter, counter_of
from toolkit.tokens.counters import counter
from toolkit.tokens.providers.openai import OpenAICounter
from toolkit.tokens.providers.texts import TextsOnly, public
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tokens.wire import request
from toolkit.tool import Tool, definition_text

LOOKED = Call("c1", "look", {"at": "tide"}, result=Result("high water"))


def test_a_text_costs_its_words_without_the_frame_of_a_message() -> None:
    assert counter_of("gpt-4o").text("hello world") == 2 and counter_of("gpt-4o").text("") == 0


def test_an_equal_definition_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Tool] = []
    plain = OpenAICounter.definition
    monkeypatch.setattr(OpenAICounter, "definition", lambda self, tool: asked.append(tool) or plain(self, tool))
    found = Counter(counter(None, None, "gpt-4o"))
    one, same = (Tool("read", "Reads.", {"type": "object"}) for _ in range(2))
    assert found.definition(one) == found.definition(same) > 0 and asked == [one]
    assert found.definitions(TOOLS) == sum(map(found.definition, TOOLS))


def test_the_same_rules_share_what_is_counted() -> None:
    assert counter_of("gpt-4o") is counter_of("gpt-4o") is not counter_of("gpt-4.1")
    assert counter_of() is counter_of(None)


def test_the_overhead_is_paid_once_and_only_with_tools() -> None:
    found = counter_of("claude-sonnet-4-5")
    assert found.overhead(0) == 0 and found.overhead(1) == found.overhead(9) == 497


def test_a_message_counts_as_its_provider_counts_it() -> None:
    found, rules = counter_of("gpt-4o"), counter(None, None, "gpt-4o")
    assert found.message("assistant", "") == 0 < found.base()
    said = rules.message("assistant", "Let me see.", [("look", '{"at":"tide"}')])
    answered = rules.message("tool", "", (), [("look", "high water")])
    assert found.message("assistant", "Let me see.", [LOOKED]) == said.tokens + answered.tokens
    assert found.method == "exact-rules" and found.name == "openai/chat/gpt-4o"


def test_without_a_model_texts_alone_count() -> None:
    found = counter_of(None)
    assert found.text("close the issue") == count_text("close the issue")
    assert found.definition(READ) == count_text(definition_text(READ))
    words = ("Let me see.", '{"name":"look","arguments":{"at":"tide"}}', "high water")
    assert found.message("assistant", words[0], [LOOKED]) == sum(map(count_text, words))
    assert found.base() == found.overhead(3) == 0 and found.method == "estimate"
    assert found.name == "tiktoken/o200k_base (texts only)"


def test_texts_alone_add_up_to_the_request() -> None:
    calls = [{"id": "c", "function": {"name": "look", "arguments": "half {"}}]
    said = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yes", "tool_calls": calls}]
    asked = request({"messages": said, "tools": [{"function": {"name": "f", "parameters": {}}}]}, "chat")
    texts = ("hi", "yes", '{"name":"look","arguments":"half {"}', '{"name":"f","description":"","parameters":{}}')
    assert TextsOnly().count(asked).tokens == sum(map(count_text, texts))


def test_a_distinct_text_is_tokenised_once() -> None:
    asked: list[str] = []
    words = public("cl100k_base", keep=False)
    rules = TextsOnly(words.__class__("letters", "letters", lambda text: asked.append(text) or len(text)))
    found = Counter(rules)
    assert [found.text("abc"), found.text("abc"), found.text("d")] == [3, 3, 1]
    assert asked == ["abc", "d"] and Counter(TextsOnly(words)).name == "tiktoken/cl100k_base (texts only)"
