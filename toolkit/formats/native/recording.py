"""A live host written down while it runs: a journal that only grows, and a plain session file at the end.

The journal is a format of its own (`toolkit.formats.native.journal`), which every command reads, so the file can be
used at every moment, and a killed process leaves all but the note that it was writing.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolkit.errors import ToolkitWarning
from toolkit.formats.native.journal import header, line
from toolkit.formats.native.notes import Notes, row_of
from toolkit.formats.native.write import check_name, packed, write_sessions
from toolkit.plain import plain
from toolkit.store import write_whole
from toolkit.tool import Tool


class Recording:
    """What a host notes goes into a file, a line a note; what a note costs does not grow with the session.

    Where the file cannot be written the host goes on, one warning says so, and the next note that can be written
    writes all that is missing. `close` puts a plain session file in the place of the journal.

    Args:
        path: A `.json`, `.jsonl`, `.jsonl.gz` or `.jsonl.zst` file; it is replaced.
        tools: What the host lists at its start.
        facts: The host's own settings: selector, profile, scope, policy…
        session_id: The session's id; the file's name by default.

    Raises:
        InputError: The name has another ending.
    """

    def __init__(
        self, path: str | Path, tools: Sequence[Tool], facts: Mapping[str, Any], session_id: str | None = None
    ) -> None:
        self.path = check_name(Path(path))
        self.notes = Notes(tools, facts, session_id or self.path.name.partition(".")[0])
        self.lines = [self._packed(header(self.notes.id, tools, facts))]
        self.whole = self.lost = self.closed = False
        self._write()

    def __call__(self, op: str, **body: Any) -> None:
        """Take one note of the host."""
        told = _told(op, body)
        self.notes.take(op, told)
        self.lines.append(self._packed(line(op, told)))
        self._write()

    def close(self) -> None:
        """Put a plain session file in the place of the journal, once; where that fails the journal stays."""
        if self.closed or not self.whole:
            return
        self.closed = True
        try:
            write_sessions(self.notes.sessions(), self.path)
        except OSError as error:
            self._tell(error)

    def _packed(self, text: bytes) -> bytes:
        return packed(text, self.path.name)

    def _write(self) -> None:
        """Append the newest line, or write all of them where some are missing."""
        try:
            if self.whole and not self.closed:
                self._append(self.lines[-1])
            else:
                write_whole(self.path, b"".join(self.lines))
            self.whole, self.lost, self.closed = True, False, False
        except OSError as error:
            self.whole = False
            self._again(error)

    def _again(self, error: OSError) -> None:
        """Write all lines where the file has only gone; tell of everything else."""
        try:
            write_whole(self.path, b"".join(self.lines))
            self.whole, self.lost, self.closed = True, False, False
        except OSError:
            self._tell(error)

    def _append(self, data: bytes) -> None:
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            written = os.write(file, data)
        finally:
            os.close(file)
        if written < len(data):
            raise OSError(28, os.strerror(28), str(self.path))

    def _tell(self, error: OSError) -> None:
        """Warn that nothing is written now, once until it is again."""
        lost, self.lost = self.lost, True
        if not lost:
            text = f"{self.path} cannot be written: {error.strerror or error}. The host goes on; it is tried again."
            warnings.warn(text, ToolkitWarning, stacklevel=2)


def _told(op: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a host notes as JSON can hold it: offers as names, verdicts as code and what they found."""
    told = dict(body)
    if "offer" in told:
        offer = told.pop("offer")
        told |= {"declared": list(offer.declared.names), "searchable": list(offer.searchable.names)}
    if "verdict" in told:
        verdict = told.pop("verdict")
        told |= {"code": verdict.code, "found": list(verdict.names)}
    if op == "event" and told.get("type") == "tools_changed":
        told["tools"] = [row_of(tool) for tool in told["tools"]]
    return {key: plain(value) for key, value in told.items()}
