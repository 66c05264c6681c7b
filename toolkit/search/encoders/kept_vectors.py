"""Vectors that are made once: recent ones in memory, all of them on disk by a digest of what was encoded.

Many are made in parts, and each part is kept when it is done: whoever interrupts goes on from there.

A query may be private, so no text is written: who can read a file (its owner alone) can still tell whether a text
that he guesses is among them, and roughly what the others are about.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from importlib.util import find_spec
from itertools import islice
from pathlib import Path

import numpy as np

from toolkit.search.encoders.encoder import Encoder, Identity, Vectors, unit_rows
from toolkit.store import Store, cache_folder, content_key, kept

FORMAT = "selector-toolkit vectors 2"
_RECENT = 1 << 14
_PART = 1 << 8
Make = Callable[[Sequence[int]], Vectors]


class KeptVectors:
    """Content key → vector, for one encoder and one way to make texts of what is encoded.

    Vectors are rounded to `kind` before their first use, so fresh and kept ones are equal.

    Args:
        store: Where they lie.
        kind: How a number is written: `<f2` or `<f4`.
        recent: How many stay in memory.

    Attributes:
        not_finite: The keys of vectors that came with NaN or infinity, which count as zero.
    """

    def __init__(self, store: Store, kind: str, recent: int = _RECENT) -> None:
        self.store = store
        self.kind = np.dtype(kind)
        self.recent = recent
        self.not_finite: set[int] = set()
        self._known: dict[int, bytes] = {}
        self._lock = threading.Lock()

    def fetch(self, keys: Sequence[int], make: Make) -> Vectors:
        """Return the vectors of content keys (n, d); `make(positions)` makes the missing ones (m, d)."""
        with self._lock:
            rows = self._found(keys)
            missing: dict[int, int] = {}
            for at, key in enumerate(keys):
                if key not in rows:
                    missing.setdefault(key, at)
            rows |= self._made(missing, make)
            if len(set(map(len, rows.values()))) > 1:  # an encoder that changed its dimension behind its digest
                rows |= self._made({key: at for at, key in enumerate(keys)}, make)
            self._remember(rows)
        size = len(rows[keys[0]]) // self.kind.itemsize if keys else 0
        found = np.frombuffer(b"".join(map(rows.__getitem__, keys)), self.kind)
        return found.reshape(len(keys), size).astype(np.float32)

    def _found(self, keys: Sequence[int]) -> dict[int, bytes]:
        rows = {key: self._known[key] for key in keys if key in self._known}
        absent = [key for key in dict.fromkeys(keys) if key not in rows]
        return rows | self.store.get(absent) if absent else rows

    def _made(self, missing: dict[int, int], make: Make) -> dict[int, bytes]:
        """Make vectors part by part and keep each; a row of zeros, and one with what is not finite, stays in memory."""
        rows: dict[int, bytes] = {}
        for part in _parts(list(missing)):
            made = make([missing[key] for key in part])
            broken = {key for key, row in zip(part, made, strict=True) if not np.isfinite(row).all()}
            self.not_finite = (self.not_finite - set(part)) | broken
            rows |= zip(part, map(bytes, np.nan_to_num(made).astype(self.kind)), strict=True)
            self.store.put({key: rows[key] for key in part if any(rows[key]) and key not in broken})
        return rows

    def _remember(self, rows: dict[int, bytes]) -> None:
        self._known |= rows
        for key in list(islice(self._known, max(0, len(self._known) - self.recent))):
            del self._known[key]


def _parts(keys: Sequence[int]) -> Iterator[Sequence[int]]:
    """Yield keys `_PART` at a time; several parts that take long show how far they are, on a terminal."""
    parts = [keys[at : at + _PART] for at in range(0, len(keys), _PART)]
    if len(parts) < 2 or not find_spec("tqdm"):
        yield from parts
        return
    from tqdm import tqdm

    with tqdm(total=len(keys), desc="Encoding, once", unit=" texts", delay=1, disable=None) as bar:
        for part in parts:
            yield part
            bar.update(len(part))


def tool_vectors(identity: Identity, recipe: str) -> KeptVectors:
    """Return the vectors of tools under an encoder and a recipe; one a process."""
    return _opened("vectors", identity, recipe, "<f2", cache_folder())


def query_vectors(encoder: Encoder, queries: Sequence[str]) -> tuple[Vectors, bool]:
    """Return the unit vectors of queries (q, d) under an encoder, and whether it gave all of them finite.

    Each text is encoded alone: in a batch its last digits would depend on its neighbours, and with them
    the answer on what was asked before (`docs/semantics.md` Q3).
    """

    def alone(at: Sequence[int]) -> Vectors:
        return np.concatenate([unit_rows(encoder.encode, [queries[place]]) for place in at])

    vectors = _opened("queries", encoder.identity, "", "<f4", cache_folder())
    keys = [content_key((query,)) for query in queries]
    return vectors.fetch(keys, alone), vectors.not_finite.isdisjoint(keys)


@lru_cache(maxsize=32)
def _opened(folder: str, identity: Identity, recipe: str, kind: str, cache: Path) -> KeptVectors:
    """Return what is kept in one file; the model's name is for people: an alias with the same digest is the same."""
    how = {"format": FORMAT, "digest": identity.digest, "tokenizer": identity.tokenizer, "recipe": recipe}
    return KeptVectors(kept(folder, how, {"model": identity.model}), kind)
