"""Finished units on disk, each written whole or not at all, so that an interrupted run goes on where it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from toolkit.experiment.comparison.run import Done, TurnRow
from toolkit.formats.files import Problem
from toolkit.ledger import PassRow
from toolkit.store import write_whole


class _Part(msgspec.Struct):
    key: str
    passes: list[list[Any]]
    turns: list[list[Any]]
    problems: list[list[Any]]


class Parts:
    """A folder of finished units, one file each.

    Args:
        folder: Where they lie; None keeps nothing.
        resume: `always` and `only-missing` use what is there and run the rest, `only-cache` runs
            nothing, `never` starts anew.
    """

    def __init__(self, folder: Path | None, resume: str = "always") -> None:
        self.folder, self.resume = folder, resume
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def get(self, key: str) -> Done | None:
        """Return a finished unit, or None; a file that cannot be read counts as missing."""
        if self.folder is None or self.resume == "never":
            return None
        path = self.folder / f"{key}.msgpack"
        try:
            part = msgspec.msgpack.decode(path.read_bytes(), type=_Part)
        except (FileNotFoundError, msgspec.DecodeError):
            return None
        return Done(
            part.key,
            [PassRow(*row) for row in part.passes],
            [TurnRow(*row) for row in part.turns],
            [Problem(*row) for row in part.problems],
        )

    def put(self, done: Done) -> None:
        """Keep a finished unit."""
        if self.folder is None:
            return
        problems = [[p.path, p.line, p.code, p.message] for p in done.problems]
        part = _Part(done.key, [list(r) for r in done.passes], [list(r) for r in done.turns], problems)
        write_whole(self.folder / f"{done.key}.msgpack", msgspec.msgpack.encode(part))
