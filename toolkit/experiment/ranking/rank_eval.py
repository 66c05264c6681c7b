"""How well retrievers rank: queries with known right tools, intervals, paired tests, latency."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from toolkit.errors import InputError, counted
from toolkit.experiment.ranking.asking import alone, searching
from toolkit.formats.files import Problem
from toolkit.search import RetrieverFactory, retriever
from toolkit.tool import Tool

DEPTH = 10
RESAMPLES = 2000
_RECALLS = (1, 3, 5, 10)


@dataclass(frozen=True, slots=True)
class Query:
    """A query and the ids of the tools that answer it."""

    id: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True)
class Run:
    """What one retriever answered to all queries.

    Attributes:
        retriever: Its spec.
        ranked: Ids of each query's best `DEPTH` tools, best first.
        seconds: What each query took.
        chances: The chance of each of them to be a right tool; empty where the retriever tells none.
    """

    retriever: str
    queries: tuple[Query, ...]
    tools: int
    ranked: tuple[tuple[str, ...], ...]
    seconds: tuple[float, ...]
    chances: tuple[tuple[float, ...], ...] = ()

    @cached_property
    def ndcg(self) -> NDArray[np.float64]:
        """The nDCG@10 of each query (q,)."""
        return np.array([ndcg(ids, query.gold) for ids, query in zip(self.ranked, self.queries, strict=True)])

    def recall(self, k: int) -> float:
        """Return the mean share of a query's right tools among the best `k`."""
        pairs = zip(self.ranked, self.queries, strict=True)
        return float(np.mean([len(query.gold.intersection(ids[:k])) / len(query.gold) for ids, query in pairs]))

    @property
    def mrr(self) -> float:
        """The mean of one over the rank of the first right tool within `DEPTH`, else 0."""
        pairs = zip(self.ranked, self.queries, strict=True)
        return float(np.mean([reciprocal_rank(ids, query.gold) for ids, query in pairs]))

    def row(self, seed: int = 0) -> dict[str, Any]:
        """Return the row of the table."""
        low, high = interval(self.ndcg, seed)
        p50, p95 = (1000 * float(np.percentile(self.seconds, q)) for q in (50, 95))
        return {
            "retriever": self.retriever,
            "queries": len(self.queries),
            "tools": self.tools,
            **{f"recall@{k}": self.recall(k) for k in _RECALLS},
            f"ndcg@{DEPTH}": float(self.ndcg.mean()),
            f"ndcg@{DEPTH}_low": low,
            f"ndcg@{DEPTH}_high": high,
            "mrr": self.mrr,
            "p50_ms": p50,
            "p95_ms": p95,
            **self.reliability(),
        }

    def reliability(self) -> dict[str, float]:
        """Return how well the chances hold: their Brier score, and the expected calibration error over ten bins.

        Both are over the best `DEPTH` of every query; NaN where the retriever tells no chances.
        """
        told = np.array([chance for chances in self.chances for chance in chances])
        if not len(told):
            return {"brier": float("nan"), "ece": float("nan")}
        pairs = zip(self.ranked, self.queries, strict=True)
        right = np.array([id in query.gold for ids, query in pairs for id in ids], dtype=float)
        bins = np.minimum((told * 10).astype(int), 9)
        gaps = np.bincount(bins, told - right, minlength=10)
        return {"brier": float(np.mean((told - right) ** 2)), "ece": float(np.abs(gaps).sum() / len(told))}

    def per_query(self) -> list[dict[str, Any]]:
        """Return a row a query, for error analysis."""
        rows = zip(self.queries, self.ranked, self.ndcg, self.seconds, strict=True)
        return [
            {
                "retriever": self.retriever,
                "id": query.id,
                "query": query.text,
                "gold": sorted(query.gold),
                "ranked": list(ids),
                f"ndcg@{DEPTH}": float(value),
                "latency_ms": 1000 * seconds,
            }
            for query, ids, value, seconds in rows
        ]


def rank_eval(
    tools: Iterable[Tool],
    queries: Iterable[Query],
    retrievers: Sequence[str | RetrieverFactory],
    sample: int | None = None,
    seed: int = 0,
    bare: bool = False,
) -> list[dict[str, Any]]:
    """Return one row a retriever, with the keys of the table: what `tools.search` answers with it.

    Relevance is binary over `Tool.id`; queries without gold are left out; `sample` queries are drawn
    without replacement. `bare` asks the retriever alone, without the exact names and listings of `tools.search`.

    Raises:
        InputError: No query has a right tool.
    """
    return [run.row(seed) for run in runs(tools, queries, retrievers, sample, seed, bare)]


def runs(
    tools: Iterable[Tool],
    queries: Iterable[Query],
    retrievers: Sequence[str | RetrieverFactory],
    sample: int | None = None,
    seed: int = 0,
    bare: bool = False,
) -> list[Run]:
    """Return what each retriever answered; arguments as for `rank_eval`."""
    catalog, drawn = tuple(tools), drawn_queries(queries, sample, seed)
    factories = [retriever(given) if isinstance(given, str) else given for given in retrievers]
    return [_run(factory, catalog, drawn, bare) for factory in factories]


def _run(factory: RetrieverFactory, tools: tuple[Tool, ...], queries: tuple[Query, ...], bare: bool) -> Run:
    ask, ids = (alone if bare else searching)(factory, tools, DEPTH), {tool.name: tool.id for tool in tools}
    ask("the first query also loads what is needed")
    ranked, seconds, chances = [], [], []
    for query in queries:
        began = time.perf_counter()
        names, told = ask(query.text)
        seconds.append(time.perf_counter() - began)
        ranked.append(tuple(ids[name] for name in names))
        chances += [tuple(told)] if told else []
    name = f"{factory!r} (bare)" if bare else repr(factory)
    whole = tuple(chances) if len(chances) == sum(map(bool, ranked)) else ()
    return Run(name, queries, len(tools), tuple(ranked), tuple(seconds), whole)


def drawn_queries(queries: Iterable[Query], sample: int | None, seed: int) -> tuple[Query, ...]:
    """Return the queries that have gold, or `sample` of them."""
    kept = [query for query in queries if query.gold]
    if not kept:
        raise InputError("no query has a right tool.", hint="Expected rows with query and a gold list of tool ids.")
    if sample is None or sample >= len(kept):
        return tuple(kept)
    return tuple(kept[i] for i in np.random.default_rng(seed).choice(len(kept), sample, replace=False))


def read_queries(path: str | Path) -> list[Query]:
    """Return the queries of a JSONL file with `query`, `gold` and perhaps `id` a line.

    Raises:
        InputError: A line is none.
    """
    try:
        lines = enumerate(Path(path).read_text("utf-8").split("\n"), 1)
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is no UTF-8 text.", hint="Expected JSONL with query and gold a line.") from error
    found = [_query(path, number, line) for number, line in lines if line.strip()]
    if not found:
        raise InputError(f"{path} holds no query.", hint="Expected a line with query and gold for each.")
    return found


def check_gold(tools: Iterable[Tool], queries: Iterable[Query], path: str | Path) -> list[Problem]:
    """Return the problem that some right tools are not in the catalog, and how many; nothing where all are.

    Raises:
        InputError: None is: the queries belong to another catalog.
    """
    ids = {tool.id for tool in tools}
    gold = [(query, name) for query in queries for name in sorted(query.gold)]
    missing = [(query, name) for query, name in gold if name not in ids]
    if not missing:
        return []
    query, name = missing[0]
    if len(missing) == len(gold):
        hint = "Give the catalog that the queries were made for: gold holds its ids."
        raise InputError(f"{path}: no right tool of its queries is in the catalog, e.g. {name!r}.", hint=hint)
    asked = len({query for query, _ in missing})
    message = f"{len(missing)} of {counted(len(gold), 'right tool')} (of {counted(asked, 'query', 'queries')}) "
    return [Problem(str(path), 0, "gold_unknown", f"{message}not in the catalog, e.g. {name!r}; they count as missed.")]


def _query(path: str | Path, number: int, line: str) -> Query:
    hint = "Expected an object with query, a text, and gold, a list of ids."
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}:{number} is no query: it is no JSON ({error}).", hint=hint) from error
    if not isinstance(row, dict) or not isinstance(row.get("query"), str) or not isinstance(row.get("gold"), list):
        lacks = [name for name in ("query", "gold") if isinstance(row, dict) and name not in row]
        what = f"it has no {' and no '.join(lacks)}" if lacks else "its parts are not what they should be"
        raise InputError(f"{path}:{number} is no query: {what}.", hint=hint)
    return Query(str(row.get("id", number)), row["query"], frozenset(map(str, row["gold"])))


def ndcg(ranked: Sequence[str], gold: frozenset[str], k: int = DEPTH) -> float:
    """Return the nDCG@k with binary relevance and a log2 discount.

    >>> round(ndcg(["a", "x", "b"], frozenset("ab")), 4), ndcg(["x"], frozenset("a"))
    (0.9197, 0.0)
    """
    gain = sum(1 / np.log2(rank + 2) for rank, id in enumerate(ranked[:k]) if id in gold)
    return float(gain / sum(1 / np.log2(rank + 2) for rank in range(min(k, len(gold)))))


def reciprocal_rank(ranked: Sequence[str], gold: frozenset[str]) -> float:
    """Return one over the rank of the first right id, 0 without one."""
    return next((1 / rank for rank, id in enumerate(ranked, 1) if id in gold), 0.0)


def interval(values: NDArray[np.float64], seed: int = 0) -> tuple[float, float]:
    """Return the 95 % percentile bootstrap interval of the mean."""
    rng = np.random.default_rng(seed)
    means = [values[rng.integers(len(values), size=len(values))].mean() for _ in range(RESAMPLES)]
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


def compared(done: Sequence[Run], seed: int = 0) -> list[dict[str, Any]]:
    """Return the paired randomisation tests of all pairs of runs, with Holm's correction.

    Columns: `a`, `b`, `difference` (mean nDCG@10 of a less b), `p`, `p_holm`.
    """
    pairs = list(combinations(done, 2))
    differences = [a.ndcg - b.ndcg for a, b in pairs]
    chances = [randomisation(difference, seed) for difference in differences]
    return [
        {"a": a.retriever, "b": b.retriever, "difference": float(d.mean()), "p": p, "p_holm": corrected}
        for (a, b), d, p, corrected in zip(pairs, differences, chances, holm(chances), strict=True)
    ]


def randomisation(differences: NDArray[np.float64], seed: int = 0, times: int = 10_000) -> float:
    """Return the two-sided p of a mean difference when each pair's sign is a coin toss."""
    rng, observed = np.random.default_rng(seed), abs(differences.sum())
    signs = (rng.integers(0, 2, size=(64, len(differences))) * 2 - 1 for _ in range(-(-times // 64)))
    extreme = sum(int((np.abs(batch @ differences) >= observed - 1e-12).sum()) for batch in signs)
    return (extreme + 1) / (-(-times // 64) * 64 + 1)


def holm(chances: Sequence[float]) -> list[float]:
    """Return p values corrected by Holm's step-down rule, in the order given.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected, largest = dict[int, float](), 0.0
    for step, i in enumerate(np.argsort(chances, kind="stable").tolist()):
        largest = max(largest, min(1.0, (len(chances) - step) * chances[i]))
        corrected[i] = largest
    return [corrected[i] for i in range(len(chances))]
