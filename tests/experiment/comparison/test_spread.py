"""The spread over query models: what could differ is run again, and nothing of it reaches the main columns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, DATASET, call, said, session, turn
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.comparison import run
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.run import Runner, units
from toolkit.experiment.comparison.spread import METRICS, QUERY_MODELS, query_models, variants
from toolkit.experiment.comparison.study import measure
from toolkit.formats.sessions import load_sessions
from toolkit.replaying import Setting, System
from toolkit.session import Session

OTHERS = ("turn_input", "short_phrase", "pessimistic")


def own(id: str = "s") -> Session:
    """A session whose tool is found in the model's own words, and not in the input."""
    return session(turn("please", said("create a branch", call(BRANCH.name))), id=id, digest=id)


def idle(id: str = "idle") -> Session:
    return session(turn("please", said("hello")), id=id, digest=id)


def measured(recorded: Any, *selectors: Any, also: Any = OTHERS, **options: Any) -> Comparison:
    return measure(recorded, study(selectors or ("lazy",), retriever="lexical", progress=False, also=also, **options))


def row(made: Comparison, system: str = "lazy") -> dict[str, Any]:
    found: dict[str, Any] = made.summary.set_index("system").loc[system].to_dict()
    return found


def spread(made: Comparison, name: str, system: str = "lazy") -> tuple[Any, Any, Any]:
    found = row(made, system)
    return found[f"{name}_min"], found[name], found[f"{name}_max"]


def test_the_least_and_the_most_are_those_of_the_query_models() -> None:
    made = measured([own()])
    assert spread(made, "missed") == (0, 0, 1)
    assert spread(made, "search_trips") == (1, 1, 1)


def test_each_end_is_what_a_comparison_under_that_query_model_alone_gives() -> None:
    recorded = list(load_sessions(DATASET, limit=12))
    options: dict[str, Any] = {"also": (), "model": "claude-sonnet-4-5"}
    alone = [row(measured(recorded, "lazy", query_model=one, **options)) for one in ("own_words", *OTHERS)]
    made = measured(recorded, "lazy", model="claude-sonnet-4-5")
    for name in METRICS:
        values = [one[name] for one in alone]
        assert spread(made, name) == pytest.approx((min(values), values[0], max(values)))


def test_the_main_columns_and_frames_are_those_without_a_spread() -> None:
    recorded = list(load_sessions(DATASET, limit=5))
    plain, spread_out = measured(recorded, also=()), measured(recorded)
    for name in ("sessions", "turns", "passes"):
        assert getattr(plain, name).equals(getattr(spread_out, name))
    kept = [name for name in plain.summary if not str(name).endswith(("_min", "_max"))]
    assert plain.summary[kept].equals(spread_out.summary[kept])


def test_a_figure_lies_within_its_spread_for_every_system() -> None:
    board = measured(list(load_sessions(DATASET, limit=8)), "lazy", "deferred", "builtin-only").summary
    for name in ("prompt_tokens_with_fallback", "missed", "search_trips"):
        assert ((board[f"{name}_min"] <= board[name]) & (board[name] <= board[f"{name}_max"])).all()


def test_without_a_price_a_cost_has_no_spread_and_tokens_have_one() -> None:
    made = measured([own(), idle()])
    assert all(value != value for value in spread(made, "cost_with_fallback_usd"))
    least, main, most = spread(made, "prompt_tokens_with_fallback")
    assert least <= main < most


def test_only_sessions_in_which_something_was_searched_or_missed_are_run_again() -> None:
    work = list(
        units([System(one, "lexical") for one in ("lazy", "all")], [own(), idle()], Setting(model="o200k_base"), "1")
    )
    runner = Runner()
    again = list(variants(work, [runner.run(unit) for unit in work], OTHERS, "1"))
    assert [(one.system, one.unit.system.query_model) for one in again] == [("lazy", model) for model in OTHERS]
    assert {session.id for one in again for session in one.unit.sessions} == {"s"}
    assert len({one.key for one in (*work, *(variant.unit for variant in again))}) == 5


def test_a_system_that_says_its_query_model_in_its_name_is_spread_too() -> None:
    made = measured([own()], query_model="optimistic")
    assert spread(made, "missed", "lazy [optimistic]") == (0, 0, 1)


def test_variants_are_kept_and_not_run_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = measured([own(), idle()], out=tmp_path)
    kept = {one.name for one in (tmp_path / "parts").iterdir()}
    monkeypatch.setattr(run.Runner, "run", None)
    assert measured([own(), idle()], out=tmp_path).summary.equals(first.summary)
    assert kept == {one.name for one in (tmp_path / "parts").iterdir()}


def test_out_of_the_cache_alone_a_query_model_that_was_not_run_is_left_out_and_named(tmp_path: Path) -> None:
    measured([own()], out=tmp_path, also=("turn_input",))
    made = measured([own()], out=tmp_path, also=("turn_input", "pessimistic"), resume="only-cache")
    assert spread(made, "missed") == (0, 0, 1)
    assert [one.message for one in made.problems] == [
        "the spread leaves out pessimistic: parts of them are not in the cache."
    ]


def test_what_another_query_model_could_not_ask_is_a_problem() -> None:
    (problem,) = measured([own()], also=("recorded",)).problems
    assert problem.code == "no_query" and "1 times own words" in problem.message


def test_a_query_model_that_is_not_known_fails_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="'pessimistic'"):
        measured([own()], also=("pesimistic",), out=tmp_path / "x")
    assert not (tmp_path / "x").exists()


def test_one_given_query_model_is_joined_by_the_usual_and_several_stand_alone() -> None:
    assert query_models("own_words") == query_models(["own_words"]) == QUERY_MODELS
    assert query_models("recorded") == ("recorded", *QUERY_MODELS)
    assert query_models(["turn_input", "own_words", "turn_input"]) == ("turn_input", "own_words")
    assert query_models(["turn_input", "own_words"], spread=False) == ("turn_input",)
    with pytest.raises(InputError, match="needs a query model"):
        query_models([])


def test_rates_of_searching_change_the_figures_and_stale_calls_are_counted_apart() -> None:
    one = turn("create a branch", said("", call(BRANCH.name)))
    recorded = [session(one, one, id=str(n)) for n in range(20)]
    steady, drawn = (row(measured(recorded, also=(), searching=way)) for way in ("steady", "models"))
    assert steady["stale_calls"] == 0 < drawn["stale_calls"] <= 20
    assert drawn["passes"] == steady["passes"] + drawn["stale_calls"]
    assert drawn["search_trips"] == steady["search_trips"]


def test_the_run_says_which_query_models_and_how_the_model_searches() -> None:
    about = measured([own()], searching="models(stale=0.1)").about
    assert about["query_models"] == ["own_words", *OTHERS]
    assert about["searching"] == "models(stale=0.1)"
    assert {one["searching"] for one in about["systems"] if one["name"] == "lazy"} == {"models(stale=0.1)"}
