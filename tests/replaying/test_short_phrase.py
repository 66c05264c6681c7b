"""A short phrase holds the words that carry meaning, in their order, and no name that a search would have to give."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.replaying.query_models import Seen, query_model
from toolkit.replaying.short_phrase import ShortPhrase


def phrase(words: str, most: int = 12) -> str:
    return ShortPhrase(most)(Seen(words, ""))[0]


@pytest.mark.parametrize(
    ("words", "left"),
    [
        ("Perfect! Now let me search for file writing tools to create the report:", "file writing create report"),
        ("I'll check the weather in Beijing. Let me find the appropriate tools first.", "check weather Beijing"),
        ("Let me call `git_log` and then read_file on /root/a/b.txt or https://x.org/a", "call"),
        ("Let me use list_pull_requests to list pull requests", "list pull requests"),
        ("Copy the file. Copy the FILE now.", "Copy FILE"),
        ("Jetzt suche ich Züge nach Köln", "Jetzt suche ich Züge nach Köln"),
        ("现在查询天气", "现在查询天气"),
    ],
)
def test_what_is_left_is_what_carries_meaning(words: str, left: str) -> None:
    assert phrase(words) == left


def test_whole_sentences_are_taken_from_the_end_for_as_long_as_they_fit() -> None:
    assert phrase("Plan a trip. Book cheap hotels. Send bills", 4) == "Send bills"
    assert phrase("Plan a trip. Book cheap hotels. Send bills", 5) == "Book cheap hotels Send bills"
    assert phrase("one tiny two three four five six", 3) == "tiny two three"


def test_the_pass_comes_first_then_the_input_then_what_was_said_last() -> None:
    assert ShortPhrase()(Seen("book a hotel", "I want Rome", "which town?")) == ["book hotel", "Rome", "town"]


def test_where_nothing_carries_meaning_own_words_are_asked() -> None:
    assert ShortPhrase()(Seen("Okay, let me do it.", "yes")) == ["yes"]
    assert ShortPhrase()(Seen("Let me use the tool.", "")) == ["Let me use the tool."]
    assert ShortPhrase()(Seen("", "")) == []


@given(st.text(), st.integers(1, 20))
def test_a_phrase_is_never_longer_than_it_may_be_and_never_has_more_than_one_line(words: str, most: int) -> None:
    for one in ShortPhrase(most)(Seen(words, "")):
        assert one == words.strip() or (len(one.split()) <= most and "\n" not in one)


def test_its_repr_is_its_spec() -> None:
    assert repr(query_model("short_phrase")) == "short_phrase(words=12)"
    assert query_model(repr(ShortPhrase(3))) == ShortPhrase(3)
