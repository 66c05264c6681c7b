"""An encoder without a model, and an empty folder for what is kept."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from toolkit.search.encoders.encoder import Identity


@contextmanager
def fresh_cache() -> Iterator[Path]:
    """Give vectors an empty folder of their own."""
    before = os.environ.get("TOOLKIT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TOOLKIT_CACHE"] = folder
        try:
            yield Path(folder)
        finally:
            os.environ.pop("TOOLKIT_CACHE") if before is None else os.environ.update(TOOLKIT_CACHE=before)


class StubEncoder:
    """Vectors by a table, else by the words of a text; counts what it was asked."""

    def __init__(self, model: str = "stub", dim: int = 16, digest: str = "", table: Mapping[str, Any] | None = None):
        self.identity = Identity(model, digest or f"{model}-{dim}")
        self.dim = dim
        self.table = table or {}
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Any:
        self.asked.append(list(texts))
        return np.array([self._vector(text) for text in texts], dtype=np.float32)

    def _vector(self, text: str) -> list[float]:
        for name, vector in self.table.items():
            if name in text:
                return [float(x) for x in vector]
        spots = [sum(map(ord, word)) % self.dim for word in text.lower().replace(".", "").split()]
        return [float(spots.count(i)) for i in range(self.dim)]
