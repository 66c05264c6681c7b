"""`toolkit diagnose`: what recorded sessions say about a host's tools, and the file that follows from it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.options import Force, Json, Limit, Recorded, taking
from toolkit.commands.output import check_folder, print_json, print_table, tell_problems
from toolkit.errors import need

if TYPE_CHECKING:
    from toolkit.experiment.diagnosis.diagnose import Diagnosis

NAME = "diagnose"
_WIDEST = 46


@taking("catalog", "retriever", "model", "profile", "query_model", "seed")
def command(
    sessions: Recorded,
    *,
    catalog: list[Path] | None,
    k: Annotated[int, typer.Option(min=1, help="A tool counts as found when a query ranks it among the first k.")] = 5,
    out: Annotated[
        Optional[Path], typer.Option(help="Write diagnose.html, diagnose.toml and a CSV a table into this folder.")
    ] = None,
    force: Force = False,
    limit: Limit = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Say which tools cost and are never used, which cannot be found, which must stay, and which servers to defer.

    Ends with the [tools] and [mcp_servers] of a host's TOML, and what they would save: an estimate out of replays.
    Without --model the one counts that most sessions name, else gpt-5.
    With 20 sessions or more the choice is also made on the earlier half alone and measured on the later half.

    Example: toolkit diagnose datasets/mcp-servers/sessions.atif.jsonl.gz --model claude-sonnet-4-5 --out reports/tools
    """
    need("pandas")
    from toolkit.report.owned import check_own, owned

    if out is not None:
        check_folder(out)
        check_own(out, NAME, force)
    from toolkit.commands.recorded import recorded
    from toolkit.experiment.diagnosis.diagnose import diagnose
    from toolkit.experiment.diagnosis.page import records, save

    given, around = recorded(sessions, catalog, limit)
    found = diagnose(given, k=k, catalog=around, **options)
    tell_problems(found.problems)
    if out is not None:
        with owned(out, NAME):
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
