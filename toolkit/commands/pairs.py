"""What the commands that learn are given: queries with their right tools, out of files or recorded sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from toolkit.commands.output import no_sessions, tell_problems
from toolkit.errors import InputError

if TYPE_CHECKING:
    from toolkit.session import Session
    from toolkit.tool import Tool


class Pairs(NamedTuple):
    """Queries over one catalog, each with the ids of its right tools."""

    name: str
    tools: tuple[Tool, ...]
    queries: list[tuple[str, frozenset[str]]]


def from_queries(catalogs: Sequence[Path], queries: Sequence[Path]) -> Iterator[Pairs]:
    """Yield the pairs of each query file, with the one catalog or its own."""
    from toolkit.experiment.rank_eval import read_queries
    from toolkit.formats.catalogs import load_catalog

    if len(catalogs) not in (1, len(queries)):
        raise InputError(
            f"{len(catalogs)} catalogs for {len(queries)} files of queries.", hint="Give one catalog, or one for each."
        )
    for i, path in enumerate(queries):
        tools = load_catalog(catalogs[i % len(catalogs)], homonyms=True)
        tell_problems(tools.problems)
        found = [(query.text, query.gold) for query in read_queries(path)]
        yield Pairs(f"{path.absolute().parent.name}/{path.stem}", tools.tools, found)


def from_sessions(paths: Sequence[Path]) -> Iterator[Pairs]:
    """Yield the pairs of recorded sessions under one name, those of sessions with the same tools together."""
    from toolkit.formats.sessions import load_sessions

    if not paths:
        return
    recorded = load_sessions(*paths)
    if not recorded:
        raise no_sessions(recorded.problems)
    found: dict[tuple[Tool, ...], Pairs] = {}
    for session in recorded:
        tools = tuple(tool for tool in session.catalog if tool.source != "core")
        found.setdefault(tools, Pairs("sessions", tools, [])).queries.extend(asked(session))
    yield from found.values()


def asked(session: Session) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield, for each pass with calls, what the model said before them (else the turn's input) and what it called."""
    from toolkit.replay.queries import Seen, own_words
    from toolkit.session import text_of

    ids = {tool.name: tool.id for tool in session.catalog if tool.source != "core"}
    for turn in session.turns:
        for one in turn.passes:
            called = frozenset(ids[call.name] for call in one.calls if call.kind == "call" and call.name in ids)
            query = next(iter(own_words(Seen(text_of(one.content), turn.words))), "")
            if called and query:
                yield query, called


def digests(paths: Iterable[Path]) -> list[dict[str, str]]:
    """Return the name and digest of every file, those of folders among them."""
    from toolkit.formats.files import find_files

    files = [file for path in paths for file in ([path] if path.is_file() else find_files([path]))]
    return [{"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()} for file in files]
