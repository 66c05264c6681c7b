"""`toolkit rank-fit`: learn a ranker for `hybrid(ranker='FILE.json')` from queries or from own sessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import check_file, print_json, print_table
from toolkit.commands.pairs import (
    CatalogFiles,
    LeftOut,
    QueryFiles,
    SessionFiles,
    check_left_out,
    digests,
    read_pairs,
)
from toolkit.errors import InputError

if TYPE_CHECKING:
    from toolkit.search.learned.ranker_fit import Example

NAME = "rank-fit"
_EARLIER = 0.8


def command(
    out: Annotated[Path, typer.Option(help="Where the ranker is written, JSON.")],
    catalog: CatalogFiles = None,
    queries: QueryFiles = None,
    sessions: SessionFiles = None,
    leave_out: LeftOut = None,
    penalty: Annotated[float, typer.Option(min=0, help="How strongly weights stay at the untrained order.")] = 0.3,
    seed: Annotated[int, typer.Option(help="Seed of the queries that are drawn.")] = 0,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Fit a small ranker, and print how well it does on data that it never saw.

    With several sets, each is tested by a ranker of the others; with one, the last fifth by one of
    the rest. Sessions count as one set: earlier ones fit, later ones test.

    Example: toolkit rank-fit --catalog tools.jsonl --queries queries.jsonl --out ranker.json
    """
    from toolkit.search.learned.ranker import Ranker, save_ranker
    from toolkit.search.learned.ranker_fit import examples, fit
    from toolkit.search.retrievers.hybrid import Hybrid

    check_file(out, b"selector-toolkit ranker", force)
    given = read_pairs(catalog, queries, sessions)
    found = [one for pairs in given for one in examples(Hybrid(pairs.tools), pairs.queries, pairs.name)]
    kept = [one for one in found if one.group not in (leave_out or ())]
    rows = _tested(found, kept, leave_out or (), seed, penalty)
    card = {
        "data": digests(catalog, queries, sessions),
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
    from toolkit.search.learned.ranker_fit import fit, leave_one_out, report

    check_left_out(left_out, (one.group for one in found))
    if not kept:
        raise InputError("nothing to fit: no query is left.", hint="Give --catalog and --queries, or --sessions.")
    weights = fit(kept, seed, penalty) if left_out else None
    rows = [
        report(name, [one for one in found if one.group == name], weights) for name in left_out if weights is not None
    ]
    rows += leave_one_out(kept, seed, penalty) if len({one.group for one in kept}) > 1 else ()
    return rows or [_later(kept, seed, penalty)]


def _later(found: Sequence[Example], seed: int, penalty: float) -> dict[str, Any]:
    from toolkit.search.learned.ranker_fit import fit, report

    cut = int(_EARLIER * len(found))
    if cut < 1 or cut == len(found):
        raise InputError(f"{len(found)} queries are too few to fit and to test.", hint="Give two or more.")
    return report(f"{found[0].group} (last {len(found) - cut})", found[cut:], fit(found[:cut], seed, penalty))
