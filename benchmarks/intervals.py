"""How often a 95 % interval holds the ratio that it is of: samples of sessions drawn from the open sets' own totals.

A set's sessions are the population, its ratio of sums to `all` the truth. Tasks are drawn with their repeats together
where the set knows them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from toolkit import compare, load_sessions
from toolkit.experiment.fitting.split import task_of
from toolkit.experiment.stats import LEAST, ratio_interval

SETS = ("tau-bench", "livemcpbench", "toolathlon", "api-bank")
SYSTEMS = ("lazy", "lexical(k=4)", "builtin-only")
PACKAGED = Path(__file__).parents[1] / "datasets" / "mcp-servers" / "sessions.atif.jsonl.gz"
Totals = tuple[list[Any], np.ndarray, np.ndarray]


def files(data: Path | None) -> Iterator[tuple[str, Path]]:
    """Yield the sets that are there, the packaged one at least."""
    yield "packaged", PACKAGED
    for name in SETS if data else ():
        yield from ((name, path) for path in sorted((data or Path()).glob(f"{name}/sessions*")))


def totals(path: Path, limit: int) -> Iterator[tuple[str, Totals]]:
    """Yield the prompt tokens of each session under a system and under `all`, and the session's task."""
    sessions = list(load_sessions(path, limit=limit))
    found = compare(sessions, SYSTEMS, retriever="lexical", spread=False, priced=False, progress=False).sessions
    tokens = found.pivot(index="session_id", columns="system", values="prompt_tokens")
    tasks = {session.id: task_of(session) for session in sessions}
    for system in (*SYSTEMS, "oracle"):
        yield system, ([tasks[id] for id in tokens.index], tokens[system].to_numpy(), tokens["all"].to_numpy())


def drawn(population: Totals, clusters: int, rng: np.random.Generator) -> Totals:
    """Return so many tasks, drawn with replacement, each with all its repeats."""
    tasks, top, bottom = population
    members: dict[Any, list[int]] = {}
    for place, task in enumerate(tasks):
        members.setdefault(task, []).append(place)
    rows = list(members.values())
    chosen = rng.integers(len(rows), size=clusters)
    labels = [number for number, row in enumerate(chosen) for _ in rows[row]]
    places = [place for row in chosen for place in rows[row]]
    return labels, top[places], bottom[places]


def coverage(population: Totals, clusters: int, times: int, interval: Callable[..., Any]) -> tuple[float, float, float]:
    """Return the share of intervals that hold the truth, and the shares that lie below and above it."""
    truth, rng = population[1].sum() / population[2].sum(), np.random.default_rng(clusters)
    ends = []
    for number in range(times):
        tasks, top, bottom = drawn(population, clusters, rng)
        ends.append(interval(top, bottom, number, tasks)[1:])
    low, high = np.array(ends).T
    return float(np.mean((low <= truth) & (truth <= high))), float(np.mean(high < truth)), float(np.mean(low > truth))


def percentile(top: np.ndarray, bottom: np.ndarray, seed: int, groups: Any) -> tuple[float, float, float]:
    """The plain bootstrap over sessions, for comparison."""
    at = np.random.default_rng(seed).integers(len(top), size=(1000, len(top)))
    ratios = top[at].sum(axis=1) / bottom[at].sum(axis=1)
    return float(top.sum() / bottom.sum()), *map(float, np.quantile(ratios, (0.025, 0.975)))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--data", type=Path)
    asked.add_argument("--times", type=int, default=1000)
    asked.add_argument("--limit", type=int, default=200)
    asked.add_argument("--clusters", type=int, nargs="*", default=[LEAST, 25, 100])
    options = asked.parse_args()
    print("| set | system | tasks drawn | percentile | ours | too low | too high |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for name, path in files(options.data):
        for system, population in totals(path, options.limit):
            for clusters in options.clusters:
                plain = coverage(population, clusters, options.times, percentile)[0]
                held, below, above = coverage(population, clusters, options.times, ratio_interval)
                print(f"| {name} | `{system}` | {clusters} | {plain:.3f} | {held:.3f} | {below:.3f} | {above:.3f} |")


if __name__ == "__main__":
    main()
