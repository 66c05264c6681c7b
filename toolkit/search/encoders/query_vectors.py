"""The vectors of queries: recent ones in memory, all of them on disk, so that none is encoded twice.

A query may be private, so its text is never written: a file holds a digest of each text and its
vector, and only its owner may read it. Who can read it can still tell whether a text that he guesses
is among them, and roughly what the others are about. Where nothing can be written in the cache
folder (`TOOLKIT_CACHE`), the vectors stay in memory.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np

from toolkit.search.encoders.encoder import Encoder, Identity, Vectors, checked
from toolkit.search.encoders.record_log import RecordLog
from toolkit.search.encoders.tool_vectors import cache_folder, content_key

FORMAT = "selector-toolkit queries 2"
_RECENT = 4096
_MOST = 1 << 17


class QueryVectors:
    """The vectors of queries under one encoder.

    Each text is encoded alone: in a batch its last digits would depend on its neighbours, and with them
    the answer on what was asked before (`semantics.md` Q3).

    Args:
        encoder: Encodes what is neither in memory nor on disk.
        log: The vectors on disk; kept as float32, so fresh and cached ones are equal.
        size: How many recent ones are kept in memory.
    """

    def __init__(self, encoder: Encoder, log: RecordLog, size: int = _RECENT) -> None:
        self.encoder = encoder
        self.log = log
        self.size = size
        self._kept: OrderedDict[str, Vectors] = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, queries: Sequence[str]) -> Vectors:
        """Return the unit vectors of queries (q, d)."""
        with self._lock:
            fresh = [query for query in dict.fromkeys(queries) if query not in self._kept]
            if fresh:
                self._kept |= self._learned(fresh)
            vectors = np.stack([self._kept[query] for query in queries])
            for query in queries:
                self._kept.move_to_end(query)
            while len(self._kept) > self.size:
                self._kept.popitem(last=False)
        return vectors

    def _learned(self, fresh: Sequence[str]) -> dict[str, Vectors]:
        """Return the vectors of new queries: from disk, else encoded and put there."""
        keys = {query: content_key((query,)) for query in fresh}
        known = self.log.find(tuple(keys.values()))
        missing = [query for query in fresh if keys[query] not in known]
        if missing:
            made = np.concatenate([checked(self.encoder.encode, [query]) for query in missing])
            sound = made.any(axis=1)  # a row of zeros stands for a failure
            self.log.add(np.array([keys[query] for query in missing], dtype=np.uint64)[sound], made[sound])
            known |= {keys[query]: row for query, row in zip(missing, made, strict=True)}
        return {query: known[keys[query]] for query in fresh}


def query_vectors(encoder: Encoder) -> QueryVectors:
    """Return the query vectors of an encoder, shared by all indexes in the process."""
    return _shared.setdefault((encoder.identity, cache_folder()), QueryVectors(encoder, open_log(encoder.identity)))


_shared: dict[tuple[Identity, Path], QueryVectors] = {}


def open_log(identity: Identity) -> RecordLog:
    """Return the log of an encoder's query vectors; one a process."""
    header = {"format": FORMAT, "model": identity.model, "digest": identity.digest, "tokenizer": identity.tokenizer}
    name = f"{content_key((FORMAT, identity.digest, identity.tokenizer)):016x}.log"
    return _opened(cache_folder() / "queries" / name, tuple(header.items()))


@lru_cache(maxsize=32)
def _opened(path: Path, header: tuple[tuple[str, str], ...]) -> RecordLog:
    return RecordLog(path, dict(header), _MOST)
