"""Measuring a plan: resume, workers, names, and the golden counts over the packaged data set."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.builders import ALWAYS, BRANCH, DATASET, SELECTORS, call, said, session, tool, turn
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.comparison import run
from toolkit.experiment.comparison.options import Study, study
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.run import SelectorFailedError
from toolkit.experiment.comparison.study import measure
from toolkit.formats.sessions import load_sessions

GOLDEN = Path(__file__).parents[2] / "golden" / "compare.json"
MANY = [session(turn("create a branch", said("", call(BRANCH.name))), id=f"s{n}") for n in range(4)]


class Interrupt:
    """A selector that presses Ctrl-C at its nth turn."""

    def __init__(self) -> None:
        self.turns, self.at = 0, 0

    def __repr__(self) -> str:
        return "interrupt"

    def __call__(self, visible: Any, host: Any) -> Any:
        self.turns += 1
        if self.turns == self.at:
            raise KeyboardInterrupt
        return [one.name for one in visible], []


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "CHUNK", 2)


def plan(*selectors: Any, **options: Any) -> Study:
    return study(selectors or ("lazy",), retriever="lexical", progress=False, **options)


def frames(made: Comparison) -> list[pd.DataFrame]:
    return [made.summary, made.sessions, made.turns, made.passes]


def same(one: Comparison, other: Comparison) -> bool:
    return all(mine.equals(theirs) for mine, theirs in zip(frames(one), frames(other), strict=True))


def test_the_bounds_stand_in_every_table() -> None:
    assert set(measure(MANY, plan()).summary["system"]) == {*ALWAYS, "lazy"}


def test_calls_are_served_missed_or_blocked() -> None:
    board = measure(load_sessions(DATASET, limit=5), plan("lazy", "builtin-only", "deferred")).summary
    assert (board["calls"] == board["served"] + board["missed"] + board["blocked"]).all()
    assert (board["searched"] <= board["served"]).all()
    assert (board["prompt_tokens"] == board["cached_prompt_tokens"] + board["uncached_prompt_tokens"]).all()


def test_an_interrupted_run_keeps_its_parts_and_a_second_goes_on_from_them(tmp_path: Path) -> None:
    whole = measure(MANY, plan(Interrupt()))
    pressed = Interrupt()
    pressed.at = 3
    with pytest.raises(KeyboardInterrupt):
        measure(MANY, plan(pressed, out=tmp_path))
    kept = {one.name: one.stat().st_mtime_ns for one in (tmp_path / "parts").iterdir()}
    assert len(kept) == 5, "four bounds and the selector over the first two sessions"
    second = Interrupt()
    again = measure(MANY, plan(second, out=tmp_path))
    assert second.turns == 2
    assert same(whole, again)
    assert kept.items() <= {one.name: one.stat().st_mtime_ns for one in (tmp_path / "parts").iterdir()}.items()


def test_only_cache_runs_nothing_and_says_what_is_not_there(tmp_path: Path) -> None:
    pressed = Interrupt()
    pressed.at = 3
    with pytest.raises(KeyboardInterrupt):
        measure(MANY, plan(pressed, out=tmp_path))
    cached = measure(MANY, plan(pressed, out=tmp_path, resume="only-cache"))
    assert pressed.turns == 3
    assert set(cached.summary["sessions"]) == {2}
    assert [one.code for one in cached.problems] == ["not_cached"]
    assert "5 of 10 parts" in cached.problems[0].message


def test_only_cache_without_a_cache_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nothing is in the cache"):
        measure(MANY, plan(out=tmp_path, resume="only-cache"))


def test_a_finished_run_is_not_run_again_unless_never_is_asked_for(tmp_path: Path) -> None:
    counting = Interrupt()
    first = measure(MANY, plan(counting, out=tmp_path))
    assert same(first, measure(MANY, plan(counting, out=tmp_path)))
    assert same(first, measure(MANY, plan(counting, out=tmp_path, resume="only-missing")))
    assert same(first, measure(MANY, plan(counting, out=tmp_path, resume="only-cache")))
    assert counting.turns == 4
    assert same(first, measure(MANY, plan(counting, out=tmp_path, resume="never")))
    assert counting.turns == 8


def test_sessions_made_in_memory_are_not_run_again_after_they_were_used(tmp_path: Path) -> None:
    counting = Interrupt()
    recorded = [session(turn("create a branch", said("", call(BRANCH.name))), id=f"m{n}") for n in range(2)]
    measure(recorded, plan(counting, out=tmp_path))
    assert {hash(one.catalog) for one in recorded} and counting.turns == 2
    measure(recorded, plan(counting, out=tmp_path))
    assert counting.turns == 2


def test_two_workers_give_the_same_frames_as_one() -> None:
    recorded = list(load_sessions(DATASET, limit=3))
    assert same(measure(recorded, plan()), measure(recorded, plan(workers=2)))


def test_another_seed_changes_intervals_and_nothing_else() -> None:
    recorded = list(load_sessions(DATASET, limit=12))
    one, other = (measure(recorded, plan(seed=seed)) for seed in (0, 1))
    assert one.sessions.equals(other.sessions)
    assert not one.summary.equals(other.summary)


@pytest.mark.parametrize(
    "wrong",
    [
        {"selectors": ["lazzy"]},
        {"retriever": "lexicul"},
        {"profile": "referense"},
        {"query_model": "own"},
        {"model": "gpt-99"},
    ],
)
def test_a_wrong_name_fails_before_anything_runs(wrong: dict[str, Any], tmp_path: Path) -> None:
    options = {"selectors": ["lazy"], "retriever": "lexical", "out": tmp_path / "x", "progress": False, **wrong}
    with pytest.raises(UnknownNameError):
        measure(MANY, study(**options))
    assert not list((tmp_path / "x" / "parts").glob("*"))


def test_no_session_is_an_error() -> None:
    with pytest.raises(InputError, match="no session to compare"):
        measure([], plan())


def test_two_selectors_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two selectors are called '<lambda>'"):
        measure(MANY, plan(lambda visible, host: ([], []), lambda visible, host: ([], [])))
    with pytest.raises(InputError, match="two selectors are called 'oracle'"):
        measure(MANY, plan(named_oracle()))


def named_oracle() -> Any:
    def oracle(visible: Any, host: Any) -> Any:
        return [], []

    return oracle


def test_one_selector_given_twice_is_one_row() -> None:
    from toolkit.selectors import resolve

    assert len(measure(MANY, plan("lazy", "lazy", resolve("lazy"), "all")).summary) == 5


def test_a_session_that_comes_twice_counts_once_and_is_a_problem() -> None:
    made = measure([*MANY, MANY[0]], plan())
    assert set(made.summary["sessions"]) == {4}
    assert [one.code for one in made.problems] == ["repeated_id"]


def test_a_recorded_model_without_a_price_is_a_doubt_and_no_cost() -> None:
    made = measure([session(turn("x", said("a")), model="nobody-knows-it")], plan())
    assert [one.code for one in made.problems] == ["no_price"]
    assert made.summary["cost_usd"].isna().all()


def test_a_given_model_prices_every_session() -> None:
    made = measure(MANY, plan(model="claude-sonnet-4-5"))
    assert (made.summary["cost_usd"] > 0).all()
    assert (made.summary["cost_with_fallback_usd"] >= made.summary["cost_usd"]).all()


def test_the_run_says_what_it_is_of() -> None:
    about = measure(load_sessions(DATASET, limit=2), plan("lazy", query_model="optimistic", seed=7)).about
    assert (about["sessions"], about["seed"], about["definitions"]) == (2, 7, {"recorded": 2})
    assert about["counter"] == "tiktoken/o200k_base (texts only)"
    assert {one["name"] for one in about["systems"]} == {*ALWAYS, "lazy [optimistic]"}


def golden(selectors: Any) -> dict[str, list[int]]:
    board = measure(load_sessions(DATASET), study(selectors, retriever="lexical", progress=False)).summary
    columns = ["prompt_tokens", "uncached_prompt_tokens", "search_trips", "served", "missed", "blocked"]
    return {row["system"]: [int(row[one]) for one in columns] for row in board.to_dict("records")}


def test_the_counts_over_the_packaged_data_set_are_the_golden_ones() -> None:
    """Remake them with `python -m tests.experiment.comparison.test_study`, and say in the changelog why they moved."""
    expected = json.loads(GOLDEN.read_text("utf-8"))
    assert golden(SELECTORS[:-1]) == {one: expected[one] for one in {*ALWAYS, *SELECTORS}}


@pytest.mark.slow
def test_the_counts_of_the_semantic_selector_are_the_golden_ones() -> None:
    pytest.importorskip("sentence_transformers")
    expected = json.loads(GOLDEN.read_text("utf-8"))
    assert golden(["semantic(k=8)"])["semantic(k=8)"] == expected["semantic(k=8)"]


if __name__ == "__main__":
    made = golden([*SELECTORS[:-1], "semantic(k=8)"])
    rows = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(made.items()))
    GOLDEN.write_text(f"{{\n{rows}\n}}\n", "utf-8")


def failing(visible: Any, host: Any) -> Any:
    raise ValueError("no such luck")


def failing_once(visible: Any, host: Any) -> Any:
    if host.turn_input == "again":
        raise ValueError("not twice")
    return [one.name for one in visible], []


TWICE = [session(turn("create a branch", said("", call(BRANCH.name))), turn("again", said("done")))]
LARGE = [tool("mcp.sea.chart", "tide " * 9000)]


def test_a_selector_that_always_fails_stands_last_and_is_not_ranked() -> None:
    board = measure(TWICE, plan(failing, failing_once)).summary.set_index("system")
    assert list(board.index)[-1] == "failing" and not board.loc["failing", "ranked"]
    assert list(board.loc[["failing", "failing_once", "all"], "failed_turns"]) == [2, 1, 0]
    assert board.loc[["failing_once", "all"], "ranked"].all()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_run_that_fails_fast_stops_at_the_first_session_and_names_it(tmp_path: Path, workers: int) -> None:
    measure(TWICE, plan(failing_once, out=tmp_path))
    with pytest.raises(SelectorFailedError, match="turn 2 of session 's' under failing_once: .*not twice"):
        measure(TWICE, plan(failing_once, "lazy", out=tmp_path, fail_fast=True, workers=workers))


def test_what_the_window_does_not_hold_has_no_cost_and_is_no_candidate() -> None:
    board = measure(TWICE, plan("lazy", catalog=LARGE, model="gpt-4")).summary.set_index("system")
    assert set(board["window"]) == {8192}
    assert (board.loc["all", "passes_over_window"], board.loc["all", "ranked"]) == (2, False)
    assert board.index[-1] == "all" and pd.isna(board.loc["all", "cost_usd"])
    assert board.loc["lazy", "ranked"] and board.loc["lazy", "cost_usd"] > 0
    assert not board.filter(regex="^cost_.*_(min|max)$", axis=1).loc["all"].notna().any()


def test_a_fallback_pass_declares_no_more_than_the_window_holds() -> None:
    passes = measure(TWICE, plan("builtin-only", catalog=LARGE, model="gpt-4")).passes
    missed = passes[(passes["system"] == "builtin-only") & (passes["fallback_passes"] > 0)]
    assert list(missed["fallback_prompt_tokens"] + missed["output_tokens"]) == [8192]


def test_of_a_model_without_a_known_window_everything_fits_and_it_is_said() -> None:
    made = measure(TWICE, plan("lazy", catalog=LARGE))
    assert made.summary["window"].isna().all() and made.summary["ranked"].all()
    assert not made.summary["passes_over_window"].any()
    assert measure(TWICE, plan("lazy", model="gpt-4")).about["windows"] == {"gpt-4": 8192}


def test_queries_that_the_query_model_did_not_give_are_counted() -> None:
    board = measure(TWICE, plan("lazy", query_model="recorded")).summary.set_index("system")
    assert board.loc["lazy", "query_fallbacks"] == 1 and board.loc["all", "query_fallbacks"] == 0


@pytest.mark.parametrize("model", ["gpt-5", None])
def test_the_table_is_sorted_by_the_column_that_it_names(model: str | None) -> None:
    made = measure(MANY, plan("lazy", "builtin-only", model=model))
    by = "cost_with_fallback_usd" if model else "prompt_tokens_with_fallback"
    assert made.about["sorted_by"] == by and made.summary[by].is_monotonic_increasing


def test_the_same_run_on_another_day_is_about_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime(2031, 1, 2, tzinfo=tz)

    before = measure(MANY, plan("lazy", model="gpt-5")).about
    monkeypatch.setattr("toolkit.prices.price.datetime", Tomorrow)
    assert measure(MANY, plan("lazy", model="gpt-5")).about == before


def test_the_share_of_a_fallback_that_is_charged_changes_costs_and_tokens_and_nothing_else() -> None:
    sessions = list(load_sessions(DATASET))[:4]
    whole, half, none = (
        measure(sessions, plan("lazy", "builtin-only", model="gpt-5", fallback=share)).summary.set_index("system")
        for share in (1.0, 0.5, 0.0)
    )
    rows = ["all", "lazy", "builtin-only"]
    for name in rows:
        assert none.loc[name, "cost_with_fallback_usd"] == pytest.approx(whole.loc[name, "cost_usd"])
        paid = [one.loc[name, "cost_with_fallback_usd"] - one.loc[name, "cost_usd"] for one in (half, whole)]
        assert paid[0] == pytest.approx(paid[1] / 2)
        assert whole.loc[name, "fallback_usd"] == pytest.approx(paid[1])
    same = ["prompt_tokens", "missed", "blocked", "cost_usd", "fallback_usd"]
    pd.testing.assert_frame_equal(whole.loc[rows, same], half.loc[rows, same])
    assert (none.loc[rows, "prompt_tokens_with_fallback"] == none.loc[rows, "prompt_tokens"]).all()


def test_shared_prefixes_cost_less_for_what_is_declared_in_every_session_and_the_same_for_the_rest() -> None:
    sessions = list(load_sessions(DATASET))[:4]
    cold, shared = (
        measure(sessions, plan("lazy", "lexical(k=3)", model="gpt-5", prefix=prefix)).summary.set_index("system")
        for prefix in ("cold", "shared")
    )
    assert shared.loc["all", "cost_usd"] < cold.loc["all", "cost_usd"]
    assert shared.loc["lexical(k=3)", "cost_usd"] == pytest.approx(cold.loc["lexical(k=3)", "cost_usd"])
    assert (shared["prompt_tokens"][["all", "lazy"]] == cold["prompt_tokens"][["all", "lazy"]]).all()
    best = shared.loc["oracle_cost", "cost_with_fallback_usd"]
    assert best <= shared.loc[["all", "lazy", "lexical(k=3)"], "cost_with_fallback_usd"].min() + 1e-12


@pytest.mark.parametrize("wrong", [{"fallback": 1.5}, {"fallback": -0.1}, {"prefix": "warm"}])
def test_a_share_that_is_none_and_an_unknown_prefix_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="must be"):
        measure(MANY, plan(**wrong))
