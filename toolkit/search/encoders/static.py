"""A static model distilled from MiniLM: one vector a word piece, and a text is their weighted mean.

Made once a machine (each piece of the vocabulary through MiniLM alone, then principal components,
then less weight for frequent pieces), kept in the user's cache under the digest of weights and
recipe, and from then on used with numpy alone: no torch, no MiniLM.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.search.encoders.encoder import Vectors
from toolkit.store import Store, kept

DIMENSIONS = 256
_COMMON = 5e-5
RECIPE = f"static-1 pieces alone, {DIMENSIONS} components, root of deviation, a/(a+p) a={_COMMON}"
_FIRST_WORD = 999
_BATCH = 1024
_LONGEST_TEXT, _LONGEST_WORD = 20_000, 100
_WORD = re.compile(r"[^\W_]+|[^\s]")
_CJK = re.compile(r"([\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f])")
IdsEncoder = Callable[[Sequence[Sequence[int]]], Any]


class Static:
    """Encodes texts by a table of word pieces.

    Args:
        pieces: The vocabulary; a piece that goes on a word starts with `##`.
        vectors: The weighted vector of each piece (v, d), float16.
    """

    def __init__(self, pieces: Sequence[str], vectors: NDArray[np.float16]) -> None:
        self.pieces = tuple(pieces)
        self.vectors = vectors
        self._places = {piece: i for i, piece in enumerate(self.pieces)}
        self._ids = lru_cache(maxsize=1 << 16)(lambda word: wordpieces(word, self._places))

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return the mean of each text's pieces (n, d); zero for a text without any."""
        found = [[i for word in words(text) for i in self._ids(word)] for text in texts]
        rows = [self.vectors[ids].mean(axis=0, dtype=np.float32) if ids else self._nothing for ids in found]
        return np.stack(rows) if rows else np.zeros((0, self.vectors.shape[1]), dtype=np.float32)

    @property
    def _nothing(self) -> Vectors:
        return np.zeros(self.vectors.shape[1], dtype=np.float32)


def words(text: str) -> Iterator[str]:
    """Yield the words of a text as an uncased BERT has them: lower case, no accents, signs alone.

    >>> list(words("Café-bar: 7 €"))
    ['cafe', '-', 'bar', ':', '7', '€']
    """
    text = text[:_LONGEST_TEXT].lower()
    if not text.isascii():
        plain = (sign for sign in unicodedata.normalize("NFD", text) if unicodedata.category(sign) != "Mn")
        text = _CJK.sub(r" \1 ", "".join(plain))
    return (match.group() for match in _WORD.finditer(text))


def wordpieces(word: str, places: Mapping[str, int]) -> tuple[int, ...]:
    """Return the places of a word's pieces, the longest first; none when it cannot be spelled with them.

    >>> wordpieces("waterbeds", {"water": 0, "##bed": 1, "##s": 2}), wordpieces("x", {})
    ((0, 1, 2), ())
    """
    found, start = [], 0
    while start < len(word) <= _LONGEST_WORD:
        prefix = "##" if start else ""
        ends = (end for end in range(len(word), start, -1) if prefix + word[start:end] in places)
        end = next(ends, None)
        if end is None:
            return ()
        found.append(places[prefix + word[start:end]])
        start = end
    return tuple(found)


def distilled(pieces: Sequence[str], encode: IdsEncoder, dimensions: int = DIMENSIONS) -> Static:
    """Return the static model of a vocabulary whose order is by frequency, as MiniLM's.

    Args:
        pieces: The vocabulary; its place is its id.
        encode: Turns rows of ids into vectors (n, d).
        dimensions: How many principal components are kept.
    """
    from tqdm import tqdm

    starts = tqdm(range(0, len(pieces), _BATCH), desc="Distilling MiniLM, once", unit=" batches", disable=None)
    blocks = [np.asarray(encode([[i] for i in range(len(pieces))[at : at + _BATCH]]), np.float32) for at in starts]
    vectors = components(np.concatenate(blocks), dimensions) * frequency_weights(pieces)[:, None]
    return Static(pieces, vectors.astype(np.float16))


def components(vectors: Vectors, most: int) -> Vectors:
    """Return centred vectors on their `most` principal components, each over the root of its deviation.

    So the few strong components, which say little of a text, do not drown the others: (v, min(d, most)).
    """
    centred = vectors - vectors.mean(axis=0)
    _, axes = np.linalg.eigh(centred.T @ centred)
    found = centred @ axes[:, ::-1][:, :most]
    deviation = found.std(axis=0)
    return np.asarray(found / np.sqrt(np.where(deviation > 1e-6, deviation, 1)), dtype=np.float32)


def frequency_weights(pieces: Sequence[str]) -> Vectors:
    """Return a / (a + p) of each piece, its probability p by Zipf's law; 0 for `[CLS]` and its like.

    Arora, Liang, Ma (2017), "A simple but tough-to-beat baseline for sentence embeddings".
    """
    ranks = np.maximum(np.arange(len(pieces)) - _FIRST_WORD, 0) + 1
    chances = 1 / ranks / np.log(len(pieces) + 2)
    special = np.array([len(piece) > 2 and piece[0] == "[" and piece[-1] == "]" for piece in pieces])
    return np.where(special, 0, _COMMON / (_COMMON + chances)).astype(np.float32)


def static_store(digest: str) -> Store:
    """Return where the static model of weights with this digest is kept."""
    return kept("static", {"digest": digest, "recipe": RECIPE})


def kept_or_made(digest: str, make: Callable[[], Static]) -> Static:
    """Return the model kept under a digest, else make it and keep it."""
    found = kept_static(digest)
    if found is None:
        found = make()
        keep_static(digest, found)
    return found


def kept_static(digest: str) -> Static | None:
    """Return the model that is kept under a digest; None when there is none that is whole."""
    for value in static_store(digest).values():
        head, _, body = value.partition(b"\n")
        pieces = json.loads(head)
        return Static(pieces, np.frombuffer(body, "<f2").reshape(len(pieces), -1))
    return None


def keep_static(digest: str, model: Static) -> None:
    """Keep a model; where nothing can be written, memory must do."""
    static_store(digest).put({0: json.dumps(model.pieces).encode() + b"\n" + model.vectors.astype("<f2").tobytes()})
