"""What a learned ranker adds to `hybrid`: each data set is ordered by a ranker of all other sets; Markdown.

    python benchmarks/ranker.py --data ../shared/data                # every set of benchmarks/search.py
    python benchmarks/ranker.py --sets azure-mcp metatool --penalty 1
    python benchmarks/ranker.py --own                                # first four fifths fit, the last fifth tests

Its first run embeds every tool once (some ten minutes on one core for all sets).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import numpy as np
from search import TASKS, Task, load_queries, load_tools
from tqdm import tqdm

from toolkit.experiment.ranking.rank_eval import drawn_queries
from toolkit.search import Hybrid
from toolkit.search.learned.ranker_fit import PENALTY, Example, examples, fit, leave_one_out, report


def of_task(data: Path, task: Task, sample: int | None, seed: int) -> list[Example]:
    """Return the examples of a task, under the name of its data set."""
    path = data / task.queries
    queries = drawn_queries(load_queries(data, task), sample or task.sample, seed)
    pairs = tqdm([(query.text, query.gold) for query in queries], desc=task.name, disable=None)
    return examples(Hybrid(load_tools(path.parent / "tools.jsonl")), pairs, path.parent.name)


def own(found: Sequence[Example], seed: int, penalty: float) -> Iterator[dict[str, Any]]:
    """Yield a row a data set: its last fifth, ordered by a ranker of its first four."""
    for name in dict.fromkeys(one.group for one in found):
        mine = [one for one in found if one.group == name]
        mine = [mine[i] for i in np.random.default_rng(seed).permutation(len(mine))]
        cut = len(mine) * 4 // 5
        yield report(name, mine[cut:], fit(mine[:cut], seed, penalty))


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Return rows as a Markdown table, with the mean gain below."""
    lines = ["| " + " | ".join(rows[0]) + " |", "| --- " * len(rows[0]) + "|"]
    lines += ["| " + " | ".join(map(str, row.values())) + " |" for row in rows]
    gains = [row["gain"] for row in rows]
    return "\n".join([*lines, f"\nMean gain {np.mean(gains):+.4f}, least {min(gains):+.4f}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="*", help="folders of the data; all by default")
    parser.add_argument("--own", action="store_true", help="fit and test within each set")
    parser.add_argument("--penalty", type=float, default=PENALTY)
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tasks = [task for task in TASKS if not given.sets or task.queries.split("/")[0] in given.sets]
    found = [one for task in tasks for one in of_task(given.data, task, given.sample, given.seed)]
    rows = own if given.own else leave_one_out
    sys.stdout.write(table(list(rows(found, given.seed, given.penalty))) + "\n")


if __name__ == "__main__":
    main()
