"""What recorded sessions say about a host's tools: dead weight, tools out of reach, tools to keep, servers to defer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.comparison.options import Execution, study
from toolkit.experiment.diagnosis import findable, servers, staying
from toolkit.experiment.diagnosis.findable import Ranks, Search
from toolkit.experiment.diagnosis.replays import Parts, Replayed, Replays, search_all
from toolkit.experiment.diagnosis.servers import Choice, Saving
from toolkit.experiment.diagnosis.staying import Trips
from toolkit.experiment.diagnosis.weight import ToolUse, Weights
from toolkit.experiment.fitting.split import split
from toolkit.formats.files import Problem
from toolkit.prices.price import price
from toolkit.replaying.system import Setting
from toolkit.search import default_retriever
from toolkit.session import Session
from toolkit.tool import SEARCH, Catalog, Tool

if TYPE_CHECKING:
    import pandas as pd

MODEL = "gpt-5"
"""Whose tokens and prices count when no recording names a model with a known price."""

ENOUGH = 20
"""From so many sessions on the saving is also measured on sessions that the choice did not see."""


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """What was found.

    Attributes:
        weight: One row a tool that was told: what declaring it cost, and how often it was used; costliest first.
        findable: One row a tool that was needed: in how many of these turns a query finds it; worst first.
        staying: One row a tool that was used: what declaring and what searching for it cost.
        servers: One row an MCP server: what it weighs, and what deferring it alone saves and misses.
        savings: What the chosen servers save, by how that was measured; the most trustworthy last.
        problems: What was skipped or doubted.
        about: What the figures are of.
    """

    weight: pd.DataFrame
    findable: pd.DataFrame
    staying: pd.DataFrame
    servers: pd.DataFrame
    savings: tuple[Saving, ...]
    problems: tuple[Problem, ...]
    about: Mapping[str, Any]

    @property
    def dead_weight(self) -> pd.DataFrame:
        """The tools that were told and never called."""
        return self.weight[self.weight["calls"] == 0]

    @property
    def unfindable(self) -> pd.DataFrame:
        """The tools that were needed and that no query ranks within k."""
        return self.findable[self.findable["found_turns"] == 0]

    @property
    def must_stay(self) -> pd.DataFrame:
        """The tools that cost less declared than searched for, or that no query finds."""
        return self.staying[self.staying["must_stay"]]

    @property
    def defer(self) -> tuple[str, ...]:
        """The servers to defer, as chosen on all sessions."""
        return tuple(sorted(part.server for part in self.savings[0].parts))

    def __repr__(self) -> str:
        defer = ", ".join(self.defer) or "nothing"
        counts = f"{len(self.dead_weight)} of {len(self.weight)} tools never used, {len(self.unfindable)} not findable"
        return f"Diagnosis({self.about['sessions']} sessions: {counts}; defer {defer})"


class _Facts:
    """What is gathered over some sessions."""

    def __init__(self, replays: Replays, ranks: Ranks) -> None:
        self.weights, self.search, self.trips = Weights(replays), Search(replays, ranks), Trips(replays.bench)

    @property
    def uses(self) -> list[ToolUse]:
        """The tools that were told, costliest first."""
        return sorted(self.weights.tools.values(), key=lambda use: (-use.usd_paid, use.name))

    def add(self, session: Session, declared: Replayed, searched: Replayed) -> None:
        self.weights.add(session, declared)
        self.search.add(session, declared)
        self.trips.add(searched)

    def stays(self, k: int) -> list[dict[str, Any]]:
        """Return what was used, with what declaring and searching cost; what costs most to search for first."""
        used = (use for use in self.uses if use.calls)
        rows = [staying.row(use, self.trips, self.search.reaches(use.name, k)) for use in used]
        return sorted(rows, key=lambda row: float(row["declare_usd"] - row["search_usd"]))

    def candidates(self, k: int, there: frozenset[str]) -> list[Parts]:
        """Return what may be deferred."""
        stay = {row["name"] for row in self.stays(k) if row["must_stay"]}
        return servers.candidates(self.uses, stay, there)


def diagnose(sessions: Iterable[Session], *, k: int = 5, **options: Any) -> Diagnosis:
    """Replay sessions with everything declared, everything searchable and servers deferred, and say what follows.

    Args:
        sessions: Recordings.
        k: A tool counts as found when a query ranks it among the first k.
        options: What sessions are replayed with, and how, as `compare` takes it: `catalog`, `retriever`, `profile`,
            `query_model`, `seed`, `progress`, …; without a `model` the one that most recordings name counts, else
            `gpt-5`.

    Raises:
        UnknownNameError: A retriever, profile, query model or model is not known; nothing has run.
        InputError: There is no session with tools, or k is below 1.
    """
    asked = study(**options)
    found, around = getattr(sessions, "problems", ()), asked.setting.catalog or ()
    recorded = tuple({session.id: session for session in sessions if len(around) or len(session.catalog)}.values())
    if not recorded:
        raise InputError("there is no session with tools to diagnose.", hint="Give at least one recorded session.")
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}.")
    replays = Replays(recorded, _named(asked.setting, recorded))
    halves = _halves(recorded)
    facts, early = _gathered(replays, halves[0], asked.execution.progress)
    board, savings = _deferring(replays, facts, early, halves, k, asked.execution)
    doubts = (*found, *getattr(halves[1], "problems", ()), *getattr(around, "problems", ()), *replays.noted)
    return _diagnosis(
        facts, k, board, savings, doubts, {**_about(replays, facts), "k": k, "seed": asked.execution.seed}
    )


def _named(setting: Setting, sessions: Sequence[Session]) -> Setting:
    """Return the setting with its retriever and model named; raise before anything runs when a name is not known."""
    model = setting.model or model_of(sessions)
    price(model)
    return replace(setting, retriever=setting.retriever or default_retriever(), model=model).check()


def model_of(sessions: Sequence[Session]) -> str:
    """Return the model that most sessions were recorded with, of those with a known price; else `gpt-5`."""
    for name, _ in Counter(session.model for session in sessions if session.model).most_common():
        try:
            price(str(name))
        except UnknownNameError:
            continue
        return str(name)
    return MODEL


def _halves(sessions: Sequence[Session]) -> tuple[Sequence[Session], Sequence[Session]]:
    """Return an earlier and a later half when there are enough sessions for both, else two empty ones."""
    try:
        return split(sessions, 0.5, "time") if len(sessions) >= ENOUGH else ((), ())
    except InputError:
        return (), ()


def _gathered(replays: Replays, earlier: Sequence[Session], progress: bool) -> tuple[_Facts, _Facts]:
    """Replay each session with everything declared and everything searchable; return the facts, all and earlier."""
    ranks = Ranks(str(replays.setting.retriever))
    ranks.prepare(_tools(replays))
    facts, early = _Facts(replays, ranks), _Facts(replays, ranks)
    first = {session.id for session in earlier}
    for session in tqdm(replays.sessions, desc="replay", unit="session", disable=None if progress else True):
        declared, searched = replays.declared(session), replays.replay(session, search_all)
        for one in (facts, early) if session.id in first else (facts,):
            one.add(session, declared, searched)
    return facts, early


def _tools(replays: Replays) -> list[Tool]:
    """Return every tool of every session once, for one index over all of them."""
    every = Catalog((*(tool for session in replays.sessions for tool in session.catalog), *replays.around))
    return [tool for tool in every if tool.source != "core"]


def _deferring(
    replays: Replays,
    facts: _Facts,
    early: _Facts,
    halves: Sequence[Sequence[Session]],
    k: int,
    execution: Execution,
) -> tuple[list[dict[str, Any]], tuple[Saving, ...]]:
    """Choose the servers to defer on all sessions; with enough of them also on the earlier half, to test that."""
    there = frozenset(use.server for use in facts.uses) & frozenset().union(*map(replays.servers, replays.sessions))
    possible = facts.candidates(k, there)
    with tqdm(desc="defer", unit="set", disable=None if execution.progress else True) as bar:
        whole = Choice(replays, replays.sessions, bar.update)
        chosen = whole.best(possible)
        savings = [whole.saving(chosen, "chosen and measured on the same sessions", execution.seed)]
        if halves[0]:
            then = Choice(replays, halves[0], bar.update).best(early.candidates(k, there))
            how = f"chosen on {len(halves[0])} earlier sessions, measured on {len(halves[1])} later ones"
            savings.append(Choice(replays, halves[1], bar.update).saving(then, how, execution.seed))
        rows = [servers.row(name, facts.uses, whole, possible, chosen) for name in sorted(there)]
    return sorted(rows, key=lambda row: (-float(row["alone_saves_usd"]), str(row["server"]))), tuple(savings)


def _diagnosis(
    facts: _Facts,
    k: int,
    board: list[dict[str, Any]],
    savings: tuple[Saving, ...],
    problems: tuple[Problem, ...],
    about: Mapping[str, Any],
) -> Diagnosis:
    import pandas as pd

    needs = sorted(facts.search.needs.values(), key=lambda need: (need.found(k), -len(need.turns)))
    return Diagnosis(
        pd.DataFrame([use.row() for use in facts.uses]),
        pd.DataFrame([_reach(need, needs, facts.search, k) for need in needs], columns=findable.COLUMNS),
        pd.DataFrame(facts.stays(k), columns=staying.COLUMNS),
        pd.DataFrame(board, columns=servers.COLUMNS),
        savings,
        problems,
        about,
    )


def _reach(need: findable.Needs, needs: Sequence[findable.Needs], search: Search, k: int) -> dict[str, Any]:
    """Return the row of a tool that was needed, with the reason and a hint where it is not always found."""
    row = findable.row(need, k)
    if row["found_turns"] == row["needed_turns"]:
        return {**row, "why": "", "hint": ""}
    known = all(session.definitions != "missing" for session in search.replays.sessions)
    others = [other for other in needs if other is not need]
    return {**row, "why": search.why(need), "hint": findable.hint(need, others, known)}


def _about(replays: Replays, facts: _Facts) -> dict[str, Any]:
    listed, setting = replays.bench.price, replays.setting
    kinds = {kind: len(list(group)) for kind, group in groupby(sorted(one.definitions for one in replays.sessions))}
    return {
        "sessions": len(replays.sessions),
        "turns": sum(len(session.turns) for session in replays.sessions),
        "tools": len(facts.weights.tools),
        "around": len(replays.around),
        "definitions": kinds,
        "model": setting.model,
        "prices": f"{listed.source}, {listed.date}",
        "counter": replays.bench.counter.name,
        "retriever": setting.retriever,
        "query_model": setting.query_model,
        "profile": setting.profile,
        "deferred_by_the_host": _own_flagged(replays),
        "trip_usd": facts.trips.trip_usd,
        "miss_usd": facts.trips.miss_usd,
    }


def _own_flagged(replays: Replays) -> list[str]:
    """Return the tools that no server serves and that are flagged deferred: a host without a selector searches them."""
    every = (tool for session in replays.sessions for tool in (*session.catalog, *replays.around))
    return sorted({tool.name for tool in every if tool.deferred and tool.server is None and tool.name != SEARCH})
