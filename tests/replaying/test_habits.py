"""Searching at rates: drawn by place alone, billed like any pass, and the steady way when nothing is said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, call, event, fates, queries, replayed, said, session, turn
from tests.strategies import sessions
from toolkit.errors import InputError, UnknownNameError
from toolkit.replaying import replay
from toolkit.replaying.habits import MODELS, RATES, STEADY, Searching, searching
from toolkit.replaying.trace import Trace
from toolkit.session import Session

RANDOM = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
USED = turn("create a branch", said("", call(BRANCH.name)))
RATE = st.sampled_from([0.0, 0.3, 0.7, 1.0])
WAYS = st.builds(Searching, RATE, RATE, RATE, st.integers(1, 3), st.integers(0, 3))


def way(**rates: Any) -> Searching:
    return Searching(**rates)


def kinds(trace: Trace) -> list[str]:
    return [one.kind for one in trace.passes()]


def missing() -> Session:
    return session(turn("hello", said("zzz")), turn("qqq", said("xxx", call(BRANCH.name))))


def test_a_model_that_never_asks_again_gives_up_after_its_first_miss() -> None:
    trace = replayed(missing(), searching=way(reformulate=0.0))
    assert (queries(trace), fates(trace)) == (["xxx"], [(BRANCH.name, "missed")])


def test_a_model_makes_no_more_searches_than_its_tries() -> None:
    assert queries(replayed(missing(), searching=way(tries=2))) == ["xxx", "qqq"]


def test_an_answer_that_was_read_is_asked_for_again_at_the_rate_that_is_said() -> None:
    again = session(turn("qqq", *[said("", call(BRANCH.name))] * 3))
    asked = [len(queries(replayed(again, searching=way(repeat=rate)))) for rate in (0.0, 1.0)]
    assert asked == [1, 3]
    assert repr(way(repeat=0.5)) == "models(reformulate=1.0, stale=0.0, parallel=0.0, repeat=0.5)"


def test_two_wordings_in_one_pass_are_one_pass_with_two_answers() -> None:
    recorded = session(turn("create a branch", said("show the log", call(BRANCH.name), call(LOG.name))))
    first, last = replayed(recorded, searching=way(parallel=1.0)).passes()
    assert [one.query for one in first.searches] == ["show the log", "create a branch"]
    assert {name for one in first.searches for name in one.answer} == {LOG.name, BRANCH.name}
    assert [(made.fate, made.tries) for made in last.calls] == [("searched", 2), ("searched", 0)]


def test_with_a_single_wording_there_is_nothing_to_ask_beside_it() -> None:
    first, _ = replayed(session(USED), searching=way(parallel=1.0)).passes()
    assert first.beside == ()


def test_a_schema_of_an_earlier_turn_is_called_refused_and_then_searched_for_t2() -> None:
    trace = replayed(session(USED, USED), searching=way(stale=1.0))
    assert kinds(trace) == ["search", "recorded", "refused", "search", "recorded"]
    refused = list(trace.passes())[2]
    assert (refused.refused, refused.calls, refused.searches) == (BRANCH.name, (), ())
    assert refused.call_text == '{"name":"mcp.git.create_branch","arguments":{}}'
    assert "not_found_yet" in refused.result_text
    assert fates(trace) == [(BRANCH.name, "searched")] * 2


def test_a_tool_that_was_found_in_this_turn_is_no_stale_call() -> None:
    again = turn("create a branch", said("", call(BRANCH.name)), said("", call(BRANCH.name)))
    assert "refused" not in kinds(replayed(session(again), searching=way(stale=1.0)))


@pytest.mark.parametrize("where", ["boundary", "within"])
def test_after_a_compaction_no_schema_stands_in_the_history(where: str) -> None:
    gone = event("compaction")
    later = turn("create a branch", said("", call(BRANCH.name), events=(gone,) if where == "within" else ()))
    between = turn("create a branch", *later.passes, events=(gone,) if where == "boundary" else ())
    assert "refused" not in kinds(replayed(session(USED, between), searching=way(stale=1.0)))


@pytest.mark.parametrize(
    ("profile", "why"), [("pydantic-ai", "schemas do not stay"), ("claude-code", "found ones stay")]
)
def test_where_the_host_does_not_refuse_or_keeps_no_schema_there_is_no_stale_call(profile: str, why: str) -> None:
    assert "refused" not in kinds(replayed(session(USED, USED), searching=way(stale=1.0), profile=profile)), why


@RANDOM
@given(sessions(), WAYS, st.sampled_from(["lazy", "deferred"]))
def test_whatever_the_rates_every_recorded_pass_and_call_is_there_once_in_its_order(
    recorded: Session, chosen: Searching, selector: str
) -> None:
    steady, other = (replayed(recorded, selector, searching=one) for one in (STEADY, chosen))
    plain, drawn = ([one for one in trace.passes() if one.kind == "recorded"] for trace in (steady, other))
    assert [(one.pass_no, [made.name for made in one.calls]) for one in plain] == [
        (one.pass_no, [made.name for made in one.calls]) for one in drawn
    ]


@RANDOM
@given(sessions(), WAYS)
def test_a_draw_hangs_on_its_place_alone(recorded: Session, chosen: Searching) -> None:
    """Other sessions before it, another system beside it, a second run: the same session has the same luck."""
    first = replayed(recorded, searching=chosen)
    replayed(missing(), searching=chosen)
    assert list(first.passes()) == list(replayed(recorded, searching=chosen).passes())


@RANDOM
@given(sessions())
def test_the_steady_way_is_what_happens_when_nothing_is_said(recorded: Session) -> None:
    assert list(replayed(recorded).passes()) == list(replayed(recorded, searching=Searching()).passes())


@given(st.sampled_from(RATES), st.floats(0.05, 0.95), st.integers(0, 9))
def test_what_a_rate_is_of_happens_about_as_often_as_it_says(rate: str, share: float, seed: int) -> None:
    chosen = Searching(**{rate: share}, seed=seed)
    times = sum(chosen.happens(rate, "s", number) for number in range(2000))
    assert abs(times / 2000 - share) < 0.06


def test_another_seed_draws_anew() -> None:
    draws = [[Searching(stale=0.5, seed=seed).happens("stale", "s", n) for n in range(50)] for seed in (0, 1)]
    assert draws[0] != draws[1]


@given(WAYS)
def test_its_repr_is_its_spec(chosen: Searching) -> None:
    assert searching(repr(chosen)) == chosen


def test_the_names_are_steady_and_models() -> None:
    assert (searching("steady"), searching("models"), searching(MODELS)) == (STEADY, MODELS, MODELS)
    assert searching("models(stale=0)") == Searching(MODELS.reformulate, 0, MODELS.parallel)
    assert (repr(STEADY), repr(MODELS)) == ("steady", "models")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("model", "Did you mean 'models'"),
        ("models(reformulat=0.2)", "Did you mean 'reformulate'"),
        ("models(0.2)", "go by name"),
        ("models(stale=1.5)", "stale from 0 to 1, not 1.5"),
        ("models(stale='x')", "stale from 0 to 1, not 'x'"),
        ("models(tries=4)", "tries from 1 to 3, not 4"),
        ("models(seed=0.5)", "seed that is a whole number"),
    ],
)
def test_a_wrong_way_says_what_was_expected(spec: str, says: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=says):
        replay(missing(), "lazy", searching=spec)
