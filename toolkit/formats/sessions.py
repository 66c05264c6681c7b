"""Reading session files: what is good is kept, what is bad is skipped, counted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

import msgspec

from toolkit.errors import InputError
from toolkit.formats.atif import UNREADABLE, read_trajectory
from toolkit.formats.files import Problem, Record, find_files, records
from toolkit.session import Session


class Sessions(Sequence[Session]):
    """Recorded sessions, and the problems that reading them met."""

    def __init__(self, sessions: Iterable[Session], problems: Iterable[Problem] = ()) -> None:
        self._sessions = tuple(sessions)
        self.problems = tuple(problems)

    @overload
    def __getitem__(self, index: int) -> Session: ...
    @overload
    def __getitem__(self, index: slice) -> Sessions: ...
    def __getitem__(self, index: int | slice) -> Session | Sessions:
        if isinstance(index, slice):
            return Sessions(self._sessions[index], self.problems)
        return self._sessions[index]

    def __len__(self) -> int:
        return len(self._sessions)

    def __repr__(self) -> str:
        turns = sum(len(session.turns) for session in self)
        return f"Sessions({len(self)} sessions, {turns} turns, {len(self.problems)} problems)"


def load_sessions(*paths: str | Path, limit: int | None = None) -> Sessions:
    """Read sessions from files and folders, in order.

    Args:
        paths: `.json`, `.jsonl`, `.jsonl.gz`, `.jsonl.zst`, or folders of these.
        limit: At most so many sessions.

    Raises:
        InputError: A path does not exist.
    """
    problems: list[Problem] = []
    sessions: list[Session] = []
    for session in _unique(read_files(find_files(paths), problems), problems):
        sessions.append(session)
        if limit is not None and len(sessions) >= limit:
            break
    return Sessions(sessions, problems)


def read_files(files: Iterable[Path], problems: list[Problem]) -> Iterator[Session]:
    """Yield the sessions of files; a record that is none is noted in `problems`."""
    for path in files:
        seen = 0
        for record in records(path, problems):
            seen += 1
            yield from _read(record, problems)
        if not seen:
            problems.append(Problem(str(path), 0, "empty", "the file holds no record."))


def _read(record: Record, problems: list[Problem]) -> Iterator[Session]:
    for data in _texts(record.data):
        try:
            for session in read_trajectory(data, f"{record.path}:{record.line}"):
                problems += _doubts(session, record)
                yield session
        except InputError as error:
            problems.append(Problem(record.path, record.line, "bad_session", str(error)))


def _texts(data: bytes) -> list[bytes]:
    """Return the trajectories of one JSON text: itself, or the items of a list."""
    if data.lstrip()[:1] != b"[":
        return [data]
    try:
        return [bytes(item) for item in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except UNREADABLE:
        return [data]


def _doubts(session: Session, record: Record) -> Iterator[Problem]:
    def doubt(code: str, message: str) -> Problem:
        return Problem(record.path, record.line, code, f"session {session.id!r}: {message}")

    if not len(session.catalog):
        yield doubt("no_tools", "it has no tool definitions.")
    for tool in session.catalog.dropped:
        yield doubt("duplicate_name", f"{tool.name!r} is defined twice; the first stays.")
    known = {name for pair in session.catalog.wire_names.items() for name in pair}
    called = dict.fromkeys(call.name for call in session.calls() if call.kind == "call")
    for name in (name for name in called if name not in known):
        yield doubt("unknown_tool", f"it calls {name!r}, which it does not define.")


def _unique(sessions: Iterable[Session], problems: list[Problem]) -> Iterator[Session]:
    seen: set[str] = set()
    for session in sessions:
        if session.id in seen:
            path, _, line = session.source.rpartition(":")
            problems.append(
                Problem(path, int(line or 0), "repeated_id", f"session {session.id!r} came before; skipped.")
            )
            continue
        seen.add(session.id)
        yield session
