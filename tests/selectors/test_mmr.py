"""`mmr(k, lambda)` declares what is relevant and not the same thing again."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS, tool
from tests.selectors.views import Ranker, declared, split, view
from toolkit.errors import InputError
from toolkit.search.terms.words import content_terms
from toolkit.selectors import resolve
from toolkit.selectors.mmr import Mmr, diverse, likeness
from toolkit.tool import Tool, definition_text

EIGHTHS = st.integers(0, 8).map(lambda n: n / 8)


def naive_diverse(relevance: list[float], alike: list[list[float]], k: int, weight: float) -> list[int]:
    chosen: list[int] = []
    while len(chosen) < min(k, len(relevance)):
        left = [place for place in range(len(relevance)) if place not in chosen]
        gains = [weight * relevance[p] - (1 - weight) * max((alike[p][c] for c in chosen), default=0) for p in left]
        chosen.append(left[gains.index(max(gains))])
    return chosen


def words(text: str) -> list[str]:
    return re.findall("[a-z0-9]+", text.lower()) if text.isascii() else content_terms(text)


def naive_likeness(tools: tuple[Tool, ...]) -> list[list[float]]:
    counts = [Counter(words(definition_text(one))) for one in tools]
    held = Counter(term for one in counts for term in one)
    rows = [{t: (1 + math.log(n)) * math.log1p(len(tools) / held[t]) for t, n in one.items()} for one in counts]
    norms = [math.sqrt(sum(weight**2 for weight in row.values())) for row in rows]
    return [
        [sum(a[t] * b[t] for t in a.keys() & b.keys()) / (m * n) for b, n in zip(rows, norms, strict=True)]
        for a, m in zip(rows, norms, strict=True)
    ]


@given(st.data(), st.integers(0, 7), EIGHTHS)
def test_each_next_tool_is_the_best_next_one(data: st.DataObject, n: int, weight: float) -> None:
    relevance = sorted(data.draw(st.lists(EIGHTHS, min_size=n, max_size=n)), reverse=True)
    half = data.draw(st.lists(EIGHTHS, min_size=n * n, max_size=n * n))
    alike = np.array(half).reshape(n, n)
    alike = np.maximum(alike, alike.T)
    k = data.draw(st.integers(1, 9))
    assert diverse(np.array(relevance), alike, k, weight) == naive_diverse(relevance, alike.tolist(), k, weight)


def test_likeness_is_the_cosine_of_weighted_words() -> None:
    tools = (*TOOLS, tool("mcp.tee.anzeigen", "Zeigt die größten Bestellungen von 緑茶 an."), tool("mcp.x.y"))
    assert likeness(tools) == pytest.approx(np.array(naive_likeness(tools)), abs=1e-8)
    assert likeness(()).shape == (0, 0)


def test_of_ten_that_are_alike_one_is_declared_and_then_another_kind() -> None:
    same = [tool(f"mcp.s{n}.read_file", "Reads a file from disk.", path="string") for n in range(9)]
    host = view("read", ranker=Ranker(*(one.name for one in same), MAIL.name))
    assert declared("mmr(k=2, lambda=0.3)", host, (*same, MAIL)) == [same[0].name, MAIL.name]
    assert declared("mmr(k=2, lambda=1)", host, (*same, MAIL)) == [same[0].name, same[1].name]


def test_scores_of_nothing_but_zero_leave_the_order_to_the_ranking() -> None:
    host = view("read", ranker=Ranker(LOG.name, READ.name, scores=[0.0, 0.0]))
    assert declared("mmr(k=1)", host) == [LOG.name]


def test_without_a_match_nothing_is_declared_and_all_is_searchable() -> None:
    assert split("mmr", view("x")) == (set(), {one.name for one in TOOLS})


def test_it_chooses_among_the_best_only_and_asks_for_no_more() -> None:
    ranker = Ranker(READ.name, LOG.name, BRANCH.name)
    assert declared("mmr(k=1, among=2)", view("x", ranker=ranker)) == [READ.name]
    assert ranker.asked == [("x", 2, None)]


def test_lambda_is_written_in_specs_and_lambda_with_a_line_in_python() -> None:
    assert resolve("mmr(k=8, lambda=0.5)") == resolve("mmr(lambda_=0.5)") == Mmr(8, lambda_=0.5)
    assert repr(Mmr(8, 0.5)) == "mmr(k=8, lambda=0.5)"


@pytest.mark.parametrize("spec", ["mmr(lambda=1.1)", "mmr(lambda=-0.1)", "mmr(lambda='x')", "mmr(k=0)", "mmr(among=0)"])
def test_what_is_out_of_range_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="^mmr: "):
        resolve(spec)
