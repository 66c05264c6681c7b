"""`toolkit import`: session files of any format into native ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from toolkit.commands.output import check_folder, print_json, print_table, tell_problems
from toolkit.errors import InputError

NAME = "import"


def command(
    paths: Annotated[list[Path], typer.Argument(help="Session files of any format, or folders.")],
    out: Annotated[Path, typer.Option(help="The folder for the files that are written.")],
    format: Annotated[
        Optional[str], typer.Option(help="Read every file as this format, whatever it looks like.")
    ] = None,
    catalog: Annotated[
        Optional[list[Path]], typer.Option(help="A catalog file whose definitions are joined by name. Repeatable.")
    ] = None,
    redact: Annotated[
        bool, typer.Option("--redact", help="Replace e-mails, keys, tokens, home folders and user names.")
    ] = False,
    to: Annotated[str, typer.Option(help="What is written: atif, or otlp (OTLP-JSON spans).")] = "atif",
    workers: Annotated[int, typer.Option(min=1, help="So many files at once.")] = 1,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Read sessions of any format and write them as native files, one for each; what was done before is kept.

    Example: toolkit import ~/.claude/projects --redact --out sessions
    """
    from toolkit.formats.catalogs.load import load_catalog
    from toolkit.formats.converting import Wanted, convert_all, total
    from toolkit.formats.files import find_files

    check_folder(out)
    files = find_files(paths)
    wanted = Wanted(out, format, tuple(load_catalog(*catalog)) if catalog else (), redact, to)
    results = []
    for number, one in enumerate(convert_all(files, wanted, workers), 1):
        results.append(one)
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{number} of {len(files)} files")
    if sys.stderr.isatty():
        sys.stderr.write("\n")
    tell_problems([problem for one in results for problem in one.problems])
    if not any(one.made for one in results):
        raise InputError("no session could be read.", hint="See toolkit inspect PATH for what the files hold.")
    row = {
        "files": len(files),
        "written": sum(one.made is not None and not one.kept for one in results),
        "kept": sum(one.kept for one in results),
        "sessions": sum(one.sessions for one in results),
        "redacted": ", ".join(f"{n} × {kind}" for kind, n in total(results).most_common()),
    }
    if json:
        print_json([row])
        return
    print_table(list(row), [list(row.values())])
