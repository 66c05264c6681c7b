"""The 0/1 knapsack, exactly: the most worth within a budget of whole tokens.

Sorted by worth a token, the best choice that may cut its last item is a prefix of the items (Dantzig
1957). It is worth at least as much as any whole choice, and one that differs from it in an item
loses at least what that item is worth above, or below, its price at the cut. So only the items with
the least loss, the core, go through dynamic programming, one token a column; the core grows until
nothing outside of it can make up its loss.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
_CORE = 24
_ROUNDING = 1e-12


def best(worths: Floats, costs: Ints, budget: int) -> Ints:
    """Return the places of the items that are worth most together within a budget, in order.

    Args:
        worths: What each item is worth (n,); nothing that is worth 0 is taken.
        costs: What each costs in whole tokens, at least 0 (n,).
        budget: What all together may cost.

    >>> best(np.array([6.0, 5.0, 5.0]), np.array([6, 5, 5]), 10).tolist()
    [1, 2]
    """
    useful = np.flatnonzero((worths > 0) & (costs <= budget))
    if costs[useful].sum() <= budget:
        return useful
    order = useful[np.argsort(-_rates(worths[useful], costs[useful]), kind="stable")]
    return np.sort(order[_chosen(worths[order], costs[order], budget)])


def _rates(worths: Floats, costs: Ints) -> Floats:
    """Return worth a token (n,); what costs nothing comes first."""
    return np.asarray(np.where(costs > 0, worths / np.maximum(costs, 1), np.inf))


def _chosen(worths: Floats, costs: Ints, budget: int) -> Mask:
    """Return which items to take (n,), given by falling worth a token; not all of them fit."""
    cut = int(np.searchsorted(np.cumsum(costs), budget, "right"))
    prefix = np.arange(len(costs)) < cut
    rate = worths[cut] / costs[cut]
    bound = worths[:cut].sum() + (budget - costs[:cut].sum()) * rate
    losses = np.abs(worths - rate * costs)
    size, taken = 0, prefix
    needed = min(_CORE, len(costs))
    while needed > size:
        size = needed
        taken = _settled(np.argpartition(losses, size - 1)[:size], prefix, worths, costs, budget)
        gap = bound - worths[taken].sum() - _ROUNDING * bound
        needed = int(np.count_nonzero(losses < gap))
    return taken


def _settled(core: Ints, prefix: Mask, worths: Floats, costs: Ints, budget: int) -> Mask:
    """Return the best choice that is the prefix outside of a core (n,)."""
    taken = prefix.copy()
    taken[core] = False
    left = budget - int(costs[taken].sum())
    core = np.sort(core)
    core = core[_undominated(worths[core], costs[core], left)]
    taken[core[_table(worths[core], costs[core], left)]] = True
    return taken


def _undominated(worths: Floats, costs: Ints, budget: int) -> Mask:
    """Say which items are among the best of their cost that fit side by side (n,)."""
    order = np.lexsort((-worths, costs))
    _, first, sizes = np.unique(costs[order], return_index=True, return_counts=True)
    kept = np.empty(len(order), dtype=np.bool_)
    kept[order] = (np.arange(len(order)) - np.repeat(first, sizes) + 1) * costs[order] <= budget
    return kept


def _table(worths: Floats, costs: Ints, budget: int) -> Mask:
    """Return the best choice by dynamic programming over (item, tokens) (n,)."""
    budget = min(budget, int(costs.sum()))
    reached = np.zeros(budget + 1)
    takes = np.zeros((len(costs), budget + 1), dtype=np.bool_)
    for item, (worth, cost) in enumerate(zip(worths.tolist(), costs.tolist(), strict=True)):
        with_it = reached[: budget + 1 - cost] + worth
        np.greater(with_it, reached[cost:], out=takes[item, cost:])
        reached[cost:] = np.maximum(reached[cost:], with_it)
    chosen = np.zeros(len(costs), dtype=np.bool_)
    for item in range(len(costs) - 1, -1, -1):
        if takes[item, budget]:
            chosen[item] = True
            budget -= int(costs[item])
    return chosen
