"""Token counts of texts, kept on disk by digest, so that a later run needs no tokenizer for what was counted before.

A file holds digests and numbers, never a text; who can read it can tell whether a text that he guesses was counted.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable

import numpy as np

from toolkit.search.encoders.record_log import RecordLog
from toolkit.search.encoders.tool_vectors import content_key
from toolkit.tokens.vocabulary.tables import cache_folder

FORMAT = "selector-toolkit token counts 1"
"""Changed when texts are cut or cleaned otherwise before they are counted, so that old counts are forgotten."""

_MOST = 1 << 19
_BATCH = 512
_SECONDS = 2.0


class KeptCounts:
    """A function from text to tokens that remembers on disk; new counts are appended in batches.

    A process that is killed loses the counts of its last seconds.

    Args:
        count: Counts a text that was not counted before.
        vocabulary: What it counts with.
        version: The vocabulary's version or digest; counts of another one are not used.
    """

    def __init__(self, count: Callable[[str], int], vocabulary: str, version: str) -> None:
        self.count = count
        header = {"format": FORMAT, "vocabulary": vocabulary, "version": version}
        name = f"{content_key(tuple(header.values())):016x}.log"
        self._log = RecordLog(cache_folder() / "counts" / name, header, _MOST)
        keys, counts = self._log.read()
        self._known: dict[int, int] = dict(zip(keys.tolist(), counts.tolist(), strict=True))
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
        """Write the counts that are new."""
        with self._lock:
            new, self._new, self._kept_at = self._new, {}, time.monotonic()
            if new:
                self._log.add(np.array(list(new), np.uint64), np.array(list(new.values()), np.uint32))
