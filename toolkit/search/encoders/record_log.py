"""A file of records that only grows: content key → vector or number, for what is dear to make and asked again."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.search.encoders.tool_vectors import write_whole

_SEED = 0x5E1EC7
_BLOCK = 4096
Records = NDArray[np.void]
Kind = np.dtype[np.void]


class RecordLog:
    """Content key → vector or number, in a file that grows by one append a batch and is never rewritten for a query.

    A file is a line of JSON and records of one size, each with a checksum: what is cut, torn or
    foreign counts as absent. An append is one write at the file's end, filled up to whole records, so
    parallel processes do not disturb each other and see what the others add; a process that is killed
    loses one batch at most. A full file is written anew with its newer half.

    Args:
        path: The file.
        header: How the values are made; a file with another header counts as empty.
        most: How many are kept.
    """

    def __init__(self, path: Path, header: Mapping[str, str], most: int) -> None:
        self.path = path
        self.header = header
        self.most = most
        self._forget()

    def _forget(self, file_id: tuple[int, int] = (0, 0), kind: Kind | None = None, start: int = 0) -> None:
        self._file_id, self._kind = file_id, kind
        self._start = self._end = start
        self._places: dict[int, int] = {}

    def find(self, keys: Iterable[int]) -> dict[int, Any]:
        """Return the values of those keys that the file holds: a vector (d,) or a number each."""
        try:
            with self.path.open("rb", buffering=0) as file:
                self._catch_up(file)
                places = {key: self._places[key] for key in keys if key in self._places}
                return {key: self._row(file, place) for key, place in places.items()}
        except (OSError, LookupError, ValueError, TypeError):
            self._forget()
            return {}

    def read(self) -> tuple[NDArray[np.uint64], NDArray[Any]]:
        """Return all keys (n,) and their values."""
        self.find(())
        if self._kind is None:
            return np.zeros(0, np.uint64), np.zeros(0, np.uint32)
        try:
            records = self._newest(self.most)
        except OSError:
            records = np.zeros(0, self._kind)
        return records["key"], records["value"]

    def add(self, keys: NDArray[np.uint64], values: NDArray[Any]) -> None:
        """Append values: vectors (n, d) of float32, or numbers (n,) of uint32."""
        records = packed(keys, values)
        self.find(())
        try:
            if records.dtype != self._kind:
                self._write_whole(records)
            elif self._rows + len(records) > self.most:
                self._write_whole(np.concatenate([self._newest(self.most // 2), records]))
            else:
                self._append(records)
        except OSError:  # a full disk, a folder that went: memory must do
            return

    def _append(self, records: Records) -> None:
        with self.path.open("ab", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size - self._start
            file.write(bytes(-size % records.itemsize) + records.tobytes())

    def _newest(self, most: int) -> Records:
        assert self._kind is not None
        with self.path.open("rb") as file:
            file.seek(self._start)
            records = np.fromfile(file, self._kind, self._rows)
        return records[sorted(self._places.values())[-most:]]

    def _write_whole(self, records: Records) -> None:
        write_whole(self.path, {**self.header, **named(records.dtype)}, records.tobytes())

    @property
    def _size(self) -> int:
        return self._kind.itemsize if self._kind is not None else 1

    @property
    def _rows(self) -> int:
        return (self._end - self._start) // self._size

    def _row(self, file: FileIO, place: int) -> Any:
        file.seek(self._start + place * self._size)
        return np.frombuffer(file.read(self._size), self._kind)["value"][0]

    def _catch_up(self, file: FileIO) -> None:
        """Read the keys that the file has gained since the last look; all, if it is another file."""
        state = os.fstat(file.fileno())
        if (state.st_dev, state.st_ino) != self._file_id or state.st_size < self._end:
            self._begin(file, (state.st_dev, state.st_ino))
        if self._kind is None:
            return
        file.seek(self._end)
        while len(block := file.read(_BLOCK * self._size)) >= self._size:
            records = np.frombuffer(block, self._kind, len(block) // self._size)
            places = np.flatnonzero(records["check"] == checks(records))
            self._places |= zip(records["key"][places].tolist(), (self._rows + places).tolist(), strict=True)
            self._end += len(records) * self._size
            file.seek(self._end)

    def _begin(self, file: FileIO, file_id: tuple[int, int]) -> None:
        """Read the header of a file that was not seen before."""
        self._forget()
        file.seek(0)
        line = file.readline(1 << 16)
        header = read_line(line)
        if all(header.get(key) == value for key, value in self.header.items() if key != "model"):
            self._forget(file_id, kind(header["value"], header["shape"]), len(line))


@lru_cache(maxsize=32)
def _kind(value: str, shape: tuple[int, ...]) -> Kind:
    return np.dtype([("key", "<u8"), ("value", value, shape), ("check", "<u4")])


def kind(value: str, shape: Sequence[int]) -> Kind:
    """Return what a record holds: key, value (`<f4` or `<u4` of a shape), checksum.

    Raises:
        ValueError: Nothing of this kind is kept.
    """
    if value not in ("<f4", "<u4"):
        raise ValueError(f"no records of {value!r}")
    return _kind(value, tuple(shape))


def named(of: Kind) -> dict[str, Any]:
    """Return how a file's header names the kind of its records."""
    value = of["value"]
    return {"value": value.base.str, "shape": list(value.shape)}


def packed(keys: NDArray[np.uint64], values: NDArray[Any]) -> Records:
    """Return keys (n,) and their values as records (n,)."""
    records = np.zeros(len(keys), kind(values.dtype.str, values.shape[1:]))
    records["key"], records["value"] = keys, values
    records["check"] = checks(records)
    return records


def checks(records: Records) -> NDArray[np.uint32]:
    """Return the checksum that each record should have (n,): the sum of its words; not 0 for a record of zeros."""
    words = np.ascontiguousarray(records).view("<u4").reshape(len(records), records.itemsize // 4)[:, :-1]
    return np.asarray(words.sum(axis=1, dtype=np.uint32) + np.uint32(_SEED), dtype=np.uint32)


def read_line(line: bytes) -> dict[str, Any]:
    """Return the JSON object of a line; empty when it is none."""
    try:
        found = json.loads(line)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
