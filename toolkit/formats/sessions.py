"""Reading session files: what is good is kept, what is bad is skipped, counted and shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import overload

from toolkit.errors import InputError, counted
from toolkit.formats.files import Problem, find_files
from toolkit.formats.registry import read_files
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
        parts = (len(self), "session"), (turns, "turn"), (len(self.problems), "problem")
        return f"Sessions({', '.join(counted(*part) for part in parts)})"


def load_sessions(*paths: str | Path, limit: int | None = None) -> Sessions:
    """Read sessions from files and folders, in order.

    Args:
        paths: `.json`, `.jsonl`, `.jsonl.gz`, `.jsonl.zst`, or folders of these.
        limit: At most so many sessions.

    Raises:
        InputError: A path does not exist, or a folder holds no session that can be read.
    """
    problems: list[Problem] = []
    sessions: list[Session] = []
    for session in _unique(read_files(find_files(paths), problems), problems):
        sessions.append(session)
        if limit is not None and len(sessions) >= limit:
            break
    if not sessions and any(Path(path).is_dir() for path in paths):
        first = f" The first problem: {problems[0]}" if problems else ""
        raise InputError(f"no session could be read.{first}", hint="See toolkit inspect PATH for what the files hold.")
    return Sessions(sessions, problems)


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
