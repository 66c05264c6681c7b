"""`toolkit diagnose`: what recorded sessions say about a host's tools, and the file that follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from toolkit.commands.output import check_folder, print_json, print_table, tell_problems
from toolkit.errors import need

if TYPE_CHECKING:
    from toolkit.experiment.diagnosis.diagnose import Diagnosis

NAME = "diagnose"
_WIDEST = 46


def command(
    sessions: Annotated[
        list[Path], typer.Argument(help="Session files (.json, .jsonl, .gz, .zst) or folders of them.")
    ],
    catalog: Annotated[
        Optional[list[Path]], typer.Option(help="More tools around the recorded ones: a catalog file. Repeatable.")
    ] = None,
    retriever: Annotated[
        Optional[str], typer.Option(help="What tools.search ranks with: lexical, dense, hybrid, pkg.mod:Name.")
    ] = None,
    model: Annotated[
        Optional[str],
        typer.Option(help="Whose tokens, cache rules and prices count; the one most sessions name, else gpt-5."),
    ] = None,
    k: Annotated[int, typer.Option(min=1, help="A tool counts as found when a query ranks it among the first k.")] = 5,
    profile: Annotated[str, typer.Option(help="The host's rules.")] = "reference",
    query_model: Annotated[
        str, typer.Option(help="Where queries come from when the recording holds none, e.g. own_words, turn_input.")
    ] = "own_words",
    out: Annotated[
        Optional[Path], typer.Option(help="Write diagnose.html, diagnose.toml and a CSV a table into this folder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the bootstrap intervals.")] = 0,
    limit: Annotated[Optional[int], typer.Option(min=1, help="Read at most so many sessions.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of tables.")] = False,
) -> None:
    """Say which tools cost and are never used, which cannot be found, which must stay, and which servers to defer.

    Ends with the [tools] and [mcp_servers] of a host's TOML, and what they would save: an estimate out of replays.
    With 20 sessions or more the choice is also made on the earlier half alone and measured on the later half.

    Example: toolkit diagnose datasets/mcp-servers/sessions.atif.jsonl.gz --model claude-sonnet-4-5 --out reports/tools
    """
    need("pandas")
    if out is not None:
        check_folder(out)
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.diagnosis.diagnose import diagnose
    from toolkit.experiment.diagnosis.page import records, save

    given, around = recorded(sessions, catalog, limit)
    options = {"retriever": retriever, "profile": profile, "query_model": query_model, "model": model}
    found = diagnose(given, k=k, catalog=around, seed=seed, **options)
    tell_problems(found.problems)
    if out is not None:
        save(found, out)
    if json:
        print_json(records(found))
        return
    _print(found)
    if out is not None:
        typer.echo(f"Open {out / 'diagnose.html'} for the page; {out / 'diagnose.toml'} is the file.")


def _print(found: Diagnosis) -> None:
    from toolkit.experiment.diagnosis.host_toml import host_toml
    from toolkit.experiment.diagnosis.page import notes, sections

    for section in sections(found):
        typer.echo(f"{section.title}: {section.of}\n{section.about}")
        if section.rows:
            rows = [
                [text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…" for text in row] for row in section.rows
            ]
            print_table(section.headings, rows)
        typer.echo(f"… and {section.left_out} more\n" if section.left_out else "")
    typer.echo(host_toml(found))
    typer.echo("\n".join(notes(found)))
