"""Vectors on disk: content digest → vector, one file an encoder and recipe.

A file is written whole beside its place and renamed, so parallel processes never read half a file;
what is cut, foreign or of another version counts as empty and is written again.
"""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolkit.search.encoders.encoder import Identity, Vectors

FORMAT = "selector-toolkit vectors 1"
_MOST = 400_000
_BLOCK = 1 << 18
Keys = NDArray[np.uint64]


class Table(NamedTuple):
    """Sorted keys (n,) and their vectors (n, d), float16."""

    keys: Keys
    vectors: NDArray[np.float16]


def content_key(parts: Iterable[str]) -> int:
    """Return a 64-bit digest of texts, the same in every process."""
    content = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest())


def cache_folder() -> Path:
    """Return the folder for what can be made again: `TOOLKIT_CACHE`, else `~/.cache/selector-toolkit`."""
    return Path(os.environ.get("TOOLKIT_CACHE") or Path.home() / ".cache" / "selector-toolkit")


class VectorStore:
    """The vectors of one encoder and recipe: those that were asked for in memory, all of them in one file.

    Vectors are rounded to float16 before their first use, so fresh and cached ones are equal.
    """

    def __init__(self, path: Path, header: Mapping[str, str]) -> None:
        self.path = path
        self.header = header
        self._lock = threading.Lock()
        self._table = empty_table()

    def fetch(self, keys: Sequence[int], make: Callable[[Sequence[int]], Vectors]) -> Vectors:
        """Return the vectors of content keys (n, d); `make(positions)` makes the missing ones."""
        wanted = np.array(keys, dtype=np.uint64)
        with self._lock:
            missing = self._missing(wanted)
            if missing:
                self._add(wanted[missing], make(missing))
            table = self._table
        return table.vectors[np.searchsorted(table.keys, wanted)].astype(np.float32)

    def _missing(self, wanted: Keys) -> list[int]:
        """Return one position of each key that neither the table nor the file holds."""
        absent = wanted[~known(self._table, wanted)]
        if not len(absent):
            return []
        self._table = merged(self._table, read_table(self.path, self.header, absent))
        places = np.flatnonzero(~known(self._table, wanted))
        _, first = np.unique(wanted[places], return_index=True)
        return sorted(places[first].tolist())

    def _add(self, keys: Keys, vectors: Vectors) -> None:
        fresh = sorted_table(keys, vectors.astype(np.float16))
        self._table = merged(fresh, self._table)
        kept = read_table(self.path, self.header)
        write_table(self.path, self.header, merged(fresh, kept if len(kept.keys) < _MOST else empty_table()))


def open_store(identity: Identity, recipe: str) -> VectorStore:
    """Return the store of an encoder and a recipe; one a process."""
    header = {
        "format": FORMAT,
        "model": identity.model,
        "digest": identity.digest,
        "tokenizer": identity.tokenizer,
        "recipe": recipe,
    }
    name = f"{content_key((identity.digest, identity.tokenizer, recipe)):016x}.bin"
    return _opened(cache_folder() / "vectors" / name, tuple(header.items()))


@lru_cache(maxsize=32)
def _opened(path: Path, header: tuple[tuple[str, str], ...]) -> VectorStore:
    return VectorStore(path, dict(header))


def read_header(path: Path) -> dict[str, str | int]:
    """Return how the vectors of a file were made; empty when it is no such file."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.readline(1 << 16))
    except (OSError, ValueError):
        return {}
    return header if isinstance(header, dict) else {}


def read_table(path: Path, header: Mapping[str, str], wanted: Keys | None = None) -> Table:
    """Return the wanted rows of a file, all by default; none if it was not made as `header` says, or is damaged.

    The model's name is for people: an alias with the same digest is the same model.
    """
    found = read_header(path)
    if any(found.get(key) != value for key, value in header.items() if key != "model"):
        return empty_table()
    try:
        with path.open("rb") as file:
            start, state = len(file.readline(1 << 16)), os.fstat(file.fileno())
            rows, dim = int(found["rows"]), int(found["dim"])
            if state.st_size != start + rows * (8 + 2 * dim):
                return empty_table()
            if _checksum(path, start, (state.st_ino, state.st_mtime_ns)) != found["crc32"]:
                return empty_table()
            keys = np.fromfile(file, "<u8", rows)
            kept = np.ones(rows, np.bool_) if wanted is None else np.isin(keys, wanted)
            vectors = np.asarray(np.memmap(file, "<f2", "r", start + 8 * rows, (rows, dim))[kept])
    except (OSError, KeyError, ValueError):
        return empty_table()
    return Table(keys[kept], vectors)


@lru_cache(maxsize=32)
def _checksum(path: Path, start: int, state: tuple[int, int]) -> int:
    """Return the checksum of what lies behind a file's first line, once for each of its states; in little memory."""
    found = 0
    with path.open("rb") as file:
        file.seek(start)
        while block := file.read(_BLOCK):
            found = zlib.crc32(block, found)
    return found


def write_table(path: Path, header: Mapping[str, str], table: Table) -> None:
    """Write a table whole, by an atomic rename. Without a folder to write in, memory must do."""
    body = table.keys.astype("<u8").tobytes() + table.vectors.astype("<f2").tobytes()
    numbers = {"dim": table.vectors.shape[1], "rows": len(table.keys), "crc32": zlib.crc32(body)}
    write_whole(path, {**header, **numbers}, body)


def write_whole(path: Path, header: Mapping[str, Any], body: bytes) -> None:
    """Write a line of JSON and the bytes behind it, by an atomic rename; nothing without a folder to write in."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent)
    except OSError:
        return
    with os.fdopen(handle, "wb") as file:
        file.write(json.dumps(header).encode() + b"\n" + body)
    os.replace(name, path)


def empty_table() -> Table:
    return Table(np.zeros(0, dtype=np.uint64), np.zeros((0, 0), dtype=np.float16))


def sorted_table(keys: Keys, vectors: NDArray[np.float16]) -> Table:
    """Return a table of keys and vectors; of a doubled key the first stays."""
    keys, first = np.unique(keys, return_index=True)
    return Table(keys, vectors[first])


def merged(first: Table, second: Table) -> Table:
    """Return the union of two tables; the first's vectors win, and its dimension."""
    if not len(first.keys) or first.vectors.shape[1] != second.vectors.shape[1]:
        return first if len(first.keys) else second
    keys, vectors = np.concatenate([first.keys, second.keys]), np.concatenate([first.vectors, second.vectors])
    return sorted_table(keys, vectors)


def known(table: Table, wanted: Keys) -> NDArray[np.bool_]:
    """Return which of the wanted keys the table holds (n,)."""
    if not len(table.keys):
        return np.zeros(len(wanted), dtype=np.bool_)
    places = np.minimum(np.searchsorted(table.keys, wanted), len(table.keys) - 1)
    held: NDArray[np.bool_] = table.keys[places] == wanted
    return held
