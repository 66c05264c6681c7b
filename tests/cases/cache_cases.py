"""Checks cases of the kind `cache`: whether offers keep their bytes, and what a broken prefix costs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from tests.cases import token_cases
from toolkit.host import Host, Turn
from toolkit.selectors.auto import Auto
from toolkit.tool import SEARCH, Tool

_FINGERPRINT = (
    "import sys, json; from tests.cases.cache_cases import texts; print(json.dumps(texts(json.load(sys.stdin))))"
)


def check(case: Mapping[str, Any]) -> list[str]:
    """Return what came out otherwise than a case expects."""
    given, expected = case["input"], case["expected"]
    if "requests" in given or "request_input_tokens" in expected:
        return token_cases.check(case)
    kinds: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Iterator[str]]] = {
        "offers": _offers,
        "turn": _one_turn,
        "turn_costs": _modes,
    }
    return [failure for key, checker in kinds.items() if key in given for failure in checker(given, expected)]


def texts(given: Mapping[str, Any]) -> list[str]:
    """Return the declared bytes of each offer, in one session whose list changes between turns."""
    lists = [[_tool(row) for row in offer["tools"]] for offer in given["offers"]]
    host = Host(lists[0])
    made = [host.start_turn().definitions]
    for tools in lists[1:]:
        host.tools_changed("builtin", tools)
        made.append(host.start_turn().definitions)
    return made


def _tool(row: Mapping[str, Any]) -> Tool:
    return Tool(row["name"], row.get("description"), row.get("input_schema"), source="builtin")


def _offers(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    made = texts(given)
    for one, other in expected.get("equal", ()):
        if made[one] != made[other]:
            yield f"offers {one} and {other} have other bytes"
    if expected.get("equal_across_seeds"):
        found = {_in_another_process(given, seed) for seed in given.get("hash_seeds", (0, 1))}
        if found != {tuple(made)}:
            yield "the bytes depend on the hash seed"


def _in_another_process(given: Mapping[str, Any], seed: int) -> tuple[str, ...]:
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    command = [sys.executable, "-c", _FINGERPRINT]
    data = msgspec.json.encode(given)
    answer = subprocess.run(command, input=data, capture_output=True, check=True, env=environment, timeout=60)
    return tuple(msgspec.json.decode(answer.stdout))


def _one_turn(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    said = given["turn"]
    searchable = said.get("searchable", ())
    names = [name for name in (*said.get("declared", ()), *searchable) if name != SEARCH]
    host = Host([Tool(name, source="builtin", deferred=name in searchable) for name in names], retriever="lexical")
    turn = host.start_turn()
    declared, listing = zip(*(_after(turn, step) for step in ({}, *said["steps"])), strict=True)
    if expected.get("declared_bytes_equal_all_steps") and len(set(declared)) > 1:
        yield "the declared bytes change within the turn"
    if expected.get("listing_bytes_equal_all_steps") and len(set(listing)) > 1:
        yield "the search tool's own text changes within the turn"


def _after(turn: Turn, step: Mapping[str, Any]) -> tuple[str, str]:
    one = turn.start_pass()
    if "search" in step:
        one.search(step["search"])
    if "call" in step:
        one.call(step["call"], {})
    search = turn.offer.declared.by_name.get(SEARCH)
    return turn.definitions, f"{search.description}{search.schema_text}" if search else ""


def _modes(given: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    costs = iter(given["turn_costs"])
    selector = Auto(percent=100, window=given["threshold"])
    now = {"cost": 0}
    host = Host([Tool("mcp.sea.tide")], selector=selector, tokens=lambda name: now["cost"] if name != SEARCH else 0)
    modes, notices = [], set()
    for now["cost"] in costs:
        turn = host.start_turn()
        modes.append(SEARCH in turn.declared)
        notices |= set(turn.notices)
    changes = sum(one != other for one, other in zip(modes, modes[1:], strict=False))
    if changes > expected.get("max_mode_changes", changes):
        yield f"the mode changed {changes} times"
    yield from (f"no notice {notice}" for notice in expected.get("notices", ()) if notice not in notices)
