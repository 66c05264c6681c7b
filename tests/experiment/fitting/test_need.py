"""Fitting `expected_cost`: on what sessions call and search, never on a session's own repeats."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tests.builders import BRANCH, DATASET, LOG, MAIL, READ, call, said, session, turn
from toolkit.bench import Bench
from toolkit.experiment.fitting.calibration import reliability
from toolkit.experiment.fitting.need import Sample, facts, fitted_usage, look
from toolkit.formats.sessions import load_sessions
from toolkit.replaying import Setting, prepare
from toolkit.selectors.expected_cost import ExpectedCost
from toolkit.selectors.forecast import PRIOR_WITH_COUNTS as PRIOR
from toolkit.selectors.forecast import facts_of
from toolkit.selectors.need import FEATURES
from toolkit.selectors.usage import Usage
from toolkit.session import Session

LEXICAL = Setting("lexical")


def log(number: int, words: str = "list commits") -> Session:
    turns = [turn(words, said("", call(LOG.name))), turn("more", said("", call(LOG.name), call(READ.name)))]
    return session(*turns, id=f"s{number}")


def test_facts_say_what_the_sessions_did() -> None:
    found = facts_of(fitted_usage([log(n, f"list commits of {n}") for n in range(40)], LEXICAL))
    assert found.remaining == (1.0, 0.0)
    assert abs(found.passes - 1) < abs(PRIOR.passes - 1)
    assert dict((name, (failed, tried)) for name, failed, tried in found.missed)[LOG.name][1] == 80


def test_the_same_sessions_give_the_same_usage() -> None:
    sessions = load_sessions(DATASET)[:8]
    assert fitted_usage(sessions, LEXICAL).digest == fitted_usage(sessions, LEXICAL).digest


def test_a_repeat_of_a_session_does_not_tell_what_it_will_use() -> None:
    sample = Sample()
    recorded = [log(1), replace(log(2))]
    usage = fitted_usage(recorded, LEXICAL)
    for one in recorded:
        look(sample, one, usage.minus(Usage.of(recorded)), Bench(LEXICAL))
    alone = facts(sample)
    assert facts_of(usage).now == alone.now


def test_without_sessions_the_priors_stay() -> None:
    assert facts(Sample()) == PRIOR


def test_a_search_that_fails_for_one_tool_makes_its_misses_likelier() -> None:
    hidden = [
        session(turn(f"do number {n}", said("now", call(MAIL.name)), said("", call(BRANCH.name)))) for n in range(12)
    ]
    sessions = [replace(one, id=f"h{n}") for n, one in enumerate(hidden)]
    usage = fitted_usage(sessions, LEXICAL)
    failed = {name: (missed, tried) for name, missed, tried in facts_of(usage).missed}
    assert failed[MAIL.name] == (12, 12)


def test_reliability_counts_every_tool_and_turn_once() -> None:
    sessions = load_sessions(DATASET)
    usage = fitted_usage(sessions[:20], LEXICAL)
    later = sessions[20:30]
    found = reliability(usage, later, LEXICAL)
    told = sum(len(one.turns) * len(one.catalog) for one in later)
    now = found[found["what"] == "now"]
    assert told <= now["n"].sum() <= told + 2 * sum(len(one.turns) for one in later)
    assert ((now["low"] <= now["observed"]) & (now["observed"] <= now["high"])).all()
    called = sum(len(turn.called) for one in later for turn in prepare(one).turns)
    assert round(float((now["observed"] * now["n"]).sum())) == called


def test_what_was_fitted_is_what_the_selector_reads() -> None:
    usage = fitted_usage(load_sessions(DATASET)[:10], LEXICAL)
    assert usage.more["expected_cost"]["features"] == list(FEATURES)
    assert np.isfinite(facts_of(usage).now(np.ones((1, len(FEATURES))))).all()
    assert ExpectedCost().fit(usage).learnt is usage
