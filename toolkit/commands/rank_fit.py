"""`toolkit rank-fit`: learn a ranker for `hybrid(ranker='FILE.json')` from queries or from own sessions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.output import need, no_sessions, print_json, print_table, tell_problems
from toolkit.errors import InputError

if TYPE_CHECKING:
    from toolkit.search.fitting import Example
    from toolkit.session import Session

NAME = "rank-fit"
_EARLIER = 0.8


def command(
    out: Annotated[Path, typer.Option(help="Where the ranker is written, JSON.")],
    catalog: Annotated[
        Optional[list[Path]], typer.Option(help="A catalog file: one for all queries, or one for each.")
    ] = None,
    queries: Annotated[
        Optional[list[Path]], typer.Option(help="JSONL with query and gold (ids of the catalog) a line. Repeatable.")
    ] = None,
    sessions: Annotated[
        Optional[list[Path]], typer.Option(help="Session files: what the model said, and what it then called.")
    ] = None,
    leave_out: Annotated[
        Optional[list[str]], typer.Option(help="A set by the name that is printed: tested, never fitted.")
    ] = None,
    penalty: Annotated[float, typer.Option(min=0, help="How strongly weights stay at the untrained order.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the queries that are drawn.")] = 0,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Fit a small ranker, and print how well it does on data that it never saw.

    With several sets, each is tested by a ranker of the others; with one, the last fifth by one of
    the rest. Sessions count as one set: earlier ones fit, later ones test.

    Example: toolkit rank-fit --catalog tools.jsonl --queries queries.jsonl --out ranker.json
    """
    need("numpy", "embed")
    from toolkit.search.fitting import fit
    from toolkit.search.ranker import Ranker, save_ranker

    found = [*_from_queries(catalog or (), queries or ()), *_from_sessions(sessions or ())]
    kept = [one for one in found if one.group not in (leave_out or ())]
    rows = _tested(found, kept, leave_out or (), seed, penalty)
    card = {
        "data": _digests([*(catalog or ()), *(queries or ()), *(sessions or ())]),
        "sets": list(dict.fromkeys(one.group for one in kept)),
        "left_out": list(leave_out or ()),
        "queries": len(kept),
        "seed": seed,
        "penalty": penalty,
        "quality": rows,
    }
    save_ranker(Ranker(fit(kept, seed, penalty), card), out)
    if json:
        print_json(rows)
        return
    print_table(list(rows[0]), [list(row.values()) for row in rows])
    if sum(row["gain"] for row in rows) <= 0:
        typer.echo("\nThe ranker did not help on data that it never saw: the untrained hybrid is the better choice.")
    typer.echo(f"\nWritten: {out}. Use it as --retriever \"hybrid(ranker='{out}')\".")


def _tested(
    found: Sequence[Example], kept: Sequence[Example], left_out: Sequence[str], seed: int, penalty: float
) -> list[dict[str, Any]]:
    from toolkit.search.fitting import fit, leave_one_out, report

    names = list(dict.fromkeys(one.group for one in found))
    for name in left_out:
        if name not in names:
            raise InputError(f"no set is named {name!r}.", hint=f"Known: {', '.join(names)}.")
    if not kept:
        raise InputError("nothing to fit: no query is left.", hint="Give --catalog and --queries, or --sessions.")
    weights = fit(kept, seed, penalty) if left_out else None
    rows = [
        report(name, [one for one in found if one.group == name], weights) for name in left_out if weights is not None
    ]
    rows += leave_one_out(kept, seed, penalty) if len({one.group for one in kept}) > 1 else ()
    return rows or [_later(kept, seed, penalty)]


def _later(found: Sequence[Example], seed: int, penalty: float) -> dict[str, Any]:
    from toolkit.search.fitting import fit, report

    cut = int(_EARLIER * len(found))
    if cut < 1 or cut == len(found):
        raise InputError(f"{len(found)} queries are too few to fit and to test.", hint="Give two or more.")
    return report(f"{found[0].group} (last {len(found) - cut})", found[cut:], fit(found[:cut], seed, penalty))


def _from_queries(catalogs: Sequence[Path], queries: Sequence[Path]) -> Iterator[Example]:
    from toolkit.experiment.rank_eval import read_queries
    from toolkit.formats.catalogs import load_catalog
    from toolkit.search.fitting import examples
    from toolkit.search.hybrid import Hybrid

    if len(catalogs) not in (1, len(queries)):
        raise InputError(
            f"{len(catalogs)} catalogs for {len(queries)} files of queries.", hint="Give one catalog, or one for each."
        )
    for i, path in enumerate(queries):
        tools = load_catalog(catalogs[i % len(catalogs)], homonyms=True)
        tell_problems(tools.problems)
        pairs = [(query.text, query.gold) for query in read_queries(path)]
        yield from examples(Hybrid(tools.tools), pairs, f"{path.absolute().parent.name}/{path.stem}")


def _from_sessions(paths: Sequence[Path]) -> Iterator[Example]:
    from toolkit.formats.sessions import load_sessions
    from toolkit.search.fitting import examples
    from toolkit.search.hybrid import Hybrid

    if not paths:
        return
    recorded = load_sessions(*paths)
    if not recorded:
        raise no_sessions(recorded.problems)
    built: dict[tuple[Any, ...], Hybrid] = {}
    for session in recorded:
        tools = tuple(tool for tool in session.catalog if tool.source != "core")
        hybrid = built.setdefault(tools, Hybrid(tools)) if tools not in built else built[tools]
        yield from examples(hybrid, asked(session), "sessions")


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


def _digests(paths: Iterable[Path]) -> list[dict[str, str]]:
    """Return the name and digest of every file, those of folders among them."""
    from toolkit.formats.files import find_files

    files = [file for path in paths for file in ([path] if path.is_file() else find_files([path]))]
    return [{"file": file.name, "sha256": hashlib.sha256(file.read_bytes()).hexdigest()} for file in files]
