"""Chances are comparable between queries and never change an order."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit import load_catalog
from toolkit.search import ToolSearch
from toolkit.search.encoders.models import available
from toolkit.search.retrievers.chances import chances
from toolkit.tool import Tool

numbers = st.floats(-2, 2).map(lambda x: round(x, 3))
embedding = pytest.mark.skipif(not available("minilm"), reason="MiniLM is not installed")
TOOLS = (Tool("mcp.git.close_issue", "Close an issue."), Tool("mcp.sea.tide_table", "When the tide comes at a coast."))


@given(st.lists(st.tuples(numbers, st.floats(0, 90), numbers), max_size=12))
def test_a_chance_lies_in_0_to_1_and_never_rises_down_the_ranking(rows: list[tuple[float, float, float]]) -> None:
    cosines, points, fused = np.array(sorted(rows, key=lambda row: -row[2])).reshape(-1, 3).T
    found = chances(cosines, points, fused)
    assert len(found) == len(rows) and ((found >= 0) & (found <= 1)).all() and (np.diff(found) <= 0).all()


@embedding
def test_an_answer_to_words_that_mean_nothing_is_poor() -> None:
    tools = load_catalog("datasets/mcp-servers/tools.jsonl").tools
    answer = ToolSearch("hybrid")("xyzzy qqq", tools, (), 5)
    assert answer.poor and answer.unmatched_words == ("xyzzy", "qqq") and answer.hits[0][1] < 0.05


@embedding
def test_an_answer_whose_best_hit_hardly_fits_says_so_and_one_that_fits_does_not() -> None:
    search = ToolSearch("hybrid")
    assert search("close this cinema on a tax form for poets", TOOLS, (), 5).poor
    good = search("close an issue", TOOLS, (), 5)
    assert not good.poor and good.hits[0] == ("mcp.git.close_issue", pytest.approx(0.9, abs=0.1))


@embedding
def test_what_a_selector_ranks_by_stays_the_retrievers_score() -> None:
    search = ToolSearch("hybrid")
    ranked = search.rank("close an issue", TOOLS)
    assert ranked.scores == search.build(TOOLS).rank("close an issue").scores
    assert ranked.names == search("close an issue", TOOLS, (), 5).names
