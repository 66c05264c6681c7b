"""What is kept on disk: one store for all that is dear to make and can be made again, and whole files.

A store is a SQLite file of key → bytes, each value with a checksum. It is opened anew for every request, so
threads, forked workers and other processes share it. Where it cannot be read or written, or holds what is
damaged or foreign, it is left alone, one line says so, and its entries count as absent: whoever asks makes them
again, and no run ends for it.
Measured: 10,000 vectors of 768 float16 are read in .05 CPU seconds, one value in .0001.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import threading
import time
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from toolkit.errors import ToolkitWarning, why

VERSION = 1
"""Raised when a store is laid out otherwise; a file of another version is left alone."""

_MOST = 1 << 30
_TABLES = (
    "CREATE TABLE IF NOT EXISTS kept (key INTEGER PRIMARY KEY, value BLOB, sum INTEGER, at INTEGER)",
    "CREATE TABLE IF NOT EXISTS about (name TEXT PRIMARY KEY, value TEXT)",
)
_FIND = "SELECT key, value, sum FROM kept WHERE key IN (SELECT value FROM json_each(?))"
_OLDER_HALF = "DELETE FROM kept WHERE key IN (SELECT key FROM kept ORDER BY at LIMIT (SELECT count(*) / 2 FROM kept))"
_IN_USE = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_LOCKED_SECONDS = 10.0


def cache_folder() -> Path:
    """Return the folder of all that is kept between runs: `TOOLKIT_CACHE`, else `~/.cache/selector-toolkit`."""
    return Path(os.environ.get("TOOLKIT_CACHE") or Path.home() / ".cache" / "selector-toolkit")


def content_key(parts: Iterable[str]) -> int:
    """Return a digest of texts as a signed 64-bit number, the same in every process."""
    content = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), signed=True)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a place beside `path` to write to; it becomes `path` in one step, or is gone when something was raised."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
    try:
        yield draft
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_whole(path: Path, body: bytes) -> None:
    """Write a file, whole or not at all; parallel writers never mix.

    Raises:
        OSError: It cannot be written; what stood there is untouched.
    """
    with whole(path) as draft:
        draft.write_bytes(body)


class Store:
    """Key → bytes in one file that only its owner may read.

    A text is never a key: who can read the file can tell whether a text that he guesses is among them.

    Args:
        path: The file; made, with its folder, at the first `put`.
        about: What the file says of itself to a person.
        most: Bytes above which the older half of the entries goes.
    """

    def __init__(self, path: Path, about: Mapping[str, str] | None = None, most: int = _MOST) -> None:
        self.path = path
        self.about = about or {}
        self.most = most

    def get(self, keys: Iterable[int]) -> dict[int, bytes]:
        """Return the values of those keys that are kept whole."""
        return dict(self._read(_FIND, json.dumps(list(keys))))

    def values(self) -> list[bytes]:
        """Return every value that is kept whole."""
        return [value for _, value in self._read("SELECT key, value, sum FROM kept")]

    def put(self, values: Mapping[int, bytes]) -> None:
        """Keep values under their keys; where that cannot be, the file is left alone and told of."""
        try:
            self._write(values)
        except sqlite3.Error as error:
            if error.sqlite_errorcode & 0xFF not in _IN_USE:
                self._tell(str(error))
        except OSError as error:
            self._tell(why(error))

    def _tell(self, what: str) -> None:
        """Warn that nothing is kept; Python shows a warning of one text once."""
        hint = "It is left alone, and nothing is kept there. See toolkit cache."
        warnings.warn(f"{self.path}: {what}. {hint}", ToolkitWarning, stacklevel=3)

    def clear(self) -> None:
        """Remove the file."""
        for name in (f"{self.path.name}-journal", self.path.name):
            with suppress(OSError):
                self.path.with_name(name).unlink()

    def _read(self, query: str, *given: str) -> Iterator[tuple[int, bytes]]:
        try:
            with self._opened() as connection:
                for key, value, found in connection.execute(query, given):
                    if isinstance(value, bytes) and zlib.crc32(value) == found:
                        yield key, value
        except (sqlite3.Error, OSError):
            return

    def _write(self, values: Mapping[int, bytes]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600))
        now = time.time_ns()
        rows = [(key, value, zlib.crc32(value), now) for key, value in values.items()]
        with self._opened() as connection:
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute("BEGIN IMMEDIATE")
            for table in _TABLES:
                connection.execute(table)
            connection.executemany("INSERT OR IGNORE INTO about VALUES (?, ?)", self.about.items())
            connection.executemany("INSERT OR REPLACE INTO kept VALUES (?, ?, ?, ?)", rows)
            connection.execute("COMMIT")
            if self.path.stat().st_size > self.most:
                connection.execute(_OLDER_HALF)
                connection.execute("VACUUM")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        address = f"{self.path.absolute().as_uri()}?mode=rw"
        connection = sqlite3.connect(address, _LOCKED_SECONDS, uri=True, isolation_level=None)
        try:
            yield connection
        finally:
            connection.close()


def kept(kind: str, how: Mapping[str, str], about: Mapping[str, str] | None = None) -> Store:
    """Return the cache's store of one kind; values that are made in another way have another file.

    Args:
        kind: The folder in the cache.
        how: All that a value depends on beside its key.
        about: More for a person who looks into the file.
    """
    name = content_key((str(VERSION), *(f"{key}={how[key]}" for key in sorted(how))))
    return Store(cache_folder() / kind / f"{name & (1 << 64) - 1:016x}.sqlite", {**how, **(about or {})})
