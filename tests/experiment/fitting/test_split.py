"""Splits that cannot leak: groups stand on one side, time is kept, and too little is an error."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import DATASET, said, session, turn
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.fitting.split import split, task_of
from toolkit.formats.sessions import load_sessions
from toolkit.session import Session


def at(id: str, start: int, end: int, words: str = "", **more: Any) -> Session:
    """Return a session that ran from one minute to another."""
    when = [f"2026-03-01T10:{minute:02}:00+00:00" for minute in (start, end)]
    first = said("", timestamp=when[0])
    return session(turn(words or f"do {id}", first, said("", timestamp=when[1])), id=id, **more)


def ids(sessions: Any) -> list[str]:
    return [one.id for one in sessions]


def codes(sessions: Any) -> list[str]:
    return [one.code for one in sessions.problems]


def test_by_time_the_earlier_side_has_ended_before_the_later_one_begins() -> None:
    earlier, later = split([at("c", 20, 25), at("a", 0, 5), at("d", 30, 31), at("b", 6, 9)])
    assert ids(earlier) == ["a", "b"] and ids(later) == ["c", "d"] and codes(later) == []


def test_a_session_that_runs_at_the_cut_is_on_neither_side_and_told() -> None:
    earlier, later = split([at("a", 0, 5), at("long", 6, 40), at("c", 20, 25), at("d", 30, 31)])
    assert ids(earlier) == ["a"] and ids(later) == ["c", "d"]
    assert codes(later) == ["on_neither_side"] and "1 session on" in later.problems[0].message


def test_a_repeat_of_a_task_never_stands_on_the_other_side() -> None:
    recorded = [at("a", 0, 1, "Same task"), at("b", 2, 3), at("c", 4, 5), at("again", 6, 7, "same  TASK")]
    earlier, later = split(recorded)
    assert ids(earlier) == ["a", "b"] and ids(later) == ["c"]


def test_without_times_the_order_of_the_files_is_taken_and_told() -> None:
    recorded = [session(turn(f"do {n}", said("")), id=f"s{n}") for n in range(4)]
    earlier, later = split(recorded)
    assert (ids(earlier), ids(later)) == (["s0", "s1"], ["s2", "s3"]) and codes(later) == ["no_times"]
    assert codes(split(recorded, by="order")[1]) == []


def test_a_group_stands_where_its_first_session_stands_in_the_order() -> None:
    recorded = [session(turn(words, said("")), id=f"s{n}") for n, words in enumerate(("x", "y", "x", "z"))]
    earlier, later = split(recorded, by="order")
    assert ids(earlier) == ["s0", "s2"] and ids(later) == ["s1", "s3"]


def test_groups_can_be_a_field_or_a_function() -> None:
    recorded = [session(turn(f"do {n}", said("")), id=f"s{n}", model=f"m{n % 2}") for n in range(6)]
    for group in ("model", lambda one: one.model):
        earlier, later = split(recorded, by="group", group=group)
        assert {one.model for one in earlier}.isdisjoint(one.model for one in later)
        assert len(earlier) == len(later) == 3


def test_the_draw_of_groups_is_the_seeds() -> None:
    recorded = [session(turn(f"do {n}", said("")), id=f"s{n}") for n in range(20)]
    sides = [ids(split(recorded, by="group", seed=seed)[0]) for seed in (0, 0, 1)]
    assert sides[0] == sides[1] != sides[2]


def test_the_recorded_task_tells_more_than_the_first_words() -> None:
    facts = {"dataset": {"set": "tau", "domain": "air", "task_id": 3, "trial": 1}}
    assert task_of(session(turn("Hello"), extra=facts)) == ("tau", "air", "3")
    assert task_of(session(id="wordless")) == ("session", "wordless")


def test_a_step_stands_with_the_session_that_started_it() -> None:
    recorded = [session(turn("a", said("")), id="main"), session(turn("b", said("")), id="other")]
    recorded.append(session(turn("c", said("")), id="step", parent="main"))
    earlier, later = split(recorded, by="order", share=0.6)
    assert ids(earlier) == ["main", "step"] and ids(later) == ["other"]


def test_what_reading_met_stays_with_the_later_side() -> None:
    recorded = load_sessions(DATASET)
    earlier, later = split(recorded)
    assert later.problems == recorded.problems and earlier.problems == ()
    assert max(one.turns[0].timestamp for one in earlier) < min(one.turns[0].timestamp for one in later)  # type: ignore[type-var]


@given(st.lists(st.integers(0, 4), min_size=2, max_size=12), st.floats(0.05, 0.95), st.sampled_from(["group", "order"]))
def test_no_group_is_ever_torn_and_no_session_lost(groups: list[int], share: float, by: str) -> None:
    recorded = [session(turn(f"task {group}", said("")), id=f"s{n}") for n, group in enumerate(groups)]
    if len(set(groups)) < 2:
        with pytest.raises(InputError, match="too few"):
            split(recorded, share, by)
        return
    earlier, later = split(recorded, share, by)
    assert sorted(ids(earlier) + ids(later)) == sorted(ids(recorded))
    assert set(map(task_of, earlier)).isdisjoint(map(task_of, later))


@pytest.mark.parametrize("share", [0, 1, -0.5, 2, float("nan")])
def test_a_share_out_of_range_is_an_error(share: float) -> None:
    with pytest.raises(InputError, match="between 0 and 1"):
        split([], share)


def test_wrong_ways_fields_and_too_few_sessions_are_errors() -> None:
    one = session(turn("a", said("")))
    with pytest.raises(UnknownNameError, match="Did you mean 'time'"):
        split([one], by="tyme")
    with pytest.raises(InputError, match="no session has a field 'extra.user'"):
        split([one], group="extra.user")
    for few in ([], [one]):
        with pytest.raises(InputError, match="too few"):
            split(few)
    with pytest.raises(InputError, match="in 1 group, too few"):
        split([at("a", 0, 1, "same"), at("b", 2, 3, "same")])
    with pytest.raises(InputError, match="too few for what to learn from"):
        split([at("a", 0, 9), at("b", 1, 10)])
