"""`toolkit compare`: recorded sessions in, a leaderboard of selectors out."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from toolkit.commands.options import Force, Json, Limit, Recorded, taking
from toolkit.commands.output import check_folder, print_json, tell_problems
from toolkit.errors import need
from toolkit.experiment.comparison.options import OPTIONS

NAME = "compare"


@taking(
    *("selectors", "catalog", "defer", "retriever", "profile", "searching", "model", "fallback", "prefix", "priced"),
    *("out", "resume", "workers", "seed", "fail_fast", "fit", "fit_by"),
)
def command(
    sessions: Recorded,
    *,
    selectors: list[str] | None,
    catalog: list[Path] | None,
    out: Path | None,
    query_model: Annotated[
        Optional[list[str]],
        typer.Option(help=f"{OPTIONS['query_model'].help} Repeat for the spread over them; the first is the main one."),
    ] = None,
    spread: Annotated[bool, typer.Option("--spread/--no-spread", help="Show the spread over query models.")] = True,
    force: Force = False,
    limit: Limit = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Replay recorded sessions under several selectors and say what each costs and misses.

    The bounds `all` (declare everything), `none` (declare nothing), `oracle` (declare what the turn will call) and
    `oracle_cost` (what is cheapest for the whole session) stand in every table. The run folder gets run.toml, the
    frames, summary.csv, report.html and problems.jsonl. The exit status is 1 when a selector failed in every turn.

    Example: toolkit compare datasets/mcp-servers/sessions.atif.jsonl.gz --selector lazy --selector 'semantic(k=8)'
    """
    need("pandas")
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.comparison.run import SelectorFailedError
    from toolkit.experiment.comparison.study import compare
    from toolkit.report.owned import check_own, fresh, owned

    folder = out or fresh(NAME)
    check_folder(folder)
    check_own(folder, NAME, force)
    found, around = recorded(sessions, catalog, limit)
    options |= {
        "catalog": around,
        "defer": options["defer"] or (),
        "out": folder,
        "query_model": query_model or "own_words",
    }
    try:
        with owned(folder, NAME, latest=out is None):
            result = compare(found, selectors or None, spread=spread, **options)
            result.save(folder)
    except SelectorFailedError as error:
        sys.stderr.write(f"toolkit: {error}\n")
        raise typer.Exit(1) from None
    tell_problems(result.problems, f", all in {folder / 'problems.jsonl'}")
    if json:
        print_json(result.summary.to_dict("records"))
    else:
        typer.echo(repr(result))
        typer.echo(f"\nOpen {folder / 'report.html'} for the report, {folder / 'summary.csv'} for the figures.")
    board = result.summary
    if (board["failed_turns"] == board["turns"])[board["turns"] > 0].any():
        raise typer.Exit(1)
