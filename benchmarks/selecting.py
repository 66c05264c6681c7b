"""How long selectors take: replays of recorded sessions under twenty systems, and one decision at 10,000 tools.

The replay counts for a model, with its provider's rules, and puts catalogs around the recorded tools.
Token counts and the vectors of tools and queries are kept in the cache folder, so run it twice: the
second run is what a person waits for who compares again.

    python benchmarks/selecting.py --data ../shared/data --workers 2
    python benchmarks/selecting.py --decide
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from toolkit import Catalog, load_catalog, load_sessions
from toolkit.engine import HostView
from toolkit.experiment.comparison.run import Runner, Unit, units
from toolkit.experiment.comparison.workers import run
from toolkit.host import listing
from toolkit.replaying import Setting, System
from toolkit.selectors.registry import known_selectors, ready
from toolkit.session import Session
from toolkit.tool import Tool

SYSTEMS = (
    "all",
    "lazy",
    "builtin-only",
    "deferred",
    "semantic(k=4)",
    "semantic(k=8)",
    "semantic(k=16)",
    "semantic(k=32)",
    "lexical(k=8)",
    "hybrid(k=8)",
    "mmr(k=8)",
    "threshold(score=0.7)",
    "servers(k=2)",
    "recent(n=3)",
    "lazy | recent(n=3)",
    "sticky",
    "auto(percent=10)",
    "budget(tokens=4000)",
    "hybrid(k=16).cap(4000)",
    "oracle",
)
SETS = ("tau-bench", "tau2-bench", "livemcpbench", "toolathlon")
AROUND = ("azure-mcp", "mcp-vendor")


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def cpu() -> float:
    """Return the CPU seconds of this process and of its children that have ended."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    return sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, kinds))


def replay(options: argparse.Namespace) -> None:
    start, wall = cpu(), time.perf_counter()
    beside = Setting(model=options.model, catalog=around(options.data))
    read = {name: load_sessions(options.data / name / "sessions.atif.jsonl.gz") for name in options.sets}
    sessions = {name: tuple(found)[: options.limit] for name, found in read.items()}
    systems = [System(name, options.retriever).check() for name in options.systems]
    say(f"read: {cpu() - start:.1f} CPU s")
    if options.workers > 1:
        todo = [one for found in sessions.values() for one in units(systems, found, beside, "")]
        run(todo, options.workers, lambda done: None)
    else:
        alone(sessions, systems, beside)
    total = sum(map(len, sessions.values()))
    spent, waited = cpu() - start, time.perf_counter() - wall
    say(f"{total} sessions under {len(systems)} systems, {options.workers} workers: {spent:.1f} CPU s, {waited:.1f} s")


def around(data: Path) -> Catalog:
    return Catalog(chain.from_iterable(load_catalog(data / name / "tools.jsonl") for name in AROUND))


def alone(sessions: dict[str, Sequence[Session]], systems: Sequence[System], setting: Setting) -> None:
    """Replay in this process and print CPU seconds by system and set; reading and counting a set go to its first."""
    spent: dict[tuple[str, str], float] = {}
    for name, found in sessions.items():
        runner = Runner()
        for unit in units(systems, found, setting, ""):
            key = (unit.system.name, name)
            spent[key] = spent.get(key, 0.0) + took(runner, unit)
    say(f"| system | {' | '.join(sessions)} |")
    say("| --- |" + " ---: |" * len(sessions))
    for system in systems:
        say(f"| `{system.name}` | " + " | ".join(f"{spent[system.name, name]:.2f}" for name in sessions) + " |")
    say(
        "| all systems | " + " | ".join(f"{sum(v for k, v in spent.items() if k[1] == n):.2f}" for n in sessions) + " |"
    )


def took(runner: Runner, unit: Unit) -> float:
    start = time.process_time()
    runner.run(unit)
    return time.process_time() - start


def decide(size: int) -> None:
    """Time one decision over many tools, ranking left out: the ranking is there before it is asked for."""
    tools = listing(synthetic(size)).tools
    view = HostView(turn_no=3, turn_input="words", _ranker=canned(tools), tokens=lambda name: 100 + len(name))
    say(f"| selector | ms at {size:,} tools |\n| --- | ---: |")
    for name in chosen():
        select = ready(name)
        select(tools, view)
        say(f"| `{name}` | {best_ms(select, tools, view):.2f} |")


def chosen() -> Iterator[str]:
    """Yield the registered selectors that can run without having been fitted."""
    for name in known_selectors():
        spec = {"pinned": "pinned('builtin.*')"}.get(name, name)
        try:
            ready(spec)
        except Exception as error:  # a selector of another package may fail at anything
            say(f"left out: {name}: {error}")
        else:
            yield spec


def best_ms(select: Any, tools: Sequence[Tool], view: HostView) -> float:
    times = []
    for _ in range(30):
        start = time.perf_counter()
        select(tools, view)
        times.append(time.perf_counter() - start)
    return min(times) * 1e3


def canned(tools: Sequence[Tool]) -> Any:
    ranked = tuple((tool.name, 1 - place / len(tools)) for place, tool in enumerate(tools))
    return lambda query, k, retriever: ranked[:k]


def synthetic(size: int) -> Iterator[Tool]:
    """Yield tools of many servers, each a few words long."""
    chance = random.Random(7)
    words = [
        "list",
        "get",
        "make",
        "close",
        "find",
        "send",
        "read",
        "move",
        "book",
        "plan",
        "order",
        "note",
        "file",
        "map",
        "test",
        "issue",
        "page",
        "user",
    ]
    for i in range(size):
        text = " ".join(chance.choices(words, k=12))
        schema = {"type": "object", "properties": {word: {"type": "string"} for word in chance.sample(words, 3)}}
        source = "builtin" if i % 200 == 0 else f"mcp.server{i % 97}"
        yield Tool(f"{source}.{chance.choice(words)}_{i}", f"{text}.", schema)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="folder of the public sets")
    options.add_argument("--sets", nargs="*", default=SETS)
    options.add_argument("--systems", nargs="*", default=SYSTEMS)
    options.add_argument("--model", default="claude-sonnet-4-5")
    options.add_argument("--retriever", help="by default the best one installed")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--limit", type=int, help="so many sessions a set")
    options.add_argument("--decide", action="store_true", help="time one decision instead of replays")
    options.add_argument("--tools", type=int, default=10_000)
    given = options.parse_args()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    if given.decide:
        decide(given.tools)
    elif given.data is None:
        options.error("--data is needed for replays")
    else:
        replay(given)


if __name__ == "__main__":
    main()
