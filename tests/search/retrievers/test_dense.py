from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.search.stubs import StubEncoder
from toolkit.search import Dense, Hybrid
from toolkit.search.encoders.encoder import EncoderError, Identity, checked
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
