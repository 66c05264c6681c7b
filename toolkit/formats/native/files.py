"""Files of ATIF trajectories: one a file, one a line, or a list; a run's continuations are joined to it."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import msgspec

from toolkit.errors import InputError
from toolkit.formats.files import Problem, records
from toolkit.formats.importing import UNREADABLE, Format, Source
from toolkit.formats.native.atif import read_trajectory
from toolkit.formats.native.mend import is_json
from toolkit.session import Session
from toolkit.tool import Catalog

_MARK = re.compile(rb'"schema_version"\s*:\s*"ATIF-v')


def _recognises(source: Source) -> bool:
    return _MARK.search(source.head) is not None or {"agent", "steps"} <= source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    for session in _trajectories(source, problems):
        yield _continued(session, source, problems)


def _trajectories(source: Source, problems: list[Problem]) -> Iterator[Session]:
    for record in records(source.path, problems):
        note = partial(source.note, problems, record.line)
        for data in _texts(record.data):
            try:
                yield from read_trajectory(data, f"{record.path}:{record.line}", note=note)
            except InputError as error:
                note("bad_session" if is_json(data) else "unreadable_session", str(error))


def _continued(session: Session, source: Source, problems: list[Problem]) -> Session:
    """Return a session with the files that go on with it, in order; what they repeat is history."""
    kept = session.extra.get("atif") or {}
    named = kept.get("continued_trajectory_ref")
    following = source.beside(named) if isinstance(named, str) and session.parent is None else None
    if following is None:
        return session
    source.note(problems, 0, "continued", f"session {session.id!r} goes on in {named!r}; both are one.")
    rest = next((one for one in _read(following, problems) if one.parent is None), None)
    if rest is None:
        return session
    left = {key: value for key, value in kept.items() if key != "continued_trajectory_ref"}
    extra = {key: value for key, value in session.extra.items() if key != "atif"} | ({"atif": left} if left else {})
    catalog = Catalog((*session.catalog, *(tool for tool in rest.catalog if tool.name not in session.catalog)))
    digest = hashlib.sha256(f"{session.digest}{rest.digest}".encode()).hexdigest()
    return replace(session, turns=session.turns + rest.turns, catalog=catalog, extra=extra, digest=digest)


def _texts(data: bytes) -> list[bytes]:
    """Return the trajectories of one JSON text: itself, or the items of a list."""
    if data.lstrip()[:1] != b"[":
        return [data]
    try:
        return [bytes(item) for item in msgspec.json.decode(data, type=list[msgspec.Raw])]
    except UNREADABLE:
        return [data]


ATIF = Format("atif", _recognises, _read, "Native sessions, and trajectories of Harbor and other agents.")
