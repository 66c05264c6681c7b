"""What it costs a live host to write its session down, as the session grows.

python benchmarks/recording.py --tools 355
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

from toolkit import Host, load_sessions
from toolkit.tool import Tool

SCHEMA = {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}


def turn(host: Host, number: int) -> float:
    """Return the milliseconds of a turn of two passes, four calls and their results."""
    began = time.perf_counter()
    opened = host.start_turn(f"turn {number}")
    for _ in range(2):
        one = opened.start_pass()
        for at in range(2):
            one.call("mcp.server1.tool_1", {"id": number})
            one.result(at, "a result of some words " * 20)
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=355)
    parser.add_argument("--turns", type=int, default=1000)
    given = parser.parse_args()
    tools = [Tool(f"mcp.server{n % 10}.tool_{n}", f"Does thing {n}. " * 5, SCHEMA) for n in range(given.tools)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "live.json"
        plain, recorded = Host(tools), Host(tools, record=path)
        taken = [(turn(plain, number), turn(recorded, number)) for number in range(given.turns)]
        size = path.stat().st_size
        began = time.perf_counter()
        read = load_sessions(path)
        reading = time.perf_counter() - began
        began = time.perf_counter()
        recorded.close()
        closing = time.perf_counter() - began
    print("| turns so far | not recorded, ms a turn | recorded | of which the record |\n| --- | --- | --- | --- |")
    for end in (10, 100, given.turns):
        bare, kept = (statistics.median(one[at] for one in taken[max(0, end - 50) : end]) for at in (0, 1))
        print(f"| {end:,} | {bare:.2f} | {kept:.2f} | {kept - bare:.2f} |")
    print(
        f"\n{len(read[0].turns):,} turns: journal {size / 1e6:.1f} MB, "
        f"read in {reading:.2f} s, closed in {closing:.2f} s"
    )


if __name__ == "__main__":
    main()
