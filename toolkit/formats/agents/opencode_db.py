"""OpenCode's own database, `opencode.db`: sessions with their messages and parts, a table each."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from typing import Any

from toolkit.formats.agents.opencode import Export
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source, parsed
from toolkit.formats.pieces import table
from toolkit.session import Session

NAME = "opencode-db"
_MARK = b"SQLite format 3\0"
_DAMAGED = (sqlite3.Error, UnicodeDecodeError)
"""What a damaged database raises: the driver cannot even say what is wrong where its words quote broken bytes."""
_WANTED = {"message": {"id", "session_id", "data"}, "part": {"message_id", "session_id", "data"}}


def _recognises(source: Source) -> bool:
    if not source.head.startswith(_MARK):
        return False
    try:
        with closing(_opened(source)) as database:
            return all(wanted <= _columns(database, name) for name, wanted in _WANTED.items())
    except _DAMAGED:
        return False


def _opened(source: Source) -> sqlite3.Connection:
    """Return the database, opened so that nothing in it or beside it is changed."""
    address = f"{source.path.absolute().as_uri()}?mode=ro"
    try:
        database = sqlite3.connect(address, uri=True)
        database.execute("select 1 from sqlite_master").fetchone()
    except sqlite3.OperationalError:
        database = sqlite3.connect(f"{address}&immutable=1", uri=True)
    database.text_factory = lambda data: data.decode("utf-8", "replace")
    return database


def _columns(database: sqlite3.Connection, name: str) -> set[str]:
    return {row[1] for row in database.execute(f"pragma table_info({name})")}


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    """Yield session by session, so that the largest one bounds what is held."""
    try:
        with closing(_opened(source)) as database:
            ids = database.execute("select distinct session_id from message order by session_id").fetchall()
            told = _infos(database)
            for id in dict.fromkeys((*told, *(row[0] for row in ids))):
                document = {"info": {"id": id, **told.get(id, {})}, "messages": _messages(database, id)}
                session = Export(source, problems, 0).session(document)
                if session is not None:
                    yield session
    except _DAMAGED as error:
        source.note(problems, 0, "unreadable_file", f"the database cannot be read further: {error}.")


def _infos(database: sqlite3.Connection) -> dict[str, dict[str, Any]]:
    """Return what is told of each session, in the order of their making."""
    columns = _columns(database, "session")
    if "id" not in columns:
        return {}
    names = {"parentID": "parent_id", "version": "version"}
    picked = [column if column in columns else "null" for column in names.values()]
    order = "time_created, id" if "time_created" in columns else "id"
    rows = database.execute(f"select id, {', '.join(picked)} from session order by {order}")
    return {row[0]: dict(zip(names, row[1:], strict=True)) for row in rows}


def _messages(database: sqlite3.Connection, id: Any) -> list[dict[str, Any]]:
    """Return the messages of a session with their parts; ids rise with time, so they are the order."""
    parts: dict[Any, list[Any]] = {}
    for message, data in database.execute("select message_id, data from part where session_id = ? order by id", (id,)):
        parts.setdefault(message, []).append(parsed(data))
    rows = database.execute("select id, data from message where session_id = ? order by id", (id,))
    return [{"info": table(parsed(data)), "parts": parts.get(message, [])} for message, data in rows]


OPENCODE_DB = Format(NAME, _recognises, _read, "~/.local/share/opencode/opencode.db.")
