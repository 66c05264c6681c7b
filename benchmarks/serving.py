"""What a selector costs behind stdio, against the same call in the process.

python benchmarks/serving.py --tools 1000
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from toolkit.serving.contract import METHODS
from toolkit.serving.selector_server import SelectorServer

SPECS = ("lazy", "builtin-only", "lexical(k=8)")
VERBS = ("create", "list", "close", "find", "update", "delete", "send", "read")
THINGS = ("issue", "branch", "message", "order", "invoice", "folder", "ticket", "event", "note", "contact")


def rows(tools: int) -> list[dict[str, Any]]:
    """Return tools of ten servers, with names and texts that a query can match."""
    made = []
    for number in range(tools):
        verb, thing = VERBS[number % len(VERBS)], THINGS[number // len(VERBS) % len(THINGS)]
        name = f"mcp.server{number % 10}.{verb}_{thing}_{number}"
        made.append({"name": name, "description": f"{verb.capitalize()}s one {thing} of kind {number}."})
    return made


class Process:
    """The server as a host has it: a process and two pipes."""

    def __init__(self, spec: str) -> None:
        command = [sys.executable, "-m", "toolkit", "selector-server", "--selector", spec, "--retriever", "lexical"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def __call__(self, method: str, params: dict[str, Any]) -> Any:
        assert self.process.stdin is not None and self.process.stdout is not None
        line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())["result"]


def percentiles(ask: Callable[[str, dict[str, Any]], Any], calls: Sequence[tuple[str, dict[str, Any]]]) -> list[float]:
    """Return the median and the 99th percentile in milliseconds of the calls, each asked once."""
    taken = []
    for method, params in calls:
        began = time.perf_counter()
        ask(method, params)
        taken.append((time.perf_counter() - began) * 1000)
    return [statistics.median(taken), sorted(taken)[int(len(taken) * 0.99)]]


def measured(spec: str, tools: int, calls: int) -> str:
    asked = {"version": 1, "tools": rows(tools)}
    turns = [("select", {"turn_input": f"close {THINGS[n % 10]} {n}", "turn_no": n + 1}) for n in range(calls)]
    near, far = SelectorServer(spec, "lexical"), Process(spec)
    assert set(METHODS) >= {"initialize", "select"}
    near("initialize", asked), far("initialize", asked)
    (inside, _), (p50, p99) = percentiles(near, turns), percentiles(far, turns)
    far("shutdown", {})
    far.process.wait()
    return f"| {spec} | {tools:,} | {calls} | {inside:.2f} | {p50:.2f} | {p99:.2f} | {p50 / inside:.1f} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", type=int, default=1000)
    parser.add_argument("--calls", type=int, default=300)
    given = parser.parse_args()
    print("| selector | tools | calls | in the process, p50 ms | over stdio, p50 ms | p99 ms | ratio |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for spec in SPECS:
        print(measured(spec, given.tools, given.calls), flush=True)


if __name__ == "__main__":
    main()
