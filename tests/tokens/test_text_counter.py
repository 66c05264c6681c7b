"""Texts are counted once, definitions as their compact JSON."""

from __future__ import annotations

import pytest

from tests.builders import READ, TOOLS
from toolkit.tokens import text_counter as textcount
from toolkit.tokens.text_counter import TextCounter
from toolkit.tokens.vocabulary.tables import count_text
from toolkit.tool import definition_text


def test_a_text_counts_what_its_vocabulary_says() -> None:
    assert TextCounter().text("close the issue") == count_text("close the issue") > 0
    assert TextCounter().text("") == 0


def test_a_definition_counts_as_its_compact_json() -> None:
    assert TextCounter().definition(READ) == count_text(definition_text(READ))


def test_several_texts_and_definitions_add_up() -> None:
    counter = TextCounter()
    assert counter.texts(["a b", "c"]) == counter.text("a b") + counter.text("c")
    assert counter.definitions(TOOLS) == sum(map(counter.definition, TOOLS))


def test_a_distinct_text_is_tokenised_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(textcount, "count_text", lambda text, encoding_name: asked.append(text) or len(text))
    counter = TextCounter(keep=False)
    assert [counter.text("abc"), counter.text("abc"), counter.text("d")] == [3, 3, 1]
    assert asked == ["abc", "d"]


def test_the_name_says_the_vocabulary_and_that_it_is_of_texts_only() -> None:
    assert TextCounter("cl100k_base").name == "tiktoken/cl100k_base (texts only)"
    assert TextCounter.method == "estimate"
