"""Learning a ranker: which of the hybrid's candidates answered a query, and how well that carries over."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError
from toolkit.search.learned.features import FEATURES, candidates, features
from toolkit.search.retrievers.fusion import Scores
from toolkit.search.retrievers.hybrid import Hybrid

START = 6.0
PENALTY = 0.3
MOST = 300
_ROUNDS, _STEP, _DEPTH = 150, 0.05, 10


@dataclass(frozen=True, slots=True)
class Example:
    """A query's candidates: their features (m, f), which are right (m,), and how many tools are right in all.

    `group` is the data set that it came from.
    """

    group: str
    features: NDArray[np.float32]
    right: NDArray[np.bool_]
    gold: int


def examples(hybrid: Hybrid, pairs: Iterable[tuple[str, frozenset[str]]], group: str) -> list[Example]:
    """Return an example for each (query, ids of right tools).

    Raises:
        InputError: The hybrid has no encoder, so there is nothing to weigh.
    """
    if not hybrid.dense:
        raise InputError("a ranker needs an encoder.", hint="Run: pip install 'selector-toolkit[embed]'.")
    ids = np.array([tool.id for tool in hybrid.places.tools])
    return [_example(hybrid, ids, query, gold, group) for query, gold in pairs if gold]


def _example(hybrid: Hybrid, ids: Any, query: str, gold: frozenset[str], group: str) -> Example:
    signals = hybrid.signals(query)
    at = candidates(signals)
    right = np.isin(ids[at], sorted(gold))
    return Example(group, features(signals, at).astype(np.float32), right, len(gold))


def fit(found: Sequence[Example], seed: int = 0, penalty: float = PENALTY, most: int = MOST) -> Scores:
    """Return the weights (f,) of a ranker, by a softmax over each query's candidates.

    Every group counts the same, with `most` of its queries drawn by `seed`. Weights are drawn towards
    the hybrid's own order by `penalty`, so that little data changes little.

    Raises:
        InputError: No query has both right and wrong candidates.
    """
    drawn = [example for group in _groups(found).values() for example in _drawn(group, most, seed)]
    if not drawn:
        raise InputError("nothing to learn: no right tool stands among the candidates of any query.")
    sizes = _groups(drawn)
    shares = np.array([1 / len(sizes[one.group]) for one in drawn])
    return _descended(_Batch.of(drawn, shares / shares.sum()), penalty)


@dataclass(frozen=True, slots=True)
class _Batch:
    """All candidates of all queries: features (r, f), targets and shares (r,), where each query starts (q,)."""

    rows: Scores
    targets: Scores
    shares: Scores
    starts: NDArray[np.int64]
    owners: NDArray[np.int64]

    @classmethod
    def of(cls, drawn: Sequence[Example], shares: Scores) -> _Batch:
        sizes = [len(one.right) for one in drawn]
        owners = np.repeat(np.arange(len(drawn)), sizes)
        targets = np.concatenate([one.right / one.right.sum() for one in drawn])
        rows = np.concatenate([one.features for one in drawn]).astype(np.float64)
        return cls(rows, targets, shares[owners], np.cumsum([0, *sizes[:-1]]), owners)

    def slope(self, weights: Scores) -> Scores:
        """Return the gradient of the mean cross-entropy (f,)."""
        scores = self.rows @ weights
        powers = np.exp(scores - np.maximum.reduceat(scores, self.starts)[self.owners])
        chances = powers / np.add.reduceat(powers, self.starts)[self.owners]
        slope: Scores = self.rows.T @ ((chances - self.targets) * self.shares)
        return slope


def _descended(batch: _Batch, penalty: float) -> Scores:
    """Return the weights after `_ROUNDS` steps of Adam from the hybrid's own order."""
    start = np.zeros(len(FEATURES))
    start[0] = START
    weights, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    pull = penalty * (batch.rows.std(axis=0) + 1e-3) ** 2
    for step in range(1, _ROUNDS + 1):
        slope = batch.slope(weights) + pull * (weights - start)
        first = 0.9 * first + 0.1 * slope
        second = 0.99 * second + 0.01 * slope**2
        weights -= _STEP * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.99**step)) + 1e-8)
    return weights


def quality(found: Sequence[Example], weights: Scores | None = None) -> float:
    """Return the mean nDCG@10 of a ranker's order, or of the hybrid's own without weights."""
    return float(
        np.mean([_ndcg(one, one.features[:, 0] if weights is None else one.features @ weights) for one in found])
    )


def _ndcg(one: Example, scores: NDArray[np.floating[Any]]) -> float:
    order = np.argsort(-np.round(scores, 8), kind="stable")[:_DEPTH]
    discounts = 1 / np.log2(np.arange(_DEPTH) + 2)
    return float((one.right[order] * discounts[: len(order)]).sum() / discounts[: min(one.gold, _DEPTH)].sum())


def leave_one_out(found: Sequence[Example], seed: int = 0, penalty: float = PENALTY) -> list[dict[str, Any]]:
    """Return, for each group, the nDCG@10 of the hybrid and of a ranker that was fitted on all other groups."""
    groups = _groups(found)
    rest = {name: [one for one in found if one.group != name] for name in groups}
    return [report(name, groups[name], fit(rest[name], seed, penalty)) for name in groups if len(groups) > 1]


def report(name: str, test: Sequence[Example], weights: Scores) -> dict[str, Any]:
    """Return a row: how a ranker and the hybrid order queries that the ranker never saw."""
    own, learned = quality(test), quality(test, weights)
    numbers = {"hybrid": round(own, 4), "ranker": round(learned, 4), "gain": round(learned - own, 4)}
    return {"set": name, "queries": len(test), **numbers}


def _groups(found: Iterable[Example]) -> dict[str, list[Example]]:
    groups: dict[str, list[Example]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    return groups


def _drawn(group: Sequence[Example], most: int, seed: int) -> list[Example]:
    useful = [one for one in group if one.right.any() and not one.right.all()]
    if len(useful) <= most:
        return useful
    return [useful[i] for i in sorted(np.random.default_rng(seed).choice(len(useful), most, replace=False))]
