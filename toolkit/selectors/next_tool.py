"""`next_tool(k)`: the k tools that earlier sessions called next, after such tools and such inputs, are declared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from toolkit.engine import HostView, Selection
from toolkit.search.shared import tool_search
from toolkit.selectors import checks
from toolkit.selectors.fitted import Fitted
from toolkit.selectors.frequent import most_used
from toolkit.selectors.ranked import latest_words
from toolkit.selectors.usage import Usage
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

Share = tuple[str, float]


@dataclass(frozen=True, slots=True, repr=False)
class NextTool(Fitted):
    """Declare the k told tools with the highest sum of three shares, each from 0 to 1.

    How often a tool followed what the last turn called; how much of the weight of the earlier
    inputs nearest to this one goes to those that called it; and how many turns call it at all. Use
    it when work has habits: a commit after a diff, an invoice after an order, whatever the words.

    Args:
        k: How many tools to declare, at least 1.
        usage: A `Usage`, or the file of one.
        retriever: What ranks earlier inputs; `hybrid` and `dense` embed each of them once.
        near: How many of them count.

    Raises:
        InputError: A number is out of range, or the file is no usage file.
        UnknownNameError: No retriever of that name is registered.
    """

    k: int = 8
    usage: Any = None
    retriever: str = "hybrid"
    near: int = 10
    spec: ClassVar[str] = "next_tool"

    def __post_init__(self) -> None:
        checks.whole("next_tool", "k", self.k)
        checks.whole("next_tool", "near", self.near)
        checks.retriever("next_tool", self.retriever)
        self._read()

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        usage, known = self.learnt, toolset(told).by_name
        shares: dict[str, float] = defaultdict(float)
        for name, share in (*after_last(usage, host), *self._after_such(usage, host)):
            shares[name] += share
        for name in most_used(usage, told, self.k):
            shares[name] += 0.0
        sums = {name: share + usage.in_turns[name] / max(usage.turns, 1) for name, share in shares.items()}
        best = sorted((name for name in sums if name in known), key=lambda name: (-sums[name], name))
        return self.chosen(best[: self.k], told)

    def _after_such(self, usage: Usage, host: HostView) -> Iterator[Share]:
        """Yield for each of the nearest earlier inputs its tools, with its part of all nearness."""
        words = latest_words(host)
        found = list(near_inputs(usage, words, self.near, self.retriever)) if words else []
        whole = sum(score for _, score in found) or 1.0
        for place, score in found:
            yield from ((name, score / whole) for name in usage.inputs[place][1])


def after_last(usage: Usage, host: HostView) -> Iterator[Share]:
    """Yield (tool, share of turns) that followed a tool of the last turn, of several the highest share."""
    shares: dict[str, float] = {}
    for before in dict.fromkeys(host.earlier[-1].calls) if host.earlier else ():
        for name, turns in usage.after.get(before, {}).items():
            shares[name] = max(shares.get(name, 0.0), turns / usage.followed[before])
    yield from shares.items()


def near_inputs(usage: Usage, words: str, k: int, retriever: str) -> Iterator[tuple[int, float]]:
    """Yield (place in `usage.inputs`, score) of the k earlier inputs nearest to some words, best first."""
    as_tools, places = _as_tools(usage)
    for name, score in tool_search(retriever).rank(words, as_tools, k):
        yield places[name], score


@lru_cache(maxsize=8)
def _as_tools(usage: Usage) -> tuple[ToolSet, dict[str, int]]:
    """Return earlier inputs in the form of tools, for a retriever to rank, under names that no input holds."""
    names = [f"zzq{place:05d}z" for place in range(len(usage.inputs))]
    as_tools = ToolSet(Tool(name, words) for name, (words, _) in zip(names, usage.inputs, strict=True))
    return as_tools, {name: place for place, name in enumerate(names)}
