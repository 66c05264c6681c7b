import numpy as np
import pytest

from toolkit.search.encoders.encoder import EncoderError
from toolkit.search.retrievers.reranked import Reranked, maxsim
from toolkit.tool import Tool

TOOLS = [Tool("tide_read", "Reads the tide."), Tool("tide_log", "Logs."), Tool("tide", "Tide tide."), Tool("ink_low")]


def by_length(query: str, texts: list[str]) -> list[float]:
    return [-len(text) for text in texts]


def test_the_best_are_put_into_the_order_of_the_scorer_and_the_others_follow() -> None:
    ranking = Reranked(TOOLS, by_length, base="lexical", depth=2).rank("tide")
    looked_at = ranking.names[:2]
    assert len(ranking) == 3
    assert list(ranking.scores) == sorted(ranking.scores, reverse=True)
    assert set(looked_at) == set(Reranked(TOOLS, by_length, base="lexical", depth=3).base.rank("tide", k=2).names)


def test_no_match_is_not_looked_at() -> None:
    assert not Reranked(TOOLS, by_length, base="lexical").rank("zebra")


def test_an_unknown_cross_encoder_is_an_error() -> None:
    with pytest.raises(EncoderError, match="cross-encoder"):
        Reranked(TOOLS, "no/such/folder", base="lexical")


def test_maxsim_is_the_mean_of_the_best_cosines() -> None:
    vectors = {"q": [[1.0, 0.0], [0.0, 2.0]], "a": [[3.0, 0.0]], "b": [[1.0, 1.0], [0.0, 1.0]]}
    scores = maxsim(lambda texts: [np.array(vectors[text]) for text in texts])("q", ["a", "b"])
    assert scores == pytest.approx([0.5, (np.sqrt(0.5) + 1) / 2])
