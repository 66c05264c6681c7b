"""A vocabulary whose package is missing has a stand-in that says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import MissingExtraError, UnknownNameError
from toolkit.tokens.vocabulary import vocabulary as vocabularies
from toolkit.tokens.vocabulary.vocabulary import NAMES, Vocabulary, fit, stand_ins, text_count, vocabulary


@pytest.mark.parametrize("name", NAMES)
def test_every_name_can_be_counted_with_or_without_its_package(name: str) -> None:
    found = vocabulary(name)
    assert found.count("hello world") >= 2 and found.count("") == 0
    assert found.real == (found.spread == 0)


def test_an_unknown_vocabulary_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="gemma3"):
        vocabulary("gemma")


def test_a_stand_in_scales_and_widens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocabularies, "find_spec", lambda name: None)
    found = vocabularies.vocabulary.__wrapped__("gemma3")
    assert (found.actual, found.real) == (stand_ins()["gemma3"][0]["with"], False)
    assert found.scale > 1 and found.spread > 0.01


def test_the_fitted_stand_ins_name_their_source() -> None:
    assert {"what", "method", "made", "sources"} <= fit("vocabularies").keys()


def test_one_failed_load_does_not_leave_later_texts_at_an_estimate() -> None:
    outcomes = iter([False, True])

    def load(name: str) -> Vocabulary:
        if next(outcomes):
            return vocabulary(name)
        raise MissingExtraError("the vocabulary", "tokenizers")

    assert [text_count("hello world", load=load).method for _ in range(2)] == ["estimate", "exact-rules"]


def _whole() -> Callable[[str], int]:
    ctok = pytest.importorskip("ctok")
    frame = int(ctok.token_count("a")) - 1
    return lambda text: int(ctok.token_count(text)) - frame


@given(
    st.lists(
        st.sampled_from(["get", "_", "weather", '": "', " ", "{", "}", "user's", "\n", ". ", "A", "1"]), max_size=30
    )
)
def test_claude_counts_by_fragments_as_it_counts_the_whole_text(parts: list[str]) -> None:
    text = "x" + "".join(parts) + "x"
    assert abs(vocabulary("claude-3").count(text) - _whole()(text)) <= 1 + len(text) // 60


def test_claude_has_the_counts_that_were_billed() -> None:
    _whole()
    assert vocabulary("claude-3").count("hello, world") == 3
