"""Conformance vectors of `docs/semantics.md`: events in, outcomes out, for hosts in any language.

Their expectations are what the reference engine says; a second engine, written from the rules alone,
replays them all in the tests.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from toolkit.errors import InputError, UnknownNameError, why
from toolkit.testing.recipes import calls, turns, visible
from toolkit.testing.recipes.chance import drawn
from toolkit.testing.recipes.language import Draft, drafts
from toolkit.testing.reference_host import Server
from toolkit.tool import CORE_NAMES

Vector = dict[str, Any]
FAMILIES = {"V": 8, "H": 8, "B": 9, "S": 9, "Q": 10, "C": 5, "A": 3, "T": 2}
RULES = tuple(f"{family}{number}" for family, most in FAMILIES.items() for number in range(1, most + 1))
_ALWAYS = frozenset(("error", "declared", "searchable", "withheld", "verdict", "reads", "hits"))
_ALSO: Mapping[str, frozenset[str]] = {
    "notices": frozenset(("V4", "V5", "V7", "H3", "B6", "S3", "S5", "S7")),
    "definitions": frozenset(("V7", "B1", "B5", "B6", "B7", "B9", "T1")),
    "selector_trips": frozenset(("S1", "S2", "S7", "A3")),
    "matched": frozenset(("Q5", "Q10")),
    "declared_matches": frozenset(("H6", "Q10")),
    "down": frozenset(("Q10",)),
}


@lru_cache(maxsize=1)
def _all() -> tuple[str, ...]:
    server, numbers, seen = Server(), Counter[str](), set()
    lines = []
    for draft in (*_recipes(), *drawn(_play)):
        config, events = draft.config, draft.events
        content = json.dumps([config, events, sorted(draft.rules)])
        if content not in seen:
            seen.add(content)
            numbers[draft.rules[0]] += 1
            lines.append(json.dumps(_vector(draft, server, numbers[draft.rules[0]]), ensure_ascii=False))
    return tuple(lines)


def _recipes() -> Iterator[Draft]:
    for module in (visible, turns, calls):
        yield from drafts(module.RECIPES)


def _play(config: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    server = Server()
    server.ask("start", {"config": config})
    return [server.ask("apply", {"event": event}) for event in events]


def _vector(draft: Draft, server: Server, number: int) -> Vector:
    keys = _ALWAYS | {key for key, rules in _ALSO.items() if rules.intersection(draft.rules)}
    head = {"id": f"{draft.rules[0]}-{number:02}", "rules": list(draft.rules), "title": draft.title}
    vector: Vector = {**head, "config": draft.config}
    start = server.ask("start", {"config": draft.config})
    if "error" in start:
        return {**vector, "start": _expect(start, keys, draft.texts.get(-1)), "steps": []}
    outcomes = [server.ask("apply", {"event": event}) for event in draft.events]
    expected = [_expect(outcome, keys, draft.texts.get(place)) for place, outcome in enumerate(outcomes)]
    steps = zip(draft.events, expected, strict=True)
    return {**vector, "steps": [{"event": event, "expect": expect} for event, expect in steps]}


def _expect(outcome: Mapping[str, Any], keys: frozenset[str], text: Any) -> dict[str, Any]:
    expect = {key: outcome[key] for key in outcome if key in keys}
    if "definitions" in expect:
        own = expect["definitions"].items()
        expect["definitions"] = {name: None if name in CORE_NAMES else said for name, said in own}
    if "notices" in expect:
        expect["notices"] = sorted(expect["notices"])
    return {**expect, "text": text} if text else expect


def vectors(rules: Iterable[str] = ()) -> list[Vector]:
    """Return the vectors of some rules, or all: fresh values, the same in every process.

    Args:
        rules: `H3`, or a family: `H`.

    Raises:
        UnknownNameError: There is no such rule.
    """
    wanted = set(_named(rules))
    return [vector for line in _all() if wanted.intersection((vector := json.loads(line))["rules"])]


def _named(rules: Iterable[str]) -> Iterator[str]:
    rules = tuple(rules)
    for rule in rules:
        if rule not in RULES and rule not in FAMILIES:
            raise UnknownNameError("rule", rule, (*FAMILIES, *RULES))
    yield from (one for one in RULES if not rules or one in rules or one[0] in rules)


def write(folder: Path, rules: Iterable[str] = ()) -> int:
    """Write `vectors.jsonl`, one vector a line, and `PROTOCOL.md`; return how many vectors.

    Raises:
        InputError: The folder cannot be written.
    """
    chosen = vectors(rules)
    lines = "".join(f"{json.dumps(vector, ensure_ascii=False)}\n" for vector in chosen)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "vectors.jsonl").write_bytes(lines.encode())
        (folder / "PROTOCOL.md").write_bytes((files("toolkit.testing") / "PROTOCOL.md").read_bytes())
    except OSError as error:
        raise InputError(f"{folder} cannot be written: {why(error)}.") from error
    return len(chosen)
