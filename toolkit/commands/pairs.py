"""What the commands that learn are given: queries with their right tools, out of files or recorded sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, Optional

import typer

from toolkit.commands.output import tell_problems
from toolkit.errors import InputError

if TYPE_CHECKING:
    from toolkit.session import Session
    from toolkit.tool import Tool


CatalogFiles = Annotated[
    Optional[list[Path]], typer.Option(help="A catalog file: one for all queries, or one for each.")
]
QueryFiles = Annotated[
    Optional[list[Path]], typer.Option(help="JSONL with query and gold (ids of the catalog) a line. Repeatable.")
]
SessionFiles = Annotated[
    Optional[list[Path]], typer.Option(help="Session files: what the model said, and what it then called.")
]
LeftOut = Annotated[
    Optional[list[str]], typer.Option(help="A set by its name (folder/file): tested, never fitted. Repeatable.")
]
Files = Optional[Sequence[Path]]


class Pairs(NamedTuple):
    """Queries over one catalog, each with the ids of its right tools."""

    name: str
    tools: tuple[Tool, ...]
    queries: list[tuple[str, frozenset[str]]]


def read_pairs(catalogs: Files, queries: Files, sessions: Files) -> Iterator[Pairs]:
    """Yield the pairs of query files, then those of sessions."""
    yield from from_queries(catalogs or (), queries or ())
    yield from from_sessions(sessions or ())


def check_left_out(left_out: Iterable[str], sets: Iterable[str]) -> None:
    """Raise InputError where what is left out is none of the sets."""
    known = list(dict.fromkeys(sets))
    for name in left_out:
        if name not in known:
            raise InputError(f"no set is named {name!r}.", hint=f"Known: {', '.join(known) or 'none'}.")


def from_queries(catalogs: Sequence[Path], queries: Sequence[Path]) -> Iterator[Pairs]:
    """Yield the pairs of each query file, with the one catalog or its own."""
    from toolkit.experiment.ranking.rank_eval import read_queries
    from toolkit.formats.catalogs.load import load_catalog

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
    from toolkit.commands.recorded import recorded

    if not paths:
        return
    found: dict[tuple[Tool, ...], Pairs] = {}
    for session in recorded(paths)[0]:
        tools = tuple(tool for tool in session.catalog if tool.source != "core")
        found.setdefault(tools, Pairs("sessions", tools, [])).queries.extend(asked(session))
    yield from found.values()


def asked(session: Session) -> Iterator[tuple[str, frozenset[str]]]:
    """Yield, for each pass with calls, what the model said before them (else the turn's input) and what it called."""
    from toolkit.replaying.query_models import Seen, own_words
    from toolkit.session import text_of

    ids = {tool.name: tool.id for tool in session.catalog if tool.source != "core"}
    for turn in session.turns:
        for one in turn.passes:
            called = frozenset(ids[call.name] for call in one.calls if call.kind == "call" and call.name in ids)
            query = next(iter(own_words(Seen(text_of(one.content), turn.words))), "")
            if called and query:
                yield query, called


def digests(*given: Files) -> list[dict[str, str]]:
    """Return the name and digest of every file, those of folders among them."""
    from toolkit.formats.files import find_files

    paths = [path for group in given for path in group or ()]
    files = [file for path in paths for file in ([path] if path.is_file() else find_files([path]))]
    return [{"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()} for file in files]
