"""`toolkit report`: the HTML report again from a run folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolkit.commands.output import print_json
from toolkit.errors import need

NAME = "report"


def command(
    run: Annotated[Path, typer.Argument(help="A run folder that toolkit compare wrote.")],
    json: Annotated[bool, typer.Option("--json", help="Print the leaderboard as JSON.")] = False,
) -> None:
    """Write report.html again from a run folder, and print the leaderboard.

    Example: toolkit report reports/latest
    """
    need("pandas")
    from toolkit.experiment.comparison.result import Comparison
    from toolkit.report.html import page
    from toolkit.report.run_folder import write

    result = Comparison.load(run)
    write(run / "report.html", page(result.summary, result.turns, result.problems, result.about))
    if json:
        print_json(result.summary.to_dict("records"))
        return
    typer.echo(repr(result))
    typer.echo(f"\nOpen {run / 'report.html'}.")
