"""What `toolkit serve` adds to a call, against the same call to the server itself, and whether it grows.

python benchmarks/proxy.py --calls 2000 --parallel 50
python benchmarks/proxy.py --minutes 10 --rate 50
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import anyio
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

SERVER = """
from mcp.server.mcpserver import MCPServer
server = MCPServer("sums")
@server.tool(structured_output=False)
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b
server.run()
"""


def direct(script: Path) -> StdioServerParameters:
    return StdioServerParameters(command=sys.executable, args=[str(script)])


def proxied(folder: Path, script: Path, record: bool) -> StdioServerParameters:
    config = folder / "host.toml"
    config.write_text(f'[mcp_servers.sums]\ncommand = "{sys.executable}"\nargs = ["{script}"]\n', encoding="utf-8")
    kept = ["--record", str(folder / "kept"), "--log", str(folder / "log")] if record else []
    command = ["-m", "toolkit", "serve", "--config", str(config), "--selector", "all", *kept]
    return StdioServerParameters(command=sys.executable, args=command, env={**os.environ})


async def one(client: Client, name: str, taken: list[float]) -> None:
    began = time.perf_counter()
    answer = await client.call_tool(name, {"a": 1, "b": 2})
    taken.append((time.perf_counter() - began) * 1000)
    assert answer.content[0].text == "3"


async def timed(client: Client, name: str, calls: int, parallel: int) -> list[float]:
    """Return the milliseconds of calls that are made so many at a time."""
    taken: list[float] = []
    for _ in range(calls // parallel):
        async with anyio.create_task_group() as group:
            for _ in range(parallel):
                group.start_soon(one, client, name, taken)
    return taken


def shown(what: str, parallel: int, near: Sequence[float], far: Sequence[float]) -> str:
    def percentile(taken: Sequence[float], part: float) -> float:
        return sorted(taken)[int(len(taken) * part)]

    p50 = [statistics.median(taken) for taken in (near, far)]
    p99 = [percentile(taken, 0.99) for taken in (near, far)]
    row = (f"{p50[0]:.2f}", f"{p50[1]:.2f}", f"{p50[1] - p50[0]:.2f}", f"{p99[0]:.1f}", f"{p99[1]:.1f}")
    return f"| {what} | {parallel} | {len(near)} | {' | '.join(row)} | {p99[1] - p99[0]:.1f} |"


async def overhead(folder: Path, script: Path, calls: int, parallel: int) -> None:
    print("| | parallel | calls | direct p50 ms | proxy p50 | added p50 | direct p99 | proxy p99 | added p99 |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for record in (False, True):
        near, far = Client(stdio_client(direct(script))), Client(stdio_client(proxied(folder, script, record)))
        async with near, far:
            await timed(near, "add", 100, 1), await timed(far, "mcp__sums__add", 100, 1)
            for at_once in (1, parallel):
                taken = [await timed(near, "add", calls, at_once), await timed(far, "mcp__sums__add", calls, at_once)]
                print(shown("recorded" if record else "plain", at_once, *taken), flush=True)


def resident(process: int) -> int:
    """Return the MB that a process holds."""
    pages = int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


def child() -> int:
    """Return the newest process that this one has started."""
    children = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text("ascii").split()
    return int(children[-1])


async def endurance(folder: Path, script: Path, minutes: float, rate: float) -> None:
    print("| minute | calls | MB |\n| --- | --- | --- |")
    async with Client(stdio_client(proxied(folder, script, False))) as client:
        await client.list_tools()
        process, taken, began = child(), list[float](), time.monotonic()
        while (now := time.monotonic() - began) < minutes * 60:
            await one(client, "mcp__sums__add", taken)
            if len(taken) % int(rate * 60) == 1:
                print(f"| {now / 60:.0f} | {len(taken)} | {resident(process)} |", flush=True)
            await anyio.sleep(max(0.0, len(taken) / rate - now))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--parallel", type=int, default=50)
    parser.add_argument("--minutes", type=float, default=0.0, help="Run so long at --rate, and show the memory.")
    parser.add_argument("--rate", type=float, default=50.0, help="Calls a second.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        script = folder / "sums.py"
        script.write_text(SERVER, encoding="utf-8")
        if given.minutes:
            anyio.run(endurance, folder, script, given.minutes, given.rate)
        else:
            anyio.run(overhead, folder, script, given.calls, given.parallel)


if __name__ == "__main__":
    main()
