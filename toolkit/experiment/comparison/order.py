"""Where a ranking hangs on the fallback: which system is cheapest at which share of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

from toolkit.replaying.system import KNOWING


class Line(NamedTuple):
    """What a system costs when a share of its fallback is charged: `base + share * fallback`."""

    system: str
    base: float
    fallback: float


class Stretch(NamedTuple):
    """The shares of the fallback, up to `end`, at which a system is the cheapest."""

    system: str
    end: float


def cheapest_by_fallback(summary: pd.DataFrame) -> list[Stretch]:
    """Return which system is cheapest at which share of the fallback, from 0 to 1, in order.

    Bounds that no host could run are left out, and what is not ranked. Tokens count where a cost is not known.
    """
    board = summary[summary["ranked"] & ~summary["system"].isin(KNOWING)]
    priced = len(board) and board["cost_usd"].notna().all()
    base, more = ("cost_usd", "fallback_usd") if priced else ("prompt_tokens", "fallback_prompt_tokens")
    rows = zip(board["system"], board[base], board[more], strict=True)
    return lower_envelope([Line(str(name), float(a), float(b)) for name, a, b in rows])


def lower_envelope(lines: Sequence[Line]) -> list[Stretch]:
    """Return the lowest of some lines over [0, 1]; where several are lowest together, the first given.

    >>> lower_envelope([Line("a", 1.0, 4.0), Line("b", 2.0, 0.0)])
    [Stretch(system='a', end=0.25), Stretch(system='b', end=1.0)]
    """
    stretches: list[Stretch] = []
    share, left = 0.0, list(lines)
    while left:
        now = min(left, key=lambda line: (line.base + share * line.fallback, line.fallback))
        left = [line for line in left if line.fallback < now.fallback and _crossing(now, line) < 1]
        following = min((_crossing(now, line) for line in left), default=1.0)
        if following > share or not left:
            stretches.append(Stretch(now.system, following))
        share = following
    return stretches


def _crossing(now: Line, later: Line) -> float:
    """Return the share from which on the flatter line is the lower one."""
    return (later.base - now.base) / (now.fallback - later.fallback)


def said(stretches: Sequence[Stretch]) -> str:
    """Return the line that says it; empty where no system is ranked.

    >>> said([Stretch("a", 0.25), Stretch("b", 1.0)])
    'By the share of the fallback that is charged, a is cheapest up to 0.25, then b.'
    """
    if not stretches:
        return ""
    *before, last = stretches
    if not before:
        return f"{last.system} is cheapest whatever share of the fallback is charged."
    places = ", then ".join(f"{one.system}{' is cheapest' * (one is before[0])} up to {one.end:.2g}" for one in before)
    return f"By the share of the fallback that is charged, {places}, then {last.system}."
