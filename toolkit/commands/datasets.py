"""`toolkit datasets`: public sets of tools, queries and sessions that packages carry."""

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.output import check_folder, print_json, print_table, tell_problems

if TYPE_CHECKING:
    from toolkit.formats.datasets.sets import DataSet

NAME = "datasets"
app = typer.Typer(help="Get public sets of tools, queries and sessions.", no_args_is_help=True, rich_markup_mode=None)


@app.command("list")
def list_sets(
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """List the public sets that can be fetched: what is in them, their licence, the package that carries them.

    Example: toolkit datasets list
    """
    from toolkit.formats.datasets.sets import data_sets

    rows = [_row(one) for one in data_sets().values()]
    if json:
        print_json(rows)
        return
    shown = ("name", "tools", "queries", "sessions", "MB", "package", "licence", "fetched")
    print_table(shown, [_shown(row) for row in rows])
    typer.echo("\nGet one: toolkit datasets fetch NAME")


def _row(one: DataSet) -> dict[str, Any]:
    from toolkit.formats.datasets.fetching import is_there

    folder = _place(one.name)
    return {
        "name": one.name,
        "about": one.about,
        "tools": one.tools,
        "queries": one.queries,
        "sessions": one.sessions,
        "download_bytes": one.size,
        "package": one.requirement,
        "licence": one.licence,
        "folder": str(folder) if is_there(one, folder) else None,
    }


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    counts = (f"{row[key]:,}" for key in ("tools", "queries", "sessions"))
    size = f"{row['download_bytes'] / 1e6:.1f}"
    return row["name"], *counts, size, row["package"], row["licence"], row["folder"] or "no"


def _place(name: str) -> Path:
    """Return where a set is put without --out: beside all that can be made again."""
    from toolkit.store import cache_folder

    return cache_folder() / "datasets" / name


@app.command("fetch")
def fetch_set(
    name: Annotated[str, typer.Argument(help="A name of `toolkit datasets list`.")],
    out: Annotated[
        Optional[Path], typer.Option(help="The folder to make; a folder of the user's cache if left out.")
    ] = None,
    archive: Annotated[
        Optional[Path], typer.Option(help="The package's file, where it is here already: nothing is downloaded.")
    ] = None,
) -> None:
    """Download the package that carries a set, check its digest, and write the set's files into a folder.

    The package is pinned by version and digest; nothing of it is installed or run. The folder gets tools.jsonl,
    queries.jsonl and sessions.atif.jsonl.gz, as far as the set has them, README.md and provenance.json.

    Example: toolkit datasets fetch nestful --out nestful
    """
    from toolkit.formats.datasets.fetching import fetch, is_there
    from toolkit.formats.datasets.sets import data_set

    chosen = data_set(name)
    folder = out or _place(name)
    there = is_there(chosen, folder)
    if not there:
        check_folder(folder)
        tell_problems(fetch(chosen, folder, lambda one, place: archive or _downloaded(one, place)))
    _tell(chosen, folder, there)


def _downloaded(chosen: DataSet, place: Path) -> Path:
    from toolkit.formats.datasets.downloading import download

    typer.echo(f"Downloading {chosen.requirement} ({chosen.size / 1e6:.1f} MB) …", err=True)
    return download(chosen, place)


def _tell(chosen: DataSet, folder: Path, there: bool) -> None:
    """Say what lies where, and which commands take it."""
    from toolkit.formats.datasets.fetching import QUERIES, SESSIONS, TOOLS, counts

    held = ", ".join(f"{count:,} {what}" for what, count in counts(folder).items() if count)
    typer.echo(f"{chosen.name} {'was there already' if there else 'is there'}: {held} ({chosen.licence}) in {folder}")
    tools, queries, sessions = (quote(str(folder / file)) for file in (TOOLS, QUERIES, SESSIONS))
    if (folder / QUERIES).exists():
        typer.echo(f"Try: toolkit rank-eval --catalog {tools} --queries {queries}")
    if (folder / SESSIONS).exists():
        typer.echo(f"Try: toolkit compare {sessions}")
