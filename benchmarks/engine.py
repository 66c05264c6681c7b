"""How long the engine takes over a large catalog, and what ten thousand sessions of it weigh.

python benchmarks/engine.py --tools 10000
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable

from toolkit import Host
from toolkit.host import listing
from toolkit.tool import Tool

SERVERS, EXTENSIONS, PATTERNS, SESSIONS = 100, 10, 5, 10_000
SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def catalog(tools: int) -> list[Tool]:
    """Return tools spread over servers, half of the servers deferred."""
    names = ((n % SERVERS, n) for n in range(tools))
    return [Tool(f"mcp.server{s}.tool_{n}", f"Does thing {n}.", SCHEMA, deferred=s % 2 == 0) for s, n in names]


def hide(host: Host) -> None:
    """Fifty hide patterns from ten extensions: most a prefix and a star."""
    for number in range(EXTENSIONS):
        ours = [f"mcp.server{number * PATTERNS + k}.*" for k in range(PATTERNS - 1)]
        last = f"mcp.*.tool_{number}0?" if number % 2 else f"mcp.server{number}_*"
        host.extension(f"e{number}").hide([*ours, last])


def milliseconds(action: Callable[[], object], times: int) -> float:
    """Return the median CPU milliseconds of an action."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        action()
        taken.append(1000 * (time.process_time() - start))
    return statistics.median(taken)


def first_boundaries(tools: list[Tool], times: int) -> float:
    """Return the median CPU milliseconds of the first boundary after the hides, in a host that has just started."""
    taken = []
    for number in range(times):
        host = Host(listing(tools))
        hide(host)
        host.extension("own").hide([f"never.{number}.*"])
        start = time.process_time()
        host.start_turn()
        taken.append(1000 * (time.process_time() - start))
    return statistics.median(taken)


def naive_boundary(tools: list[Tool], host: Host) -> None:
    """The plain way: every pattern of every extension against every tool."""
    import fnmatch

    for tool in tools:
        for _, log in host.state.hides:
            for pattern, _hidden in log:
                fnmatch.fnmatchcase(tool.name, pattern)


def memory(tools: list[Tool]) -> float:
    """Return the kilobytes of one session among ten thousand of one catalog."""
    shared = listing(tools)
    Host(shared).start_turn()
    tracemalloc.start()
    hosts = [Host(shared) for _ in range(SESSIONS)]
    for host in hosts:
        host.start_turn("go").start_pass()
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / SESSIONS / 1024


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tools", type=int, default=10_000)
    tools = catalog(options.parse_args().tools)
    host = Host(listing(tools))
    hide(host)
    host.start_turn()
    one = host.start_turn().start_pass()
    seen = iter(range(1, SERVERS, 2))
    name = next(f"mcp.server{s}.tool_{s + 100 * 60}" for s in seen if s > 50)
    one.call(name, {"id": 1})
    first, again = first_boundaries(tools, 9), milliseconds(lambda: host.start_turn(), 200)
    now = host.start_turn().start_pass()
    verdict = 1000 * milliseconds(lambda: [now.call(name, {"id": 1}) for _ in range(100)], 50) / 100
    plain = milliseconds(lambda: naive_boundary(tools, host), 3)
    lines = (
        f"{len(tools):,} tools, {EXTENSIONS * PATTERNS} hide patterns from {EXTENSIONS} extensions",
        f"first boundary: {first:.2f} ms (the plain loop over patterns: {plain:.0f} ms, {plain / first:.0f} times)",
        f"boundary when nothing changed: {again:.3f} ms",
        f"call verdict ({now.call(name, {'id': 1}).code}): {verdict:.1f} µs",
        f"a session among {SESSIONS:,} of one catalog: {memory(tools):.1f} KB",
    )
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
