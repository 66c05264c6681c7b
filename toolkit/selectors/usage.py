"""`Usage`: what earlier sessions say about the next one, counted once, kept in one JSON file.

Fitted selectors (`frequent`, `next_tool`) read it. Recorded searches are no tool calls, and a pass
that did nothing but search is not counted: it existed only because its host had to.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from toolkit.errors import InputError
from toolkit.session import Call, Session, Turn, digest_of, moments
from toolkit.store import write_whole
from toolkit.tool import SEARCH_NAMES

FORMAT = "selector-toolkit usage 1"
MOST_INPUTS = 5_000
TOTALS = ("sessions", "turns", "passes", "calls")
COUNTS = ("in_sessions", "in_turns", "told_in", "followed")
_REFIT = "Make it again: toolkit fit SESSIONS --out PATH, or Usage.of(sessions).save(path)."
Counts = Mapping[str, int]


@dataclass(frozen=True, repr=False, eq=False)
class Usage:
    """Counts over recorded sessions. Two are equal when all that they say is equal.

    Attributes:
        sessions, turns, passes, calls: Totals.
        in_sessions, in_turns: Tool → sessions, turns that call it.
        told_in: Tool → sessions in whose catalog it is.
        followed: Tool → turns that call it and have a next turn.
        after: Tool → tool → turns that call the second right after a turn that calls the first.
        inputs: A turn's input and the tools it called, the newest last, at most `MOST_INPUTS`.
        digests: One for each session, so that testing on what was fitted can be seen.
        first, last: When the earliest and the latest recorded moment was, where recordings say so.
        more: What other fitters add, e.g. calibrated weights: JSON values by name.
    """

    sessions: int = 0
    turns: int = 0
    passes: int = 0
    calls: int = 0
    in_sessions: Counts = field(default_factory=dict)
    in_turns: Counts = field(default_factory=dict)
    told_in: Counts = field(default_factory=dict)
    followed: Counts = field(default_factory=dict)
    after: Mapping[str, Counts] = field(default_factory=dict)
    inputs: tuple[tuple[str, tuple[str, ...]], ...] = ()
    digests: tuple[str, ...] = ()
    first: str | None = None
    last: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, sessions: Iterable[Session]) -> Usage:
        """Return what sessions say; those that tell no time count as the oldest, in the order given."""
        tally = _Tally()
        for session in sorted(sessions, key=lambda one: min(moments(one), default=_LONG_AGO)):
            tally.add(session)
        return tally.usage()

    def minus(self, other: Usage) -> Usage:
        """Return what is left without the sessions of `other`; times, and what fitters added, stay.

        Raises:
            InputError: `other` counts a session that this does not.
        """
        foreign = Counter(other.digests) - Counter(self.digests)
        if foreign:
            raise InputError(
                f"{foreign.total()} sessions are not counted in {self!r}.", hint="Take away a part of it only."
            )
        after = {tool: _less(counts, other.after.get(tool, {})) for tool, counts in self.after.items()}
        changed: dict[str, Any] = {name: getattr(self, name) - getattr(other, name) for name in TOTALS}
        changed |= {name: _less(getattr(self, name), getattr(other, name)) for name in COUNTS}
        changed |= {name: _without(getattr(self, name), getattr(other, name)) for name in ("inputs", "digests")}
        return replace(self, after={tool: counts for tool, counts in after.items() if counts}, **changed)

    def adding(self, **more: Any) -> Usage:
        """Return the same counts with more facts by name, each a JSON value."""
        return replace(self, more={**self.more, **more})

    def save(self, path: str | Path) -> Path:
        """Write everything to a JSON file, whole or not at all; equal counts give equal bytes.

        Raises:
            InputError: The file cannot be written.
        """
        path = Path(path)
        text = _json({"format": FORMAT, "digest": self.digest, **asdict(self)}) + "\n"
        try:
            write_whole(path, text.encode())
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}.", hint="Give another place.") from error
        return path

    @cached_property
    def digest(self) -> str:
        """A digest of all that it says, the same in every process."""
        return _digest(asdict(self))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Usage) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        tools = len(self.in_turns)
        return f"<usage of {tools} tools in {self.sessions} sessions, {self.turns} turns: {self.digest[:12]}>"


def load_usage(path: str | Path) -> Usage:
    """Return the usage of a file.

    Raises:
        InputError: There is no such file, it is no usage file, of another version, cut or changed.
    """
    path = Path(path)
    try:
        found = path.stat()
    except OSError as error:
        raise InputError(f"{path}: there is no usage file: {error.strerror}.", hint=_REFIT) from error
    return _loaded(path, found.st_mtime_ns, found.st_size)


@lru_cache(maxsize=8)
def _loaded(path: Path, changed: int, size: int) -> Usage:
    try:
        row = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} is no usage file, or is cut: {error}.", hint=_REFIT) from error
    if not isinstance(row, dict) or "format" not in row:
        raise InputError(f"{path} is no usage file: it has no format line.", hint=_REFIT)
    if row.pop("format") != FORMAT:
        raise InputError(f"{path} has another format than {FORMAT!r}.", hint=_REFIT)
    if row.pop("digest", None) != _digest(row):
        raise InputError(f"{path} was changed or damaged: its digest is another.", hint=_REFIT)
    inputs = tuple((words, tuple(tools)) for words, tools in row.pop("inputs"))
    return Usage(**{**row, "inputs": inputs, "digests": tuple(row["digests"])})


class _Tally:
    """Counts sessions one after the other."""

    def __init__(self) -> None:
        self.totals: Counter[str] = Counter()
        self.counts: dict[str, Counter[str]] = {name: Counter() for name in COUNTS}
        self.after: dict[str, Counter[str]] = {}
        self.inputs: list[tuple[str, tuple[str, ...]]] = []
        self.digests: list[str] = []
        self.moments: list[datetime] = []

    def add(self, session: Session) -> None:
        full = {wire: name for name, wire in session.catalog.wire_names.items()}
        turns = [[full.get(call.name, call.name) for call in _calls(turn)] for turn in session.turns]
        self.totals.update(sessions=1, turns=len(turns), passes=_passes(session), calls=sum(map(len, turns)))
        self.counts["told_in"].update(tool.name for tool in session.catalog)
        self.counts["in_sessions"].update({name for names in turns for name in names})
        each = [tuple(dict.fromkeys(names)) for names in turns]
        for names in each:
            self.counts["in_turns"].update(names)
        for before, then in zip(each, each[1:], strict=False):
            self._follow(before, then)
        self.inputs += (
            (turn.words, names) for turn, names in zip(session.turns, each, strict=True) if turn.words.strip()
        )
        self.digests.append(digest_of(session))
        self.moments += moments(session)

    def _follow(self, before: tuple[str, ...], then: tuple[str, ...]) -> None:
        self.counts["followed"].update(before)
        for name in before if then else ():
            self.after.setdefault(name, Counter()).update(then)

    def usage(self) -> Usage:
        times = (min(self.moments).isoformat(), max(self.moments).isoformat()) if self.moments else (None, None)
        facts: dict[str, Any] = {name: self.totals[name] for name in TOTALS}
        facts |= {name: dict(self.counts[name]) for name in COUNTS}
        facts |= {"inputs": tuple(self.inputs[-MOST_INPUTS:]), "digests": tuple(self.digests)}
        after = {name: dict(counts) for name, counts in self.after.items()}
        return Usage(**facts, after=after, first=times[0], last=times[1])


def _calls(turn: Turn) -> list[Call]:
    made = (call for one in turn.passes if one.requested for call in one.calls)
    return [call for call in made if not _is_search(call)]


def _is_search(call: Call) -> bool:
    return call.kind == "search" or call.name in SEARCH_NAMES


def _passes(session: Session) -> int:
    """Return how many requests the session took, those that only searched left out."""
    return sum(one.requested and (not one.calls or not all(map(_is_search, one.calls))) for one in session.passes())


_LONG_AGO = datetime.min.replace(tzinfo=UTC)


def _less(counts: Counts, others: Counts) -> dict[str, int]:
    if not others:
        return dict(counts)
    return {name: left for name, count in counts.items() if (left := count - others.get(name, 0)) > 0}


def _without(rows: tuple[Any, ...], others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return rows without others, of equal ones the first."""
    gone = Counter(others)
    kept = []
    for row in rows:
        if gone[row] > 0:
            gone[row] -= 1
        else:
            kept.append(row)
    return tuple(kept)


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def _digest(row: Mapping[str, Any]) -> str:
    return hashlib.sha256(_json(row).encode()).hexdigest()
