"""`toolkit fit`: what earlier sessions say, counted once into the file that selectors which learn read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import check_file, print_json, print_table, tell_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from toolkit.formats.files import Problem
    from toolkit.selectors.usage import Usage
    from toolkit.session import Session

NAME = "fit"


def command(
    sessions: Annotated[
        list[Path], typer.Argument(help="Session files (.json, .jsonl, .gz, .zst) or folders of them.")
    ],
    out: Annotated[Path, typer.Option(help="The usage file to write, JSON.")],
    share: Annotated[
        Optional[float], typer.Option(help="Count the earlier share of the sessions only, e.g. 0.5; all if not given.")
    ] = None,
    by: Annotated[str, typer.Option(help="What is earlier goes by time, order or group (drawn by seed).")] = "time",
    group: Annotated[
        Optional[str],
        typer.Option(
            help="The field whose sessions stand on one side, e.g. extra.dataset.domain; the task if not given."
        ),
    ] = None,
    catalog: Annotated[
        Optional[list[Path]],
        typer.Option(help="More tools that every session was told of: a catalog file. Repeatable."),
    ] = None,
    retriever: Annotated[
        Optional[str], typer.Option(help="Which search the replays try: lexical, hybrid …; the best one by default.")
    ] = None,
    query_model: Annotated[str, typer.Option(help="How the replays word their searches.")] = "own_words",
    seed: Annotated[int, typer.Option(min=0, help="Seed of the draw of groups.")] = 0,
    limit: Annotated[Optional[int], typer.Option(min=1, help="Read at most so many sessions.")] = None,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Count what recorded sessions called, and when, for selectors that learn: frequent, next_tool, expected_cost.

    The file holds a digest of every session that it counts: whatever is compared on one of them says so. With
    --share the sessions that are left for a test are those that `toolkit compare --fit` with that share compares.

    Example: toolkit fit datasets/mcp-servers/sessions.atif.jsonl.gz --share 0.5 --out usage.json
    """
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.fitting.need import fitted_usage
    from toolkit.replaying.system import Setting

    check_file(out, b"selector-toolkit usage", force)
    given, around = recorded(sessions, catalog, limit)
    chosen, problems = _earlier(given, share, by, group, seed)
    tell_problems(problems)
    told = [replace(one, catalog=one.catalog.around(around)) if around else one for one in chosen]
    usage = fitted_usage(told, Setting(retriever, query_model=query_model).check(), progress=True)
    usage.save(out)
    _print(usage, len(given), out, json)


def _earlier(
    recorded: Any, share: float | None, by: str, group: str | None, seed: int
) -> tuple[Sequence[Session], Sequence[Problem]]:
    from toolkit.experiment.fitting.split import split

    if share is None:
        return recorded, recorded.problems
    earlier, later = split(recorded, share, by, group, seed)
    return earlier, later.problems


def _print(usage: Usage, read: int, out: Path, json: bool) -> None:
    row = {
        "file": str(out),
        "sessions": usage.sessions,
        "left_for_a_test": read - usage.sessions,
        "turns": usage.turns,
        "passes": usage.passes,
        "calls": usage.calls,
        "tools_used": len(usage.in_turns),
        "digest": usage.digest[:12],
    }
    if json:
        print_json([row])
        return
    print_table(list(row), [list(row.values())])
    typer.echo(f"\nUse it as --selector \"frequent(k=8, usage='{out}')\".")
