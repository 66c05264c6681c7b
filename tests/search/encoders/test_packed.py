"""Many texts in one matrix of tokens: the vectors are those of the model's own encoding."""

from typing import Any

import numpy as np
import pytest

from toolkit.search.encoders.models import available, load_sentence_transformer, minilm_folder
from toolkit.search.encoders.packed import packed, packs

pytestmark = pytest.mark.skipif(not available("minilm"), reason="MiniLM is not installed")
TEXTS = ("close an issue", "", "  list\nthe issues ", "word " * 600, "潮汐 of the sea", "close an issue", "tide", "?!")


@pytest.fixture(scope="module")
def model() -> Any:
    return load_sentence_transformer(str(minilm_folder()))


def test_each_vector_is_that_of_the_models_own_encoding_within_1e_6(model: Any) -> None:
    ours, theirs = packed(model)(TEXTS), model.encode(list(TEXTS), show_progress_bar=False)
    assert packs(model) and np.abs(ours - theirs).max() < 1e-6


def test_a_text_has_one_vector_whatever_stands_beside_it(model: Any) -> None:
    encode = packed(model)
    alone = np.concatenate([encode([text]) for text in TEXTS])
    assert np.abs(encode([*TEXTS, *("more " * n for n in range(40))])[: len(TEXTS)] - alone).max() < 1e-6


def test_a_model_with_another_pooling_is_left_to_its_own_encoding(model: Any) -> None:
    assert not packs(list(model)[:2])
