"""The report is one page that needs nothing else, and foreign text in it is text."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache

import pytest

from tests.report.results import EVIL, result
from toolkit.experiment.comparison.result import Comparison
from toolkit.formats.files import Problem
from toolkit.report.html import page

pytest.importorskip("matplotlib")
pytest.importorskip("jinja2")


def drawn(made: Comparison) -> str:
    return page(made.summary, made.turns, made.problems, made.about)


@cache
def made() -> str:
    return drawn(result())


def test_the_page_refers_to_nothing_outside_itself() -> None:
    assert not re.findall(r"https?://", made())
    sources = re.findall(r"""(?:src|href|url)\s*[=(]\s*["']?([^"')>\s]{1,30})""", made())
    assert sources and all(one.startswith("data:image/png;base64,") for one in sources)
    assert "<link" not in made() and "<script" not in made()


def test_foreign_text_is_escaped_wherever_it_stands() -> None:
    assert EVIL not in made()
    assert made().count("&lt;script&gt;") >= 4


def test_the_page_holds_table_pictures_problems_and_what_was_run() -> None:
    for part in ("Leaderboard", "<table class='leaderboard'>", "What was run", "sessions_sha256", "builtin-only"):
        assert part in made()
    assert made().count("data:image/png;base64,") == 2


def test_many_problems_are_counted_and_the_first_fifty_shown() -> None:
    many = replace(result(), problems=tuple(Problem("a", n, "bad", f"no. {n};") for n in range(70)))
    shown = drawn(many)
    assert "70 × bad" in shown and "… and 20 more" in shown
    assert "no. 49;" in shown and "no. 50;" not in shown


def test_no_problem_is_said_too() -> None:
    assert "None: everything was read and replayed." in drawn(replace(result(), problems=()))
