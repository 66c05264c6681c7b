"""Recorded sessions under other offers, each replayed and paid once however often it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from toolkit.bench import Bench
from toolkit.engine import HostView, Selection
from toolkit.engine.offer import Offer, make_offer
from toolkit.errors import counted
from toolkit.formats.files import Problem
from toolkit.ledger import PassRow
from toolkit.replaying.prepared import Prepared
from toolkit.replaying.system import Setting
from toolkit.replaying.trace import Trace, TurnTrace
from toolkit.session import Session
from toolkit.tool import Catalog, Tool
from toolkit.toolset import toolset


class Part(NamedTuple):
    """A server that is deferred, and the names of its tools that stay declared nevertheless."""

    server: str
    pins: tuple[str, ...] = ()


Parts = frozenset[Part]
NOTHING: Parts = frozenset()


class Bill(NamedTuple):
    """What one session, or several, cost under an offer, and what became of their calls."""

    cost_with_fallback_usd: float = 0.0
    cost_usd: float = 0.0
    prompt_tokens: int = 0
    search_trips: int = 0
    calls: int = 0
    missed: int = 0
    blocked: int = 0

    @classmethod
    def total(cls, bills: Iterable[Bill]) -> Bill:
        return cls(*map(sum, zip(*bills, strict=True)))


class Replayed(NamedTuple):
    """A trace and the tokens of its passes."""

    trace: Trace
    rows: list[PassRow]


def search_all(visible: Sequence[Tool], host: HostView) -> Selection:
    """Declare nothing, leave everything searchable: every call then shows whether a search finds its tool."""
    return Selection((), [tool.name for tool in visible])


@dataclass(frozen=True, slots=True)
class Deferring:
    """What a host does whose file flags some servers `deferred`, and pins some of their tools and all of its own.

    What was flagged in the recorded host does not count.
    """

    parts: Parts

    def __call__(self, visible: Sequence[Tool], host: HostView) -> Selection:
        return self.of(visible)

    def of(self, visible: Sequence[Tool]) -> Selection:
        """Return the split of what was told, in whatever turn."""
        known, later = toolset(visible), set[str]()
        for part in self.parts:
            later.update(set(known.by_source.get(f"mcp:{part.server}", ())).difference(part.pins))
        return Selection([name for name in known.names if name not in later], sorted(later))


class Replays:
    """Sessions, their texts counted once, the bills of those that were replayed, and what replaying them met.

    Args:
        sessions: Recordings.
        setting: What they are replayed with.
    """

    def __init__(self, sessions: Sequence[Session], setting: Setting) -> None:
        self.setting, self.bench = setting, Bench.of(setting)
        self.sessions = tuple(sessions)
        self.around = tuple(setting.catalog or ())
        self._prepared: dict[str, Prepared] = {}
        self.noted: dict[Problem, None] = {}
        self._declared: dict[str, Replayed] = {}
        self._bills: dict[tuple[str, Parts], Bill] = {}
        self._served_by: dict[Catalog, frozenset[str]] = {}

    def prepared(self, session: Session) -> Prepared:
        """Return a session ready for replays, counted once."""
        if session.id not in self._prepared:
            self._prepared[session.id] = self.bench.prepare(session)
        return self._prepared[session.id]

    def replay(self, session: Session, selector: Any = "all") -> Replayed:
        """Replay a session under a selector and count it."""
        prepared, system = self.prepared(session), self.setting.system(selector)
        trace = self.bench.replay(prepared, system, self._noting(session))
        return Replayed(trace, self.bench.rows(prepared, trace))

    def declared(self, session: Session) -> Replayed:
        """Return the replay of a session with everything declared, made once."""
        if session.id not in self._declared:
            found = self._declared[session.id] = self.replay(session)
            if over := sum(row.over_window for row in found.rows):
                window = found.rows[0].window
                what = (
                    f"with everything declared {counted(over, 'request')} would not fit the context window ({window:,})"
                )
                self._noting(session)("over_window", f"{what}: what is saved against that is no bill that could be.")
        return self._declared[session.id]

    def deferred(self, session: Session, parts: Parts) -> Replayed:
        """Return the replay of a session with some servers deferred.

        Where it calls none of their tools nobody searches: it goes as it went with everything declared, under the
        other offers.
        """
        trace, chooser = self.declared(session).trace, Deferring(parts)
        offers: dict[Offer, Offer] = {turn.offer: _offer(turn.offer, chooser) for turn in trace.turns}
        pairs = [(turn, offers[turn.offer]) for turn in trace.turns]
        if any(name in offer.searchable.by_name for turn, offer in pairs for name in _called(turn)):
            return self.replay(session, chooser)
        moved = replace(trace, turns=tuple(replace(turn, offer=offer) for turn, offer in pairs))
        return Replayed(moved, self.bench.rows(self.prepared(session), moved))

    def _noting(self, session: Session) -> Callable[[str, str], None]:
        path, _, line = session.source.rpartition(":")

        def note(code: str, message: str) -> None:
            self.noted[Problem(path, int(line or 0), code, f"session {session.id!r}: {message}")] = None

        return note

    def bill(self, session: Session, parts: Parts) -> Bill:
        """Return what a session costs when some servers are deferred, and everything else is declared."""
        there = frozenset(part for part in parts if part.server in self.servers(session))
        if (session.id, there) not in self._bills:
            self._bills[session.id, there] = self.paid(self.deferred(session, there))
        return self._bills[session.id, there]

    def paid(self, found: Replayed) -> Bill:
        """Return the bill of a replay."""
        costs = [self.bench.costs(row) for row in found.rows]
        fates = [call.fate for one in found.trace.passes() for call in one.calls]
        return Bill(
            sum(one.cost_with_fallback_usd for one in costs),
            sum(one.cost_usd for one in costs),
            sum(row.prompt_tokens for row in found.rows),
            sum(row.kind == "search" for row in found.rows),
            len(fates),
            fates.count("missed"),
            fates.count("blocked"),
        )

    def servers(self, session: Session) -> frozenset[str]:
        """Return the MCP servers of which a session's host has tools."""
        if session.catalog not in self._served_by:
            tools = (*session.catalog, *self.around)
            self._served_by[session.catalog] = frozenset(tool.server for tool in tools if tool.server is not None)
        return self._served_by[session.catalog]


def _offer(declared: Offer, chooser: Deferring) -> Offer:
    return make_offer(declared.told, chooser.of(declared.told))[0]


def _called(turn: TurnTrace) -> Iterable[str]:
    return (call.name for one in turn.passes for call in one.calls)
