"""Frozen records of what was recorded."""

from __future__ import annotations

import dataclasses
import pickle
from typing import Any

import pytest

from tests.builders import BRANCH, READ, call, said, session, turn
from toolkit.session import Call, Pass, Session, Turn, digest_of, moments, text_of
from toolkit.tool import Catalog


def test_the_words_of_a_message_are_its_text_parts() -> None:
    parts = (
        {"type": "text", "text": "a"},
        {"type": "image"},
        {"type": "text", "text": None},
        {"type": "text", "text": "b"},
    )
    assert text_of(parts) == "a\n\nb"
    assert (text_of(None), text_of("x")) == ("", "x")


def test_arguments_stand_as_the_model_wrote_them() -> None:
    assert Call("c", "x", {"a": 1}).arguments_text == '{"a":1}'
    assert Call("c", "x", raw_arguments="").arguments_text == ""


def test_a_session_walks_its_passes_and_calls_in_order() -> None:
    made = session(turn("a", said("1", call(READ.name)), said("2")), turn("b", said("3", call(BRANCH.name))))
    assert [one.words for one in made.passes()] == ["1", "2", "3"]
    assert [one.name for one in made.calls()] == [READ.name, BRANCH.name]
    assert repr(made) == "Session('s', 2 turns, 3 passes, 2 calls, 4 tools)"


def test_records_are_frozen_and_survive_pickling() -> None:
    made = session(turn("a", said("1", call(READ.name))))
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.id = "x"  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(made)) == made


def test_where_a_session_was_read_from_is_no_part_of_what_it_is() -> None:
    assert session(source="a:1", digest="x") == session(source="b:2", digest="y")


def test_the_digest_of_a_session_made_in_memory_is_of_what_it_holds_and_does_not_change_with_use() -> None:
    one, same = (session(turn("a", said("1", call(READ.name)))) for _ in range(2))
    before = digest_of(one)
    assert hash(one.catalog) and one.catalog.tools and one.catalog.digest
    assert digest_of(one) == before == digest_of(same) == digest_of(pickle.loads(pickle.dumps(one)))


@pytest.mark.parametrize(
    "change",
    [{"model": "gpt-5"}, {"turns": ()}, {"system": "be brief"}, {"extra": {"a": 1}}, {"id": "t"}, {"parent": "p"}],
)
def test_whatever_a_session_holds_makes_another_digest(change: dict[str, Any]) -> None:
    made = session(turn("a"))
    assert digest_of(dataclasses.replace(made, **change)) != digest_of(made)


def test_the_digest_of_a_session_that_was_read_is_that_of_its_text() -> None:
    assert digest_of(session(digest="x")) == digest_of(session(turn("a"), digest="x")) == "x"


def test_the_moments_of_a_recording_are_in_utc_and_what_is_no_time_is_left_out() -> None:
    told = Session(
        "s",
        Catalog(),
        (
            Turn(
                "look",
                (Pass("yes", timestamp="2026-03-01T10:00:00+02:00"), Pass("no")),
                timestamp="2026-03-01T07:59:00",
            ),
            Turn("again", (Pass("so", timestamp="yesterday"),)),
        ),
    )
    assert [moment.isoformat() for moment in moments(told)] == [
        "2026-03-01T07:59:00+00:00",
        "2026-03-01T08:00:00+00:00",
    ]
