"""From which share of its turns on a tool is cheaper declared than searched for: a break-even for each tool.

Both sides are estimates out of replays. Declaring costs what the definition cost over all passes that were told of
the tool. Searching costs, for each turn that needs it, the trips of a replay in which nothing is declared, at the
mean price of a trip there (its pass, and its result in the history from then on), and the fallback for what no
search found.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from toolkit.bench import Bench
from toolkit.experiment.diagnosis.replays import Replayed
from toolkit.experiment.diagnosis.weight import ToolUse


@dataclass(slots=True)
class Trips:
    """What searching cost over the sessions that were replayed with everything searchable."""

    bench: Bench
    trips: int = 0
    trips_usd: float = 0.0
    failed: int = 0
    failed_usd: float = 0.0
    tries: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)

    def add(self, found: Replayed) -> None:
        """Add a session that was replayed with everything searchable."""
        grown = 0
        for row in found.rows:
            plain, whole, *_ = self.bench.costs(row)
            rates = self.bench.price.rates(row.prompt_tokens)
            held = row.search_history_tokens
            if row.kind == "search":
                self.trips += 1
                self.trips_usd += plain
            else:
                self.trips_usd += held * rates.cached + max(0, held - grown) * (rates.write - rates.cached)
            grown = held
            self.failed += row.fallback_passes
            self.failed_usd += whole - plain
        for call in (call for one in found.trace.passes() for call in one.calls):
            self.tries[call.name] += call.tries
            self.missed[call.name] += call.fate == "missed"

    @property
    def trip_usd(self) -> float:
        return self.trips_usd / max(self.trips, 1)

    @property
    def miss_usd(self) -> float:
        return self.failed_usd / max(self.failed, 1)

    def usd_of(self, name: str) -> float:
        """Return what searching for one tool cost in all turns that need it."""
        return self.tries[name] * self.trip_usd + self.missed[name] * self.miss_usd


COLUMNS = (
    *("server", "name", "turns", "used_turns", "used_share", "break_even_share", "declare_usd", "search_usd"),
    *("missed_calls", "must_stay", "why"),
)


def row(use: ToolUse, trips: Trips, findable: bool) -> dict[str, Any]:
    """Return a tool that was used as a row of a frame: both costs, and the share of turns at which they are equal."""
    searching = trips.usd_of(use.name)
    a_turn = searching / max(use.used_turns, 1)
    reasons = ["searching costs more"] * (searching > use.usd_paid) + ["no query finds it"] * (not findable)
    return {
        "server": use.server,
        "name": use.name,
        "turns": use.turns,
        "used_turns": use.used_turns,
        "used_share": use.used_turns / max(use.turns, 1),
        "break_even_share": min(1.0, use.usd_paid / use.turns / a_turn) if a_turn and use.turns else 1.0,
        "declare_usd": use.usd_paid,
        "search_usd": searching,
        "missed_calls": trips.missed[use.name],
        "must_stay": bool(reasons),
        "why": ", ".join(reasons),
    }
