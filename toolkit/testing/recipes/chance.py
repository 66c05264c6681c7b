"""Small event sequences drawn from fixed numbers, each about one rule.

A drawn sequence is about a rule when the events that the rule is about matter in it: without them,
the other events have other outcomes. So no sequence carries a rule that it does not exercise.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from toolkit.testing.recipes.language import Draft, drafts
from toolkit.testing.recipes.worlds import WORLDS

Outcomes = Sequence[Mapping[str, Any]]
Play = Callable[[Mapping[str, Any], Sequence[Mapping[str, Any]]], Outcomes]

_LENGTH, _EACH, _TRIES = 7, 4, 60
_COMMON = ("go", "find $qa", "call $A", "call $R", "call $C", "search $qb", "pass")
# Rules → the statements that they are about; what they are mixed with is common to all.
THEMES: Mapping[str, tuple[str, ...]] = {
    "V1": ("policy $R=deny", "scope $SP", "role $BP", "policy"),
    "V2": ("role $BP", "role $TP $SP", "role"),
    "V3": ("policy $R=ask $C=ask", "policy $A=ask"),
    "V8": ("scope nothing", "policy *=deny $R=allow", "policy $R=deny *=allow"),
    "H1": ("hide $X $R", "hide $Y $R $SP", "unload $Y"),
    "H2": ("hide $X $SP $R", "show $X $A", "show $X $R"),
    "H3": ("show $Y $SP", "hide $X $SP", "hide $Y $B", "show $Y $A"),
    "H7": ("hide $Y $R $A", "unload $Y"),
    "B2": ("selector lazy", "selector all", "selector -"),
    "B3": ("policy $R=deny", "policy $A=deny", "policy"),
    "B4": ("down $S", "up $S", "down $T", "up $T"),
    "S9": ("selector lazy", "selector builtin-only", "selector all"),
    "Q6": ("find $qa", "search $qa"),
    "Q9": ("find $qb", "call $B", "compaction", "find $qa"),
    "A1": ("enter s $BP", "call@s $C", "call@s $R", "end s"),
    "A2": ("enter s", "find@s $qa", "call@s $A", "end s"),
    "C2": ("policy $R=deny", "down $T", "call $R", "call $C"),
}
CORE: Mapping[str, tuple[str, ...]] = {
    "A1": ("step",), "A2": ("search",), "Q6": ("search",), "Q9": ("search",),
    "C2": ("policy", "server_down"), "H3": ("hide",), "H7": ("unload",),
}  # fmt: skip


def drawn(play: Play) -> Iterator[Draft]:
    """Yield drawn vectors, a few for each theme; `play` returns what the reference says to a world's events."""
    for rule, statements in THEMES.items():
        about = CORE.get(rule, _ops(statements))
        tried = (_draw(rule, (*_COMMON, *statements, *statements), seed) for seed in range(_TRIES))
        yield from islice((draft for draft in tried if _matters(draft, about, play)), _EACH)


def _draw(rule: str, statements: Sequence[str], seed: int) -> Draft:
    chosen = [statements[_number(rule, seed, place) % len(statements)] for place in range(_LENGTH)]
    body = "; ".join(["go", *chosen, "go", "call $R", "call $A"])
    (draft,) = drafts(f"{rule} | drawn\n{body}", [WORLDS[seed % len(WORLDS)]])
    return draft


def _number(rule: str, seed: int, place: int) -> int:
    """Return a number that is the same in every version of the language."""
    return int.from_bytes(hashlib.sha256(f"{rule}/{seed}/{place}".encode()).digest()[:6], "big")


def _ops(statements: Sequence[str]) -> tuple[str, ...]:
    (draft,) = drafts(f"- | -\n{'; '.join(statements)}", WORLDS[:1])
    return tuple({str(event["op"]) for event in draft.events})


def _matters(draft: Draft, ops: Sequence[str], play: Play) -> bool:
    """Say whether the other events have other outcomes without the events of these kinds."""
    rest = [event for event in draft.events if event["op"] not in ops]
    outcomes = play(draft.config, draft.events)
    others = [outcome for event, outcome in zip(draft.events, outcomes, strict=True) if event["op"] not in ops]
    return others != list(play(draft.config, rest))
