"""Which selector costs least on recorded sessions, and how far it is from the best possible; Markdown and a plot.

Selectors that learn are fitted on one half of each set's tasks; all are measured on the other half. The yardstick
is `cost_with_fallback_usd`: each missed or blocked call pays one more request with everything declared and nothing
cached. The data is a folder of public sets that is not part of this repository.

    python benchmarks/frontier.py --data ../shared/data
    python benchmarks/frontier.py --data ../shared/data --sets tau-bench --limit 40 --query-models own_words
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import pandas as pd

from toolkit import Catalog, load_catalog, load_sessions, selector
from toolkit.engine import HostView
from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.study import measure
from toolkit.experiment.stats import ratio_interval
from toolkit.report.frontier_plot import frontier
from toolkit.selectors import resolve

SETS = ("tau-bench", "tau2-bench", "livemcpbench", "toolathlon")
AROUND = ("azure-mcp", "mcp-vendor")
QUERY_MODELS = ("own_words", "turn_input", "short_phrase", "pessimistic")
COST = "cost_with_fallback_usd"


@selector("expected_cost, unfitted")
def unfitted(visible: Any, host: HostView) -> Any:
    """The same selector by its priors alone."""
    return resolve("expected_cost")(visible, host)


SELECTORS = (
    "all",
    "lazy",
    "builtin-only",
    "deferred",
    "semantic(k=8)",
    "semantic(k=32)",
    "lexical(k=16)",
    "hybrid(k=8)",
    "hybrid(k=32)",
    "hybrid(k=128)",
    "mmr(k=16)",
    "threshold(score=0.7)",
    "servers(k=3)",
    "recent(n=3) | lazy",
    "sticky('hybrid(k=32)')",
    "auto(percent=10)",
    "budget(tokens=8000)",
    "frequent(k=20)",
    "frequent(k=60)",
    "next_tool(k=20)",
    "expected_cost",
    unfitted,
)


def board(data: Path, name: str, around: Catalog, given: argparse.Namespace) -> pd.DataFrame:
    """Return the leaderboard of one set, with ratios to `all` and to `lazy` and their intervals."""
    main, *others = given.query_models
    plan = study(
        SELECTORS,
        catalog=around,
        query_model=main,
        model=given.model,
        out=given.out / name,
        workers=given.workers,
        seed=given.seed,
        fit=0.5,
        fit_by="group",
        also=tuple(others),
    )
    found = measure(load_sessions(data / name / "sessions.atif.jsonl.gz", limit=given.limit), plan)
    costs = found.sessions.pivot(index="session_id", columns="system", values=COST)
    summary = found.summary
    for other in ("all", "lazy"):
        ratios = [ratio_interval(costs[system], costs[other], given.seed) for system in summary["system"]]
        summary[f"to_{other}"] = [f"{ratio:.3f} [{low:.3f}, {high:.3f}]" for ratio, low, high in ratios]
    return summary


def table(name: str, found: pd.DataFrame) -> str:
    """Return a set's leaderboard as Markdown, USD a session."""
    head = ("system", "USD", "USD with fallback", "over query models", "regret [95 %]", "to all", "to lazy", "served")
    lines = [f"### {name}: {found['sessions'].max()} sessions", "", _line(head), _line(["---"] + ["---:"] * 7)]
    return "\n".join((*lines, *(_line(_cells(row)) for row in found.to_dict("records"))))


def _line(cells: Any) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    n = row["sessions"]
    spread = f"{row.get(COST + '_min', row[COST]) / n:.3f}–{row.get(COST + '_max', row[COST]) / n:.3f}"
    regret = f"{row['regret']:.0%} [{row['regret_low']:.0%}, {row['regret_high']:.0%}]"
    served = f"{row['served'] / max(row['calls'], 1):.1%}"
    name = f"`{_short(row['system'])}`" + (" (bound)" if row["bound"] else "")
    name = name.replace("|", "\\|")
    return (
        name,
        f"{row['cost_usd'] / n:.4f}",
        f"{row[COST] / n:.4f}",
        spread,
        regret,
        row["to_all"],
        row["to_lazy"],
        served,
    )


def _short(system: str) -> str:
    """Return a system's name without what it learnt from."""
    head, _, tail = system.partition("usage=<")
    return (head.rstrip(", ") + tail.partition(">")[2]).replace("()", "") if tail else system


def draw(boards: dict[str, pd.DataFrame], path: Path) -> None:
    """Draw one panel a set: cost with fallback against the share of calls served."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(len(boards), 1, figsize=(10, 6 * len(boards)), squeeze=False, layout="constrained")
    for ax, (name, found) in zip(axes[:, 0], boards.items(), strict=True):
        frontier(found.assign(system=found["system"].map(_short)), "cost", "served", ax, name)
    figure.savefig(path, dpi=110)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options.add_argument("--model", default="claude-sonnet-4-5")
    options.add_argument("--query-models", nargs="+", default=QUERY_MODELS, help="the first is the main one")
    options.add_argument("--limit", type=int, help="sessions a set")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=Path("reports/frontier"))
    given = options.parse_args()
    around = Catalog(tool for name in AROUND for tool in load_catalog(given.data / name / "tools.jsonl"))
    boards = {}
    for name in given.sets:
        boards[name] = board(given.data, name, around, given)
        sys.stdout.write(table(name, boards[name]) + "\n\n")
        sys.stdout.flush()
    given.out.mkdir(parents=True, exist_ok=True)
    draw(boards, given.out / "frontier.png")


if __name__ == "__main__":
    main()
