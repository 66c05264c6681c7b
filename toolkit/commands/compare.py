"""`toolkit compare`: recorded sessions in, a leaderboard of selectors out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from toolkit.commands.output import check_folder, print_json, tell_problems
from toolkit.errors import need

NAME = "compare"


def command(
    sessions: Annotated[
        list[Path], typer.Argument(help="Session files (.json, .jsonl, .gz, .zst) or folders of them.")
    ],
    selector: Annotated[
        Optional[list[str]], typer.Option(help="A selector, e.g. 'semantic(k=8)' or mypkg.mod:fn. Repeat for more.")
    ] = None,
    catalog: Annotated[
        Optional[list[Path]], typer.Option(help="More tools around the recorded ones: a catalog file. Repeatable.")
    ] = None,
    defer: Annotated[
        Optional[list[str]], typer.Option(help="Flag tools that match a pattern as deferred, e.g. 'mcp.github.*'.")
    ] = None,
    retriever: Annotated[
        Optional[str], typer.Option(help="What tools.search ranks with: lexical, dense, hybrid, pkg.mod:Name.")
    ] = None,
    profile: Annotated[str, typer.Option(help="The host's rules.")] = "reference",
    query_model: Annotated[
        Optional[list[str]],
        typer.Option(
            help="Where the counterfactual queries come from: own_words (the default), turn_input, short_phrase, "
            "recorded, optimistic, pessimistic, \"llm('http://localhost:8000/v1', 'qwen3')\". Repeat for the spread "
            "over them; the first is the main one."
        ),
    ] = None,
    spread: Annotated[bool, typer.Option("--spread/--no-spread", help="Show the spread over query models.")] = True,
    searching: Annotated[
        str, typer.Option(help="How the model searches: steady, models, 'models(reformulate=0.6, stale=0.1, seed=1)'.")
    ] = "steady",
    model: Annotated[
        Optional[str],
        typer.Option(help="The model whose prices count, e.g. claude-sonnet-4-5; else each session's own."),
    ] = None,
    prices: Annotated[bool, typer.Option("--prices/--no-prices", help="Work out costs, or tokens only.")] = True,
    out: Annotated[Path, typer.Option(help="The run folder.")] = Path("reports/compare"),
    resume: Annotated[
        str, typer.Option(help="always (go on from finished parts), never, only-missing, only-cache.")
    ] = "always",
    workers: Annotated[int, typer.Option(min=1, help="Processes to use.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap intervals.")] = 0,
    fit: Annotated[
        Optional[float], typer.Option(help="Fit selectors that learn on this earlier share; compare the later rest.")
    ] = None,
    fit_by: Annotated[str, typer.Option(help="What is earlier goes by time, order or group (drawn by seed).")] = "time",
    limit: Annotated[Optional[int], typer.Option(min=1, help="Read at most so many sessions.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Replay recorded sessions under several selectors and say what each costs and misses.

    The bounds `all` (declare everything), `none` (declare nothing), `oracle` (declare what the turn will call) and
    `oracle_cost` (what is cheapest for the whole session) stand in every table. The run folder gets run.toml, the
    frames, summary.csv, report.html and problems.jsonl.

    Example: toolkit compare datasets/mcp-servers/sessions.atif.jsonl.gz --selector lazy --selector 'semantic(k=8)'
    """
    need("pandas")
    check_folder(out)
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.comparison.study import compare

    found, around = recorded(sessions, catalog, limit)
    result = compare(
        found,
        selector or None,
        catalog=around,
        defer=defer or (),
        retriever=retriever,
        profile=profile,
        query_model=query_model or "own_words",
        spread=spread,
        searching=searching,
        model=model,
        priced=prices,
        out=out,
        resume=resume,
        workers=workers,
        seed=seed,
        fit=fit,
        fit_by=fit_by,
    )
    result.save(out)
    tell_problems(result.problems, f", all in {out / 'problems.jsonl'}")
    if json:
        print_json(result.summary.to_dict("records"))
        return
    typer.echo(repr(result))
    typer.echo(f"\nOpen {out / 'report.html'} for the report, {out / 'summary.csv'} for the figures.")
