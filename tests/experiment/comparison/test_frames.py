"""Frames: sums of passes are turns, sums of turns are sessions, and the leaderboard orders by what it costs."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from tests.builders import BRANCH, READ, call, said, session, turn
from toolkit.experiment.comparison.frames import (
    BUCKETS,
    COSTS,
    TOKENS,
    leaderboard,
    pass_frame,
    session_frame,
    turn_frame,
)
from toolkit.experiment.comparison.run import Done, Runner, units
from toolkit.prices.price import price
from toolkit.replaying import Setting, System

SESSIONS = [
    session(turn("create a branch", said("", call(BRANCH.name)), said("ok")), turn("thanks"), id="a"),
    session(turn("read it", said("", call(READ.name))), id="b"),
]
SYSTEMS = [System(one, "lexical") for one in ("all", "lazy", "builtin-only", "oracle")]


@pytest.fixture(scope="module")
def done() -> list[Done]:
    runner = Runner()
    return [runner.run(one) for one in units(SYSTEMS, SESSIONS, Setting(model="o200k_base"), "1")]


@pytest.fixture(scope="module")
def passes(done: list[Done]) -> pd.DataFrame:
    rows = [row for one in done for row in one.passes]
    return pass_frame(rows, {"a": price("claude-sonnet-4-5"), "b": None})


@pytest.fixture(scope="module")
def turns(done: list[Done], passes: pd.DataFrame) -> pd.DataFrame:
    return turn_frame([row for one in done for row in one.turns], passes)


def test_a_turn_is_the_sum_of_its_passes(passes: pd.DataFrame, turns: pd.DataFrame) -> None:
    assert turns[TOKENS].sum().equals(passes[TOKENS].sum())
    assert (turns[BUCKETS].sum(axis=1) == turns["prompt_tokens"]).all()


def test_a_turn_without_passes_is_a_row_of_no_tokens_and_in_no_mean(turns: pd.DataFrame) -> None:
    empty = turns[(turns["session_id"] == "a") & (turns["turn_no"] == 2)]
    assert (empty["passes"] == 0).all() and (empty["prompt_tokens"] == 0).all() and len(empty) == len(SYSTEMS)
    assert not empty["comparable"].any() and (session_frame(turns)["turns"] == 1).all()


def test_a_session_is_the_sum_of_its_turns(turns: pd.DataFrame) -> None:
    sessions = session_frame(turns)
    assert sessions["prompt_tokens"].sum() == turns["prompt_tokens"].sum()
    assert (sessions["calls"] == sessions["served"] + sessions["missed"] + sessions["blocked"]).all()
    assert sessions[sessions["session_id"] == "a"]["turns"].eq(1).all()


def test_without_a_price_there_is_no_cost(passes: pd.DataFrame) -> None:
    assert passes[passes["session_id"] == "b"]["cost_usd"].isna().all()
    assert (passes[passes["session_id"] == "a"]["cost_usd"] > 0).all()


def test_a_fallback_costs_one_more_pass_for_each_call_out_of_reach(passes: pd.DataFrame) -> None:
    known = passes[passes["session_id"] == "a"]
    more = known["cost_with_fallback_usd"] - known["cost_usd"]
    assert ((more > 0) == (known["fallback_passes"] > 0)).all()
    assert (more > 0).any()


def test_the_leaderboard_has_one_row_a_system_cheapest_first(turns: pd.DataFrame) -> None:
    board = leaderboard(session_frame(turns), SYSTEMS, 0)
    assert set(board["system"]) == {one.name for one in SYSTEMS}
    assert board["prompt_tokens_with_fallback"].is_monotonic_increasing
    assert board["cost_usd"].isna().all()
    assert list(board[board["bound"]]["system"]) == ["oracle", "all"]


def test_all_is_its_own_measure(turns: pd.DataFrame) -> None:
    board = leaderboard(session_frame(turns), SYSTEMS, 0).set_index("system")
    assert tuple(board.loc["all", ["prompt_ratio", "prompt_ratio_low", "prompt_ratio_high"]]) == (1.0, 1.0, 1.0)
    assert board.loc["oracle", "prompt_ratio"] < 1


def test_one_session_has_no_interval(turns: pd.DataFrame) -> None:
    board = leaderboard(session_frame(turns[turns["session_id"] == "a"]), SYSTEMS, 0)
    assert math.isnan(board["prompt_ratio_low"].iloc[0])
    assert board[COSTS].notna().all().all()


def test_a_system_that_is_not_finished_everywhere_is_compared_where_all_is_finished_too(turns: pd.DataFrame) -> None:
    part = turns[~((turns["system"] == "all") & (turns["session_id"] == "b"))]
    part = part[part["system"] != "oracle"]
    board = leaderboard(session_frame(part), SYSTEMS, 0).set_index("system")
    assert "oracle" not in board.index
    assert board["sessions"].to_dict() == {"all": 1, "lazy": 1, "builtin-only": 1}
