"""Tables: every figure under its heading, bounds marked, foreign text escaped."""

from __future__ import annotations

import pandas as pd

from tests.builders import ALWAYS
from tests.report.results import EVIL, result
from toolkit.report.tables import HEADINGS, caption, html_table, notes, rows, text_table


def test_there_is_one_row_a_system_and_a_text_for_every_heading() -> None:
    made = rows(result().summary)
    assert len(made) == len(result().summary) == 7
    assert {len(row) for row in made} == {len(HEADINGS)}


def test_bounds_are_marked() -> None:
    marked = {row[0] for row in rows(result().summary) if "(bound)" in row[0]}
    assert marked == {f"{name} (bound)" for name in ALWAYS}


def test_a_text_table_lines_up_and_says_what_it_is_of() -> None:
    table, _, note = text_table(result().summary, result().about).rpartition("\n\n")
    head, rule, *lines = table.splitlines()
    assert len(lines) == 7 and set(rule) == {"-"}
    assert max(map(len, lines)) <= len(head)
    assert note.splitlines() == [caption(result().about), *(f"- {one}" for one in notes(result().about))]


def test_the_caption_names_counter_queries_retriever_and_seed() -> None:
    said = caption(result().about)
    for part in ("2 sessions", "tiktoken/o200k_base", "own_words", "lexical", "no price known", "seed 0"):
        assert part in said


def test_a_caption_says_when_tokens_are_a_lower_bound() -> None:
    about = {**result().about, "definitions": {"missing": 2}}
    assert "2 sessions without schemas: their tokens are a lower bound" in caption(about)


def test_a_figure_that_query_models_differ_in_shows_its_least_and_its_most() -> None:
    board = result().summary.assign(missed=2, missed_min=1, missed_max=4, search_trips_min=0, search_trips_max=0)
    column = HEADINGS.index("missed")
    assert {row[column] for row in rows(board)} == {"2 (1–4)"}


def test_a_board_of_a_run_without_a_spread_shows_the_figures_alone() -> None:
    kept = [name for name in result().summary if not str(name).endswith(("_min", "_max"))]
    assert not any("(" in row[HEADINGS.index("missed")] for row in rows(result().summary[kept]))


def test_the_caption_names_the_query_models_of_the_spread_and_how_the_model_searches() -> None:
    assert "the least and the most with own_words, turn_input, short_phrase, pessimistic" in caption(result().about)
    drawn = {**result().about, "query_models": ["turn_input"], "searching": "models(stale=0.1)"}
    assert "Queries: turn_input; searching: models(stale=0.1); retriever" in caption(drawn)


def test_foreign_text_is_escaped_in_html() -> None:
    table = html_table(result().summary, {**result().about, "counter": EVIL})
    assert EVIL not in table
    assert table.count("&lt;script&gt;") == 2


def test_what_is_not_known_is_a_dash_and_no_nan() -> None:
    assert "nan" not in text_table(result().summary, result().about)
    assert all(row[-1] == "–" for row in rows(result().summary))


def test_the_regret_to_the_cheapest_bound_stands_last_with_its_interval() -> None:
    board = result().summary.assign(regret=0.125, regret_low=0.1, regret_high=0.2)
    assert {row[-1] for row in rows(board)} == {"12.5% [10.0%, 20.0%]"}
    assert {row[-1] for row in rows(board.assign(regret_low=float("nan")))} == {"12.5% (too few sessions)"}
    assert {row[-1] for row in rows(board.drop(columns=["regret", "regret_low", "regret_high"]))} == {"–"}


def test_a_board_without_calls_or_turns_divides_by_nothing() -> None:
    empty = result().summary.assign(calls=0, turns=0, served=0, comparable_turns=0, passes=0)
    assert isinstance(empty, pd.DataFrame) and len(rows(empty)) == 7


def test_what_must_be_known_of_a_row_stands_beside_its_name() -> None:
    board = result().summary.assign(passes_over_window=3, window=8192.0, failed_turns=1, turns=4)
    assert all("does not fit (window 8,192); failed 1 of 4 turns)" in row[0] for row in rows(board))


def test_the_caption_says_what_sorts_the_table_and_how_to_get_costs() -> None:
    assert "Sorted by with fallback/turn" in caption(result().about)
    assert "--model NAME" in caption(result().about) and "with fallback/turn" in HEADINGS
