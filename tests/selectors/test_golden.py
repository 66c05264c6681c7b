"""What every selector offers over the recorded sessions, as whole numbers: a change of behaviour shows here.

`REGENERATE=1 pytest tests/selectors/test_golden.py` writes the file anew; look at the difference before you keep it.
"""

from __future__ import annotations

import json
import os
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest

from tests.builders import DATASET
from toolkit import load_sessions
from toolkit.replaying import System, fold, prepare
from toolkit.selectors import resolve
from toolkit.tool import definition_text

FILE = Path(__file__).parents[1] / "golden" / "selectors.json"
FIELDS = ("declared", "searchable", "withheld", "changed", "served", "missed", "blocked")
SPECS = (
    *("all", "auto(percent=2)", "builtin-only", "deferred", "lazy", "pinned('mcp.git.*')", "recent(n=2)"),
    *("lexical(k=8)", "mmr(k=2, lambda=0.3)", "threshold(score=6, retriever='lexical')", "servers(k=2)"),
    *("budget(tokens=1500)", "sticky(lexical(k=8))", "sticky(lexical(k=8) | recent(n=2), used=1)"),
    *("frequent(k=8)", "next_tool(k=8, retriever='lexical')"),
    *("lazy | recent(n=2) | lexical(k=4)", "(all & 'mcp.*').cap(2000).pin('builtin.read_file')"),
)


@lru_cache(maxsize=1)
def recorded() -> tuple[Any, ...]:
    return tuple(load_sessions(DATASET))


def offered(spec: str) -> list[int]:
    """Return the sums of `FIELDS` over the later half of the sessions; what learns has learnt from the earlier one."""
    half = len(recorded()) // 2
    selector = resolve(spec)
    selector = selector.fit(recorded()[:half]) if hasattr(selector, "fit") else selector
    sums = dict.fromkeys(FIELDS, 0)
    for session in recorded()[half:]:
        sizes = {tool.name: len(definition_text(tool)) // 4 for tool in session.catalog}
        prepared = prepare(session)
        growing = replace(prepared, turns=tuple(replace(turn, input_tokens=800) for turn in prepared.turns))
        add(sums, fold(growing, System(selector, "lexical"), tokens=lambda name, sizes=sizes: sizes.get(name, 0)))
    return list(sums.values())


def add(sums: dict[str, int], trace: Any) -> None:
    offers = [turn.offer for turn in trace.turns]
    for offer in offers:
        for name in ("declared", "searchable", "withheld"):
            sums[name] += len(getattr(offer, name))
    sums["changed"] += sum(one.definitions != other.definitions for one, other in zip(offers, offers[1:], strict=False))
    fates = [call.fate for one in trace.passes() for call in one.calls]
    for name in ("served", "missed", "blocked"):
        sums[name] += sum(fate == name or (name == "served" and fate == "searched") for fate in fates)


@pytest.mark.parametrize("spec", SPECS)
def test_a_selector_offers_over_the_recorded_sessions_what_it_did(spec: str) -> None:
    known = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {}
    found = offered(spec)
    if os.environ.get("REGENERATE"):
        known[spec] = found
        rows = ",\n".join(f"  {json.dumps(key)}: {json.dumps(known[key])}" for key in SPECS if key in known)
        FILE.write_text(f"{{\n{rows}\n}}\n", "utf-8")
    assert dict(zip(FIELDS, found, strict=True)) == dict(zip(FIELDS, known[spec], strict=True))
