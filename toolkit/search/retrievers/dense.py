"""The dense retriever: cosine between the query and what a tool says of itself."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from toolkit.search.encoders.encoder import Encoder, Vectors, unit_rows
from toolkit.search.encoders.kept_vectors import query_vectors, tool_vectors
from toolkit.search.encoders.models import encoder
from toolkit.search.encoders.views import NAME_IN_CLAUSE, NAME_IN_WHOLE, PARAMETERS, RECIPE, views
from toolkit.search.places import places
from toolkit.search.ranking import Ranking
from toolkit.store import content_key
from toolkit.tool import Tool

FLOOR = 0.1
NON_FINITE = "non_finite_vector"
_SMALL = 1 << 11
_PLACEHOLDER = re.compile(r"</?[^<>\n]{1,60}>")


class Dense:
    """Ranks by the weighted mean of the cosines between a query and a tool's views.

    A mean of cosines is linear, so one vector a tool holds all its views: the weighted sum of their
    unit vectors. For a clause of a longer query the name weighs more, so there are two. Vectors are
    kept on disk by content, so a changed tool is embedded again alone. A vector of a tool or a query that
    is not finite counts as zero, which `notices` says of the last query.

    Args:
        tools: The tools to index.
        encoder: `minilm`, `tools` (MiniLM adapted to tool search), `multilingual`, `static`, the folder of
            a sentence-transformers model, the file of an adapter, or an object with `encode(texts)` and
            `identity`.

    Raises:
        EncoderError, MissingExtraError: The encoder cannot be had.
        InputError: The file is no adapter.
    """

    def __init__(self, tools: Sequence[Tool], encoder: str | Encoder = "minilm") -> None:
        self.encoder = named(encoder)
        self.notices: tuple[str, ...] = ()
        self.places = places(tools)
        text, name = self._tool_vectors(self.places.tools)
        self._whole, self._clause = (mean(text, name, weight) for weight in (NAME_IN_WHOLE, NAME_IN_CLAUSE))

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        """Return the tools nearest to `query`; see `Retriever`. What is further than `FLOOR` is no match."""
        if not len(self.places):
            return Ranking()
        mask = self.places.mask(among)
        scores = self.similarities([query])[0]
        scores = np.where(scores >= FLOOR, scores, 0.0)
        return self.places.best(scores if mask is None else np.where(mask, scores, 0.0), k)

    def similarities(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean cosine of a query, and of its clauses after it, with each tool: (t, n), in −1…1.

        Rounded to six places, so that equal tools score equal wherever they stand in a batch.
        """
        vectors, finite = query_vectors(self.encoder, [unmarked(text) for text in texts])
        self.notices = () if finite and self._finite else (NON_FINITE,)
        cosines = np.concatenate([vectors[:1] @ self._whole.T, vectors[1:] @ self._clause.T])
        return np.asarray(np.round(cosines, 6), dtype=np.float64)

    def near_names(self, query: str) -> NDArray[np.float64]:
        """Return the mean cosine of a query with each tool where the name weighs as for a clause (n,)."""
        cosines = query_vectors(self.encoder, [unmarked(query)])[0] @ self._clause.T
        return np.asarray(np.round(cosines[0], 6), dtype=np.float64)

    def _tool_vectors(self, tools: Sequence[Tool]) -> tuple[Vectors, Vectors]:
        """Return the vectors of the tools' texts and of their names, (n, d) each."""
        keys = list(map(_key if len(tools) <= _SMALL else _key.__wrapped__, tools))
        vectors = tool_vectors(self.encoder.identity, RECIPE)
        both = vectors.fetch(keys, lambda missing: embed([tools[i] for i in missing], self.encoder))
        self._finite = vectors.not_finite.isdisjoint(keys)
        return both[:, : both.shape[1] // 2], both[:, both.shape[1] // 2 :]

    def __repr__(self) -> str:
        return f"dense({self.encoder!r})"


@lru_cache(maxsize=1 << 13)
def _key(tool: Tool) -> int:
    """Return the key of a tool's vectors; kept in small catalogs, which replays index again with other neighbours."""
    return content_key((tool.name, tool.description, tool.schema_text))


def named(given: str | Encoder) -> Encoder:
    """Return the encoder that a name means, or the encoder itself."""
    if not isinstance(given, str):
        return given
    path = Path(given)
    return encoder(given, path.stat().st_mtime_ns if path.is_file() else 0)


def embed(tools: Sequence[Tool], encoder: Encoder) -> Vectors:
    """Return the vectors of each tool's text and name, side by side (n, 2d).

    The text's is the weighted mean of description and parameters.
    """
    seen = [views(tool) for tool in tools]
    texts = list(dict.fromkeys(text for view in seen for text in view))
    rows = dict(zip(texts, unit_rows(encoder.encode, texts), strict=True))
    full, parameters, name = (np.stack([rows[text] for text in column]) for column in zip(*seen, strict=True))
    return np.concatenate([mean(full, parameters, PARAMETERS), name], axis=1)


def mean(first: Vectors, second: Vectors, weight: float) -> Vectors:
    """Return the weighted mean of two arrays, the first with weight 1."""
    found = np.float32(weight) * second
    found += first
    found /= np.float32(1 + weight)
    return found


def unmarked(text: str) -> str:
    """Return a text without `<placeholders>`, or as it is when nothing else is in it."""
    plain = _PLACEHOLDER.sub(" ", text)
    return plain if plain.strip() else text
