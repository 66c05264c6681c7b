"""Which MCP servers to defer: chosen greedily by what replays of the recorded sessions cost, fallback included."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import stdev
from typing import Any

from toolkit.experiment.diagnosis.replays import NOTHING, Bill, Part, Parts, Replays
from toolkit.experiment.diagnosis.weight import ToolUse
from toolkit.experiment.fitting.split import task_of
from toolkit.experiment.stats import ratio_interval
from toolkit.session import Session

Step = Callable[[], object]


@dataclass(frozen=True, slots=True)
class Saving:
    """What a set of deferred servers saves against declaring everything, over some sessions.

    Attributes:
        how: `chosen and measured on the same sessions`, or which were for what.
        share, share_low, share_high: Of the cost with fallback, with its 95 % interval over tasks.
    """

    how: str
    sessions: int
    parts: Parts
    all: Bill
    deferred: Bill
    share: float
    share_low: float
    share_high: float

    @property
    def pins(self) -> tuple[str, ...]:
        """The tools of deferred servers that stay declared."""
        return tuple(sorted(name for part in self.parts for name in part.pins))

    def row(self) -> dict[str, Any]:
        """Return it as a row of a frame."""
        return {
            "how": self.how,
            "sessions": self.sessions,
            "servers": ", ".join(sorted(part.server for part in self.parts)),
            "pins": ", ".join(self.pins),
            "saving_share": self.share,
            "saving_share_low": self.share_low,
            "saving_share_high": self.share_high,
            "saving_usd": self.all.cost_with_fallback_usd - self.deferred.cost_with_fallback_usd,
            "saving_prompt_tokens": self.all.prompt_tokens - self.deferred.prompt_tokens,
            "all_usd": self.all.cost_with_fallback_usd,
            "deferred_usd": self.deferred.cost_with_fallback_usd,
            "search_trips": self.deferred.search_trips,
            "calls": self.deferred.calls,
            "missed": self.deferred.missed,
        }


class Choice:
    """Weighs sets of deferred servers on some sessions; every replay is made once and shared by all choices.

    Args:
        replays: Where bills come from.
        sessions: What the choice is made on.
        step: Called once for each set that was weighed.
    """

    def __init__(self, replays: Replays, sessions: Sequence[Session], step: Step) -> None:
        self.replays, self.sessions, self.step = replays, sessions, step

    def bill(self, parts: Parts) -> Bill:
        """Return what all the sessions cost with some servers deferred."""
        return Bill.total(self._bills(parts))

    def best(self, candidates: Iterable[Parts]) -> Parts:
        """Return what is to be deferred, put together greedily out of candidates.

        They are put on in the order of what each saves alone, in place of what was put on of the same servers, and
        stay when the whole gets cheaper; then each is taken off once more, and stays off when that is cheaper. Cheaper
        means by more than the standard error over sessions, so that no single session decides.
        """
        alone = {parts: sum(self._usd(parts)) for parts in candidates}
        chosen = NOTHING
        for parts in sorted(alone, key=lambda parts: (alone[parts], sorted(parts))):
            chosen = self._cheaper(_with(chosen, parts), chosen)
        for part in sorted(chosen) if len(chosen) > 1 else ():
            chosen = self._cheaper(chosen - {part}, chosen)
        return chosen

    def _cheaper(self, parts: Parts, than: Parts) -> Parts:
        saved = [before - after for before, after in zip(self._usd(than), self._usd(parts), strict=True)]
        doubt = sqrt(len(saved)) * stdev(saved) if len(saved) > 1 else 0.0
        return parts if sum(saved) > doubt else than

    def _usd(self, parts: Parts) -> list[float]:
        return [bill.cost_with_fallback_usd for bill in self._bills(parts)]

    def _bills(self, parts: Parts) -> list[Bill]:
        self.step()
        return [self.replays.bill(session, parts) for session in self.sessions]

    def saving(self, parts: Parts, how: str, seed: int) -> Saving:
        """Return what deferring some servers saves over the sessions."""
        every, mine = self._bills(NOTHING), self._bills(parts)
        pairs = zip(mine, every, strict=True)
        tops, bottoms = zip(*((a.cost_with_fallback_usd, b.cost_with_fallback_usd) for a, b in pairs), strict=True)
        ratio, low, high = ratio_interval(tops, bottoms, seed, map(task_of, self.sessions))
        return Saving(how, len(mine), parts, Bill.total(every), Bill.total(mine), 1 - ratio, 1 - high, 1 - low)


def _with(chosen: Parts, parts: Parts) -> Parts:
    """Return what is chosen and more, in place of what it had of the same servers."""
    new = {part.server for part in parts}
    return frozenset(part for part in chosen if part.server not in new) | parts


def candidates(uses: Iterable[ToolUse], stay: Collection[str], there: Collection[str]) -> list[Parts]:
    """Return what is put on as one: for each server that was called, the whole, and all but the tools that must stay.

    A server that is never called adds no search of its own, so all of those are one candidate.
    """
    by_server: dict[str, list[ToolUse]] = {server: [] for server in sorted(there)}
    for use in uses:
        by_server.get(use.server, []).append(use)
    idle = frozenset(Part(server) for server, tools in by_server.items() if not any(use.calls for use in tools))
    found = [idle] if idle else []
    for server, tools in by_server.items():
        pins = tuple(sorted(use.name for use in tools if use.name in stay))
        whole = [Part(server)] if Part(server) not in idle else []
        kept = [Part(server, pins)] if 0 < len(pins) < len(tools) else []
        found += [frozenset({part}) for part in (*whole, *kept)]
    return found


COLUMNS = (
    *("server", "tools", "used_tools", "sessions", "tokens", "calls", "pins", "alone_saves_usd"),
    *("alone_saves_prompt_tokens", "alone_search_trips", "alone_missed", "defer"),
)


def row(
    server: str, every_use: Iterable[ToolUse], choice: Choice, candidates: Iterable[Parts], chosen: Parts
) -> dict[str, Any]:
    """Return a server as a row of a frame: what its tools weigh, and what deferring it alone, at its best, saves."""
    uses = [use for use in every_use if use.server == server]
    own = {part for parts in candidates for part in parts if part.server == server}
    every = choice.bill(NOTHING)
    alone, best = min((choice.bill(frozenset({part})), part) for part in sorted(own))
    return {
        "server": server,
        "tools": len(uses),
        "used_tools": sum(use.calls > 0 for use in uses),
        "sessions": max(use.sessions for use in uses),
        "tokens": sum(use.tokens for use in uses),
        "calls": sum(use.calls for use in uses),
        "pins": ", ".join(best.pins),
        "alone_saves_usd": every.cost_with_fallback_usd - alone.cost_with_fallback_usd,
        "alone_saves_prompt_tokens": every.prompt_tokens - alone.prompt_tokens,
        "alone_search_trips": alone.search_trips,
        "alone_missed": alone.missed - every.missed,
        "defer": any(part.server == server for part in chosen),
    }
