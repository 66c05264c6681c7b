"""Fits the priors of `expected_cost`: what holds of any sessions, with and without counts of use; writes a JSON file.

From each set the earlier half of the tasks (drawn by the seed as `frontier.py` draws them) and the packaged recordings.
Counts of use come from 5, 20 or 80 sessions of other tasks, as they do for people who begin.

    python benchmarks/priors.py --data ../shared/data --out toolkit/selectors/priors.json
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from tqdm import tqdm

from toolkit import Catalog, Session, load_catalog, load_sessions
from toolkit.bench import Bench
from toolkit.experiment.fitting.need import Sample, facts, look
from toolkit.experiment.fitting.split import groups, split
from toolkit.replaying import Setting
from toolkit.selectors.need import FEATURES
from toolkit.selectors.usage import Usage

SETS = ("tau-bench", "tau2-bench", "livemcpbench", "toolathlon")
AROUND = ("azure-mcp", "mcp-vendor")
OWN = Path(__file__).parents[1] / "datasets" / "mcp-servers" / "sessions.atif.jsonl.gz"
SIZES = (5, 20, 80)
TURNS = 200
"""Each set counts as so many turns."""


def looked_at(sessions: Sequence[Session], bench: Bench, seed: int, name: str) -> tuple[Sample, Sample]:
    """Return what sessions show without counts of use, and with those of a few sessions of other tasks."""
    plain, known, draw, tasks = Sample(), Sample(), Random(seed), groups(sessions)
    for number, task in enumerate(tqdm(tasks, desc=name)):
        others = list(chain.from_iterable(tasks[:number] + tasks[number + 1 :]))
        usage = Usage.of(draw.sample(others, min(SIZES[number % len(SIZES)], len(others))))
        for one in task:
            look(plain, one, Usage(), bench)
            look(known, one, usage, bench)
    return plain, known


def pooled(samples: Sequence[Sample]) -> Sample:
    """Return several samples as one, in which each counts as `TURNS` turns."""
    whole = Sample()
    for one in samples:
        whole.rows += one.rows
        whole.now += one.now
        whole.later += one.later
        whole.times += [times * TURNS / len(one.now) for times in one.times]
        for name in ("asked", "tries", "calls", "later_turns", "passes", "lengths"):
            getattr(whole, name).extend(_spaced(getattr(one, name)))
    return whole


def _spaced(values: Sequence[Any]) -> Iterator[Any]:
    """Yield at most `TURNS` values, evenly spaced."""
    for place in np.linspace(0, len(values) - 1, min(len(values), TURNS)).astype(int).tolist():
        yield values[place]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--out", type=Path, default=Path("priors.json"))
    given = options.parse_args()
    around = Catalog(tool for name in AROUND for tool in load_catalog(given.data / name / "tools.jsonl"))
    bench = Bench(Setting("hybrid", catalog=around))
    recorded: dict[str, Sequence[Session]] = {"mcp-servers": load_sessions(OWN)}
    for name in SETS:
        recorded[name] = split(
            load_sessions(given.data / name / "sessions.atif.jsonl.gz"), by="group", seed=given.seed
        )[0]
    samples = [looked_at(sessions, bench, given.seed, name) for name, sessions in recorded.items()]
    card = {
        "sessions": {name: len(sessions) for name, sessions in recorded.items()},
        "around": AROUND,
        "retriever": "hybrid",
        "seed": given.seed,
        "made_by": "benchmarks/priors.py",
    }
    plain, known = (facts(pooled(side)) for side in zip(*samples, strict=True))
    content = {"card": card, "features": FEATURES, "without_counts": asdict(plain), "with_counts": asdict(known)}
    given.out.write_text(json.dumps(_rounded(content), indent=1) + "\n", "utf-8")


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
