"""`oracle_cost` costs at most what any system that is no bound does, in every session."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import DATASET
from tests.strategies import sessions
from toolkit.experiment.bounds.cheapest import COST
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.study import measure
from toolkit.formats.sessions import load_sessions
from toolkit.replaying.system import BOUNDS, ORACLE_COST
from toolkit.session import Session

SELECTORS = ("lazy", "builtin-only", "deferred", "lexical(k=2)")
MODELS = ("gpt-5", "gpt-4o", "claude-sonnet-4-5", "claude-3-5-haiku", "gemini-2.5-flash", "deepseek-chat")


def check_that_none_costs_less(recorded: list[Session], model: str) -> None:
    frame = measure(recorded, study(SELECTORS, retriever="lexical", model=model, progress=False)).sessions
    usd = frame.pivot(index="session_id", columns="system", values=COST)
    least = usd.drop(columns=list(BOUNDS)).min(axis=1)
    assert not (usd[ORACLE_COST] > least * (1 + 1e-9)).any()


@pytest.mark.parametrize("model", MODELS)
def test_no_system_costs_less_in_any_recorded_session(model: str) -> None:
    check_that_none_costs_less(list(load_sessions(DATASET, limit=8)), model)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions().filter(lambda one: one.turns), st.sampled_from(MODELS))
def test_no_system_costs_less_in_a_random_session(recorded: Session, model: str) -> None:
    check_that_none_costs_less([recorded], model)
