"""`toolkit conformance`: vectors of the engine's rules, and a checker that plays them on another host."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from toolkit.commands.output import print_json, print_table
from toolkit.errors import counted

NAME = "conformance"
app = typer.Typer(help="Check whether a host obeys the rules of docs/semantics.md.", no_args_is_help=True)
Rules = Annotated[Optional[list[str]], typer.Option("--rule", help="Only this rule (H3) or family (H). Repeatable.")]


@app.command("vectors")
def write_vectors(
    out: Annotated[Path, typer.Option(help="The folder to write: vectors.jsonl and PROTOCOL.md.")],
    rule: Rules = None,
) -> None:
    """Write the conformance vectors as JSON, with the protocol that a host answers by.

    Example: toolkit conformance vectors --out vectors --rule H3
    """
    from toolkit.testing.rule_vectors import write

    typer.echo(
        f"{counted(write(out, rule or ()), 'vector')} in {out / 'vectors.jsonl'}; read {out / 'PROTOCOL.md'} first."
    )


@app.command("check")
def check_host(
    command: Annotated[list[str], typer.Argument(help="After --: the command that starts the host under test.")],
    rule: Rules = None,
    time_limit: Annotated[float, typer.Option(min=0.01, help="Seconds that one answer may take.")] = 10.0,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Play the vectors on a host over stdio and say which rules it breaks. Exit status 1 when it breaks one.

    The table shows the first difference of each rule, --json every vector that failed.

    Example: toolkit conformance check -- python -m toolkit.testing.reference_host
    """
    from tqdm import tqdm

    from toolkit.testing.conformance import NOT_RUN, by_rule, check
    from toolkit.testing.rule_vectors import vectors

    chosen = vectors(rule or ())
    findings = list(tqdm(check(chosen, command, time_limit), total=len(chosen), unit=" vectors", disable=None))
    rows = by_rule(findings)
    if json:
        print_json(rows)
    else:
        unplayed = sum(one.difference == NOT_RUN for one in findings)
        _print(rows, len(chosen), sum(one.difference is not None for one in findings), unplayed)
    if any(row["failed"] for row in rows):
        raise typer.Exit(1)


def _print(rows: Sequence[Mapping[str, Any]], total: int, failed: int, unplayed: int) -> None:
    from toolkit.testing.conformance import NOT_RUN

    columns = ("rule", "vectors", "passed", "failed")
    print_table(columns, [[row[column] for column in columns] for row in rows])
    for row in rows:
        if row["failed"] and not row["first_difference"].endswith(NOT_RUN):
            typer.echo(f"\n{row['rule']}: {row['first_difference']}")
    if unplayed:
        typer.echo(f"\n{counted(unplayed, 'vector')} {NOT_RUN}.")
    typer.echo(
        f"\n{total - failed} of {counted(total, 'vector')} passed." + " The rules: docs/semantics.md." * bool(failed)
    )
