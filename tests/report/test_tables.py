"""Tables: every figure under its heading, bounds marked, foreign text escaped."""

from __future__ import annotations

import pandas as pd

from tests.report.results import EVIL, result
from toolkit.report.tables import HEADINGS, caption, html_table, rows, text_table


def test_there_is_one_row_a_system_and_a_text_for_every_heading() -> None:
    made = rows(result().summary)
    assert len(made) == len(result().summary) == 5
    assert {len(row) for row in made} == {len(HEADINGS)}


def test_bounds_are_marked() -> None:
    marked = {row[0] for row in rows(result().summary) if "(bound)" in row[0]}
    assert marked == {"all (bound)", "oracle (bound)"}


def test_a_text_table_lines_up_and_says_what_it_is_of() -> None:
    table, _, note = text_table(result().summary, result().about).rpartition("\n\n")
    head, rule, *lines = table.splitlines()
    assert len(lines) == 5 and set(rule) == {"-"}
    assert max(map(len, lines)) <= len(head)
    assert note == caption(result().about)


def test_the_caption_names_counter_queries_retriever_and_seed() -> None:
    said = caption(result().about)
    for part in ("2 sessions", "tiktoken/o200k_base", "own_words", "lexical", "no price known", "seed 0"):
        assert part in said


def test_a_caption_says_when_tokens_are_a_lower_bound() -> None:
    about = {**result().about, "definitions": {"missing": 2}}
    assert "2 sessions lack schemas: their tokens are a lower bound" in caption(about)


def test_foreign_text_is_escaped_in_html() -> None:
    table = html_table(result().summary, {**result().about, "counter": EVIL})
    assert EVIL not in table
    assert table.count("&lt;script&gt;") == 2


def test_what_is_not_known_is_a_dash_and_no_nan() -> None:
    assert "nan" not in text_table(result().summary, result().about)
    assert all(row[-1] == "–" for row in rows(result().summary))


def test_a_board_without_calls_or_turns_divides_by_nothing() -> None:
    empty = result().summary.assign(calls=0, turns=0, served=0, comparable_turns=0, passes=0)
    assert isinstance(empty, pd.DataFrame) and len(rows(empty)) == 5
