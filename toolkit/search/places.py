"""The tools of an index in tie order: positions, subsets, and the best of an array of scores."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.search.ranking import Ranking, tie_order
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
_MASKS = 64


class Places:
    """Tools with unique names, sorted so that an earlier position wins a tie (`docs/semantics.md` Q3)."""

    def __init__(self, tools: ToolSet) -> None:
        self.tools = tuple(sorted(tools, key=tie_order))
        self.names = tuple(tool.name for tool in self.tools)
        self._position = {name: i for i, name in enumerate(self.names)}
        self._masks: OrderedDict[frozenset[str], Mask | None] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self.names)

    def position(self, name: str) -> int:
        return self._position[name]

    def mask(self, among: Collection[str] | None) -> Mask | None:
        """Return which positions are in `among`, a bool array (n,); None when all are.

        The mask of a frozenset is remembered.
        """
        if among is None or not isinstance(among, frozenset):
            return None if among is None else self._mask(among)
        with self._lock:
            if among not in self._masks:
                self._masks[among] = self._mask(among)
                if len(self._masks) > _MASKS:
                    self._masks.popitem(last=False)
            return self._masks[among]

    def _mask(self, among: Collection[str]) -> Mask | None:
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[[self._position[name] for name in among if name in self._position]] = True
        return None if mask.all() else mask

    def best(self, scores: Floats, k: int) -> Ranking:
        """Return the `k` best of the scores (n,) above zero; equal ones by position."""
        kept = np.flatnonzero(scores > 0)
        if k < len(kept):
            bar = np.partition(scores[kept], len(kept) - k)[len(kept) - k] if k > 0 else np.inf
            kept = kept[scores[kept] >= bar]
        kept = kept[np.argsort(-scores[kept], kind="stable")][: max(k, 0)]
        return Ranking(tuple(map(self.names.__getitem__, kept.tolist())), tuple(scores[kept].tolist()))


def places(tools: Sequence[Tool]) -> Places:
    """Return the tools in tie order, worked out once for a set."""
    return toolset(tools).derived(Places)
