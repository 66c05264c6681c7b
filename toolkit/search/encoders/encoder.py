"""What turns texts into vectors: the protocol, a model that loads at its first text, and the check of its rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import ToolkitError

Vectors = NDArray[np.float32]


class EncoderError(ToolkitError):
    """An encoder could not be built, or failed on a text."""

    code = "semantic_unavailable"


@dataclass(frozen=True, slots=True)
class Identity:
    """What a vector depends on: `digest` is of the weights, so an alias is the same model."""

    model: str
    digest: str
    tokenizer: str = ""


class Encoder(Protocol):
    """Turns texts into unit rows."""

    @property
    def identity(self) -> Identity: ...

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return float32 vectors (n, d)."""
        ...


class LazyModel:
    """An encoder that loads its model at the first text."""

    def __init__(self, identity: Identity, load: Callable[[], Callable[[Sequence[str]], Any]], spec: str) -> None:
        self.identity = identity
        self.spec = spec
        self._load = cache(load)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return float32 vectors (n, d); a row that is not finite is NaN."""
        return unit_rows(self._load(), texts)

    def __repr__(self) -> str:
        return self.spec


def checked(encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Vectors:
    """Return what `encode` makes of texts as unit rows; NaN, infinite and zero rows become zero; see `unit_rows`."""
    return np.nan_to_num(unit_rows(encode, texts))


def unit_rows(encode: Callable[[Sequence[str]], Any], texts: Sequence[str]) -> Vectors:
    """Return what `encode` makes of texts as unit rows; a row of zeros stays one, a row that is not finite becomes NaN.

    Raises:
        EncoderError: It raised, or returned no array of one row a text.
    """
    try:
        vectors = np.asarray(encode([text.encode("utf-8", "replace").decode() for text in texts]), dtype=np.float32)
    except Exception as error:
        raise EncoderError(f"the encoder failed on {len(texts)} texts: {error!r}.") from error
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise EncoderError(f"the encoder returned shape {vectors.shape} for {len(texts)} texts, expected (n, d).")
    finite = np.isfinite(vectors).all(axis=1, keepdims=True)
    norms = np.linalg.norm(np.where(finite, vectors, 0), axis=1, keepdims=True)
    return np.where(finite, vectors / np.where(norms > 0, norms, 1), np.nan).astype(np.float32)
