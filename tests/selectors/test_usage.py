"""`Usage` counts what recorded sessions did, and is kept in one file that tells when it is not whole."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.builders import BRANCH, LOG, MAIL, READ, call, said, searched, session, turn
from toolkit.errors import InputError
from toolkit.selectors import usage as module
from toolkit.selectors.usage import Usage, load_usage
from toolkit.session import Pass, Session
from toolkit.tool import wire_name

FIRST = session(
    turn("read it", said("I search", searched("x")), said("I read", call(READ.name), call(READ.name), call(LOG.name))),
    turn(" ", said("done")),
    turn("make a branch", said("", call(wire_name(BRANCH.name)))),
    turn("mail it", said("", call(MAIL.name), searched("y"))),
    id="one",
)
SECOND = session(turn("mail Ann", said("", call(MAIL.name))), tools=(MAIL,), id="two")
MANY = st.lists(strategies.sessions(), max_size=4).map(
    lambda made: [Session(f"s{n}", one.catalog, one.turns) for n, one in enumerate(made)]
)


def at(moment: str, id: str = "s", words: str = "x") -> Session:
    return session(turn(words, Pass("done", timestamp=moment)), id=id)


def test_turns_sessions_passes_and_calls_are_counted_without_searches() -> None:
    found = Usage.of([FIRST, SECOND])
    assert (found.sessions, found.turns, found.passes, found.calls) == (2, 5, 5, 6)
    assert found.in_turns == {READ.name: 1, LOG.name: 1, BRANCH.name: 1, MAIL.name: 2}
    assert found.in_sessions == {READ.name: 1, LOG.name: 1, BRANCH.name: 1, MAIL.name: 2}
    assert found.told_in == {READ.name: 1, BRANCH.name: 1, LOG.name: 1, MAIL.name: 2}


def test_what_follows_is_what_the_very_next_turn_calls() -> None:
    found = Usage.of([FIRST])
    assert found.after == {BRANCH.name: {MAIL.name: 1}}
    assert found.followed == {READ.name: 1, LOG.name: 1, BRANCH.name: 1}


def test_inputs_stand_with_the_tools_of_their_turn_and_blank_ones_not_at_all() -> None:
    assert Usage.of([FIRST]).inputs == (
        ("read it", (READ.name, LOG.name)),
        ("make a branch", (BRANCH.name,)),
        ("mail it", (MAIL.name,)),
    )


def test_the_newest_inputs_stand_last_and_the_oldest_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_INPUTS", 2)
    late, early = at("2026-03-05T10:00:00+02:00", "b", "late"), at("2026-03-05T07:00:00Z", "a", "early")
    found = Usage.of([late, early, at("no time", "c", "unknown")])
    assert [words for words, _ in found.inputs] == ["early", "late"]
    assert (found.first, found.last) == ("2026-03-05T07:00:00+00:00", "2026-03-05T08:00:00+00:00")


@given(MANY, st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_to_take_sessions_away_is_never_to_have_counted_them(made: list[Session], data: st.DataObject) -> None:
    gone = data.draw(st.lists(st.sampled_from(made), unique_by=lambda one: one.id) if made else st.just([]))
    kept = [one for one in made if one not in gone]
    left, fresh = Usage.of(made).minus(Usage.of(gone)), Usage.of(kept)
    names = (*module.TOTALS, *module.COUNTS, "after")
    assert all(getattr(left, name) == getattr(fresh, name) for name in names)
    assert sorted(left.inputs) == sorted(fresh.inputs) and sorted(left.digests) == sorted(fresh.digests)


def test_sessions_that_were_not_counted_cannot_be_taken_away() -> None:
    with pytest.raises(InputError, match="1 sessions are not counted"):
        Usage.of([FIRST]).minus(Usage.of([SECOND]))


@given(MANY)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_a_file_gives_back_what_was_saved_and_the_same_bytes(tmp_path: Path, made: list[Session]) -> None:
    found = Usage.of(made).adding(weights=[0.1, 1e-9], by={"ü": None})
    first = found.save(tmp_path / "u.json").read_bytes()
    back = load_usage(tmp_path / "u.json")
    assert back == found and back.inputs == found.inputs and hash(back) == hash(found)
    assert back.save(tmp_path / "v.json").read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["u.json", "v.json"]


def test_the_order_of_sessions_with_times_does_not_matter() -> None:
    made = [at(f"2026-03-0{day}T10:00:00Z", f"s{day}") for day in range(1, 5)]
    assert Usage.of(made).digest == Usage.of(made[::-1]).digest


def test_it_can_be_sent_to_another_process() -> None:
    found = Usage.of([FIRST, SECOND])
    assert pickle.loads(pickle.dumps(found)) == found


def test_its_repr_is_one_line_of_counts_and_the_digest() -> None:
    found = Usage.of([FIRST, SECOND])
    assert repr(found) == f"<usage of 4 tools in 2 sessions, 5 turns: {found.digest[:12]}>"


def cut(text: str) -> str:
    return text[: len(text) // 2]


def of_version_2(text: str) -> str:
    return text.replace("usage 1", "usage 2")


def with_another_count(text: str) -> str:
    return json.dumps({**json.loads(text), "turns": 99})


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (cut, "no usage file, or is cut"),
        (of_version_2, "another format than 'selector-toolkit usage 1'"),
        (with_another_count, "changed or damaged"),
        (lambda text: "[]", "no format line"),
        (lambda text: "{}", "no format line"),
        (lambda text: "", "no usage file"),
        (lambda text: "[" * 100_000, "no usage file"),
    ],
)
def test_a_file_that_is_not_whole_or_of_another_kind_is_refused(tmp_path: Path, change: Any, says: str) -> None:
    path = Usage.of([FIRST]).save(tmp_path / "u.json")
    path.write_text(change(path.read_text("utf-8")), "utf-8")
    with pytest.raises(InputError, match=says) as raised:
        load_usage(path)
    assert "Usage.of(sessions).save(path)" in str(raised.value)


def test_a_file_that_is_not_there_and_a_folder_that_is_not_there_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no usage file"):
        load_usage(tmp_path / "none.json")
    with pytest.raises(InputError, match="cannot be written"):
        Usage().save(tmp_path / "none" / "u.json")


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        Usage().save(tmp_path / "folder")
    assert [one.name for one in tmp_path.iterdir()] == ["folder"]


def test_a_file_that_was_written_anew_is_read_anew(tmp_path: Path) -> None:
    Usage.of([FIRST]).save(tmp_path / "u.json")
    assert load_usage(tmp_path / "u.json").sessions == 1
    Usage.of([FIRST, SECOND]).save(tmp_path / "u.json")
    assert load_usage(tmp_path / "u.json").sessions == 2
