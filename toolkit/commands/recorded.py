"""The sessions that a command is given, with definitions from its catalogs where they were recorded without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolkit.errors import InputError
from toolkit.formats.catalogs.load import load_catalog
from toolkit.formats.joining import join
from toolkit.formats.sessions import Sessions, load_sessions
from toolkit.tool import Catalog


def recorded(
    paths: Sequence[Path], catalogs: Sequence[Path] | None = None, limit: int | None = None
) -> tuple[Sessions, Catalog | None]:
    """Return the sessions of files of any format, and what of the catalogs stands around them; None without any.

    Raises:
        InputError: No session could be read, or none has a turn.
    """
    found = load_sessions(*paths, limit=limit)
    if not any(session.turns for session in found):
        first = f" The first problem: {found.problems[0]}" if found.problems else ""
        what = "no session has a turn." if found else "no session could be read."
        raise InputError(f"{what}{first}", hint="See toolkit inspect PATH for what the files hold.")
    if not catalogs:
        return found, None
    catalog = load_catalog(*catalogs)
    sessions, around = join(found, catalog)
    return Sessions(sessions, (*found.problems, *catalog.problems)), around
