"""Token counts kept on disk by digest, so that a later run needs no tokenizer for what was counted before.

A file holds digests and numbers, never a text; who can read it can tell whether a text that he guesses was counted.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

import numpy as np

from toolkit.store import content_key, kept

FORMAT = "selector-toolkit token counts 3"
"""Changed when texts are cut or cleaned otherwise before they are counted, so that old counts are forgotten."""

_BATCH = 512
_SECONDS = 2.0
_ROW = np.dtype([("key", "<i8"), ("tokens", "<u4")])


class KeptCounts:
    """A function from text to tokens that remembers on disk; new counts are added in batches.

    A process that is killed loses the counts of its last seconds.

    Args:
        count: Counts a text that was not counted before.
        vocabulary: What it counts with.
        version: The vocabulary's version or digest; counts of another one are not used.
    """

    def __init__(self, count: Callable[[str], int], vocabulary: str, version: str) -> None:
        self.count = count
        self._store = kept("counts", {"format": FORMAT, "vocabulary": vocabulary, "version": version})
        batches = (one for one in self._store.values() if len(one) % _ROW.itemsize == 0)
        rows = np.frombuffer(b"".join(batches), _ROW)
        self._known: dict[int, int] = dict(zip(rows["key"].tolist(), rows["tokens"].tolist(), strict=True))
        self._new: dict[int, int] = {}
        self._kept_at = time.monotonic()
        self._lock = threading.Lock()
        atexit.register(self.keep)

    def __call__(self, text: str) -> int:
        """Return the tokens of `text`."""
        key = content_key((text,))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._new[key] = self.count(text)
            if len(self._new) >= _BATCH or time.monotonic() - self._kept_at > _SECONDS:
                self.keep()
        return known

    def keep(self) -> None:
        """Write the counts that are new, under a digest of their keys."""
        with self._lock:
            new, self._new, self._kept_at = self._new, {}, time.monotonic()
            if new:
                batch = np.array(list(new.items()), dtype=_ROW)
                self._store.put({content_key(map(str, new)): batch.tobytes()})
