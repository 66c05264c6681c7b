"""`toolkit inspect`: what is in these files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from toolkit.commands.output import print_json, print_table, tell_problems
from toolkit.formats.files import Problem, find_files
from toolkit.formats.registry import read_files
from toolkit.session import Session

NAME = "inspect"


def command(
    paths: Annotated[list[Path], typer.Argument(help="Session files or folders.")],
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Print what session files hold, and what in them could not be read.

    Example: toolkit inspect datasets/mcp-servers/sessions.atif.jsonl.gz
    """
    problems: list[Problem] = []
    rows = [_row(path, problems) for path in find_files(paths)]
    tell_problems(problems)
    if json:
        print_json(rows)
        return
    print_table(list(rows[0]), [list(row.values()) for row in rows])


def _row(path: Path, problems: list[Problem]) -> dict[str, Any]:
    before = len(problems)
    sessions = list(read_files([path], problems))
    return {
        "path": str(path),
        "format": "atif" if sessions else "unknown",
        "sessions": len(sessions),
        "turns": sum(len(session.turns) for session in sessions),
        "passes": sum(1 for session in sessions for _ in session.passes()),
        "calls": sum(1 for session in sessions for _ in session.calls()),
        "tools": len({tool.name for session in sessions for tool in session.catalog}),
        "definitions": _definitions(sessions),
        "usage_passes": sum(one.usage is not None for session in sessions for one in session.passes()),
        "problems": len(problems) - before,
    }


def _definitions(sessions: list[Session]) -> str:
    return "+".join(sorted({session.definitions for session in sessions}))
