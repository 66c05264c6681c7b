"""`toolkit inspect`: what is in these files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from toolkit.commands.output import print_json, print_table, tell_problems
from toolkit.errors import InputError
from toolkit.formats.files import Problem, find_files
from toolkit.formats.importing import Source
from toolkit.formats.registry import format_of, read_file
from toolkit.session import Session

NAME = "inspect"
_COUNTS = ("sessions", "turns", "passes", "calls", "usage_passes", "problems")
_SHOWN = 40


def command(
    paths: Annotated[list[Path], typer.Argument(help="Session files of any format, or folders.")],
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Print what session files hold, a line a file and a line a format, and what in them could not be read.

    Example: toolkit inspect ~/.claude/projects
    """
    problems: list[Problem] = []
    claimed: set[Path] = set()
    rows = [row for path in find_files(paths) if path not in claimed for row in [_row(path, problems, claimed)]]
    tell_problems(problems)
    if not any(row["sessions"] for row in rows):
        raise InputError("no session could be read.", hint="toolkit inspect takes the formats of docs/formats.")
    if json:
        print_json(rows)
        return
    read = [row for row in rows if row["sessions"]]
    print_table(list(read[0]), [list(row.values()) for row in read[:_SHOWN]])
    if len(read) > _SHOWN:
        typer.echo(f"… and {len(read) - _SHOWN} files more; --json has them all.")
    if len(rows) > 1:
        typer.echo("")
        print_table(("format", "files", *_COUNTS, "definitions"), list(_by_format(rows)))


def _row(path: Path, problems: list[Problem], claimed: set[Path]) -> dict[str, Any]:
    before = len(problems)
    source = Source(path, claimed)
    found = format_of(source)
    counts: Counter[str] = Counter()
    tools: set[str] = set()
    definitions: set[str] = set()
    for session in read_file(source, problems):
        counts.update(_counted(session))
        tools.update(tool.name for tool in session.catalog)
        definitions.add(session.definitions)
    return {
        "path": str(path),
        "format": found.name if found is not None else "unknown",
        **{name: counts[name] for name in _COUNTS[:-2]},
        "tools": len(tools),
        "definitions": "+".join(sorted(definitions)),
        "usage_passes": counts["usage_passes"],
        "problems": len(problems) - before,
    }


def _counted(session: Session) -> Mapping[str, int]:
    passes = list(session.passes())
    return {
        "sessions": 1,
        "turns": len(session.turns),
        "passes": len(passes),
        "calls": sum(len(one.calls) for one in passes),
        "usage_passes": sum(one.usage is not None for one in passes),
    }


def _by_format(rows: list[dict[str, Any]]) -> Iterator[list[Any]]:
    """Yield a line a format, the most sessions first."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(row["format"], []).append(row)
    for name, group in sorted(groups.items(), key=lambda one: -sum(row["sessions"] for row in one[1])):
        kinds = sorted({kind for row in group for kind in row["definitions"].split("+") if kind})
        yield [name, len(group), *(sum(row[count] for row in group) for count in _COUNTS), "+".join(kinds)]
