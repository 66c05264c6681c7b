"""The journal of a live host: a header, then one note a line; a cut last line is the note that was being written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from toolkit.errors import IllegalStepError, InputError
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.files import ATIF
from toolkit.formats.native.notes import Notes, row_of, tool_of
from toolkit.formats.native.write import rows_of
from toolkit.session import Session
from toolkit.tool import Tool, compact_json

MARK, VERSION = "toolkit_journal", 1


def header(id: str, tools: Sequence[Tool], facts: Mapping[str, Any]) -> bytes:
    """Return the first line: whose journal it is, what the host listed at its start, and its settings."""
    return _encoded({MARK: VERSION, "id": id, "facts": dict(facts), "tools": [row_of(tool) for tool in tools]})


def line(op: str, body: Mapping[str, Any]) -> bytes:
    """Return the line of a note."""
    return _encoded({"op": op, **({"body": body} if body else {})})


def _encoded(value: Any) -> bytes:
    return compact_json(value).encode("utf-8", "replace") + b"\n"


def _recognises(source: Source) -> bool:
    return MARK in source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    lines = source.objects(problems)
    first: dict[str, Any] = next(lines, (0, {}))[1]
    if MARK not in first:  # its host was closed since it was recognised
        yield from ATIF.read(Source(source.path, source.claimed), problems)
        return
    if first[MARK] != VERSION:
        source.note(problems, 1, "bad_session", f"a journal of version {first[MARK]!r}; {VERSION} is read here.")
        return
    notes = Notes([tool_of(row) for row in first["tools"]], first["facts"], str(first["id"]))
    for number, note in lines:
        try:
            notes.take(str(note.get("op")), note.get("body") or {})
        except (InputError, IllegalStepError, TypeError, LookupError) as error:
            source.note(problems, number, "bad_note", f"the note was passed over: {error}")
    tell = partial(source.note, problems, 1)
    for data in rows_of(notes.sessions()):
        yield from read_trajectory(data, f"{source.path}:1", note=tell)


JOURNAL = Format("journal", _recognises, _read, "A live host's recording, while it runs or after it was killed.")
