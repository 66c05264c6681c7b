"""A second look at the best of another retriever: token by token, or by a cross-encoder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.search.encoders.encoder import EncoderError, Vectors
from toolkit.search.encoders.models import minilm_folder, sentence_transformer
from toolkit.search.encoders.views import views
from toolkit.search.ranking import Ranking, tie_order
from toolkit.search.retrievers.registry import retriever
from toolkit.tool import Catalog, Tool

Scorer = Callable[[str, Sequence[str]], Sequence[float]]


class Reranked:
    """Puts the best `depth` tools of a retriever into the order of a scorer; the others follow.

    Scores of the looked-at lie between 1 and 2, of the others below 1.

    Args:
        tools: The tools to index.
        scorer: `maxsim` (MiniLM token by token), the folder of a cross-encoder, or a function of a
            query and texts to one score a text.
        base: Spec of the retriever that is looked over.
        depth: How many of its tools.

    Raises:
        EncoderError, MissingExtraError: The scorer cannot be had.
    """

    def __init__(
        self, tools: Sequence[Tool], scorer: str | Scorer = "maxsim", base: str = "hybrid", depth: int = 20
    ) -> None:
        self.tools = Catalog(tools)
        self.base = retriever(base)(tools)
        self.depth = depth
        self.score = _named(scorer) if isinstance(scorer, str) else scorer

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        """Return the best tools for `query`; see `Retriever`."""
        found = self.base.rank(query, among, max(k, self.depth))
        seen = found.names[: self.depth]
        texts = [_whole(views(self.tools[name])[0]) for name in seen]
        values = np.asarray(self.score(_whole(query), texts) if seen else (), float)
        scores = dict(zip(seen, np.round(1 + 1 / (1 + np.exp(-values)), 6).tolist(), strict=True))
        first = sorted(seen, key=lambda name: (-scores[name], tie_order(self.tools[name])))
        rest = [(name, score / (1 + score)) for name, score in list(found)[self.depth :]]
        ranked = [(name, scores[name]) for name in first] + rest
        return Ranking(tuple(name for name, _ in ranked[: max(k, 0)]), tuple(score for _, score in ranked[: max(k, 0)]))


def _whole(text: str) -> str:
    """Return a text without lone surrogates, which no tokenizer reads."""
    return text.encode("utf-8", "replace").decode()


@cache
def _named(name: str) -> Scorer:
    if name == "maxsim":
        return maxsim(_token_vectors)
    if not Path(name).is_dir():
        raise EncoderError(f"no cross-encoder at {name!r}.", hint="Give the folder of a sentence-transformers one.")
    from sentence_transformers import CrossEncoder

    model = CrossEncoder(name, device="cpu", local_files_only=True)
    return lambda query, texts: model.predict([(query, text) for text in texts], show_progress_bar=False)


def _token_vectors(texts: Sequence[str]) -> Any:
    model = sentence_transformer(str(minilm_folder()))
    return model.encode(list(texts), output_value="token_embeddings", show_progress_bar=False)


def maxsim(tokens: Callable[[Sequence[str]], Any]) -> Scorer:
    """Return a scorer: the mean, over a query's tokens, of each one's highest cosine with a text's tokens."""

    def score(query: str, texts: Sequence[str]) -> list[float]:
        asked, *told = [_unit(np.asarray(one)) for one in tokens([query, *texts])]
        return [float((asked @ one.T).max(axis=1).mean()) for one in told]

    return score


def _unit(rows: Vectors) -> Vectors:
    found: Vectors = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    return found
