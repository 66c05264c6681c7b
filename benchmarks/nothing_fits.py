"""What `tools.search` answers to queries that no tool fits: those of one set, asked of the catalog of another.

python benchmarks/nothing_fits.py --data ../shared/data --retriever hybrid --sample 200
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
from search import TASKS, load_queries, load_tools

from toolkit.experiment.ranking.rank_eval import drawn_queries
from toolkit.search.shared import tool_search
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

SETS = ("azure-mcp", "livemcpbench task", "metatool single", "seal-tools")
NONSENSE = ("xyzzy qqq", "🌊🌊", "asdf ghjk", "lorem ipsum dolor sit", "??? !!!", "42")
LIMIT = 5


def asked(tools: Sequence[Tool], queries: Sequence[str], retriever: str) -> Iterator[tuple[bool, bool, float]]:
    """Yield of each query whether it was answered, whether as poor, and the score of its best hit."""
    search, among = tool_search(retriever), toolset(tools)
    for query in queries:
        answer = search(query, among, ToolSet(), LIMIT)
        yield bool(answer.hits), answer.poor, answer.hits[0][1] if answer.hits else 0.0


def row(what: str, found: Sequence[tuple[bool, bool, float]]) -> str:
    hits, poor, best = (np.array(one) for one in zip(*found, strict=True))
    sure = (hits & ~poor).mean()
    return f"| {what} | {len(found)} | {hits.mean():.0%} | {sure:.0%} | {np.median(best):.2f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--retriever", default="hybrid")
    parser.add_argument("--sample", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tasks = {task.name: task for task in TASKS if task.name in SETS}
    tools = {name: load_tools((given.data / tasks[name].queries).parent / "tools.jsonl") for name in SETS}
    texts = {
        name: [one.text for one in drawn_queries(load_queries(given.data, tasks[name]), given.sample, given.seed)]
        for name in SETS
    }
    own = [one for name in SETS for one in asked(tools[name], texts[name], given.retriever)]
    foreign = [one for at, of in permutations(SETS, 2) for one in asked(tools[at], texts[of], given.retriever)]
    senseless = [one for name in SETS for one in asked(tools[name], NONSENSE, given.retriever)]
    print(
        "| queries | n | answered | not marked poor | median score of the best hit |\n| --- | --- | --- | --- | --- |"
    )
    print(row("of the catalog's own set", own))
    print(row("of another set", foreign))
    print(row("senseless", senseless))


if __name__ == "__main__":
    main()
