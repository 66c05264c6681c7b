from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.search.stubs import StubEncoder
from toolkit import Host
from toolkit.search import Dense, Hybrid, ToolSearch
from toolkit.search.encoders.encoder import EncoderError, Identity, checked
from toolkit.search.retrievers.dense import NON_FINITE
from toolkit.tool import Tool

TOOLS = [Tool("tide_read", "Reads the tide."), Tool("kiln_on", "Heats the oven."), Tool("ink_low", "Ink level.")]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TOOLKIT_CACHE", str(tmp_path))
    yield


def test_scores_are_the_weighted_mean_of_the_cosines_of_the_views() -> None:
    encoder = StubEncoder(dim=64)
    full, name, query = checked(encoder.encode, ["tide read: Reads the tide.", "tide read", "the tide"])
    expected = (full @ query + 0.1 * (name @ query)) / 1.1
    assert Dense(TOOLS, encoder).similarities(["the tide"])[0][2] == pytest.approx(expected, abs=1e-3)


def test_a_changed_tool_is_embedded_alone() -> None:
    encoder = StubEncoder()
    Dense(TOOLS, encoder)
    encoder.asked.clear()
    Dense([*TOOLS[:2], Tool("ink_low", "Another text.")], encoder)
    assert encoder.asked == [["ink low: Another text.", "ink low"]]


def test_a_subset_scores_as_in_the_whole() -> None:
    dense = Dense(TOOLS, StubEncoder())
    assert set(dense.rank("tide", ["kiln_on", "tide_read"]).names) <= {"kiln_on", "tide_read"}


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0])
def test_rows_that_are_no_direction_become_zero(value: float) -> None:
    assert not checked(lambda texts: [[value, value]], ["a"]).any()


def test_an_encoder_that_raises_or_answers_another_shape_is_an_encoder_error() -> None:
    def raises(texts: Sequence[str]) -> Any:
        raise RuntimeError("no")

    for encode in (raises, lambda texts: [1.0], lambda texts: [[1.0]] * 5):
        with pytest.raises(EncoderError):
            checked(encode, ["a", "b"])


class Moody(StubEncoder):
    """Fails on queries, not on tools."""

    identity = Identity("moody", "moody")

    def encode(self, texts: Sequence[str]) -> Any:
        if "now" in texts:
            raise RuntimeError("out of memory")
        return super().encode(texts)


def test_an_encoder_that_fails_at_a_query_leaves_the_lexical_answer_and_a_notice() -> None:
    hybrid = Hybrid([*TOOLS, Tool("now")], Moody())
    assert hybrid.rank("now").names == ("now",)
    assert hybrid.notices == ("semantic_unavailable",)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_told_for_as_long_as_it_counts(value: float) -> None:
    encoder = StubEncoder(dim=4, table={"broken": [value] * 4})
    dense = Dense(TOOLS, encoder)
    for query, told in (("tide", ()), ("broken", (NON_FINITE,)), ("broken", (NON_FINITE,)), ("oven", ())):
        dense.rank(query)
        assert dense.notices == told
    for retriever in (Dense([*TOOLS, Tool("broken")], encoder), Hybrid([*TOOLS, Tool("broken")], encoder)):
        retriever.rank("tide")
        assert retriever.notices == (NON_FINITE,)


def test_a_host_hears_of_a_vector_that_is_not_finite_at_the_next_boundary() -> None:
    encoder = StubEncoder(table={"broken": [np.nan] * 16})
    tools = [tool.flagged(True) for tool in TOOLS]
    host = Host(tools, retriever=ToolSearch(lambda told: Hybrid(told, encoder)))
    verdict = host.start_turn("look").start_pass().search("broken ink level")
    assert verdict.names == ("ink_low",) and verdict.answer is not None
    assert verdict.answer.notices == (NON_FINITE,)
    assert host.start_turn("go on").notices == (NON_FINITE,)
