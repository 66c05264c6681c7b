"""What commands print."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import typer

from toolkit.errors import InputError, counted
from toolkit.formats.files import Problem, head_of

_SHOWN = 8
_HEAD = 1 << 16
PICTURE = b"Matplotlib"
"""What our pictures say that they were made with, whatever their kind."""


def print_json(rows: Iterable[Mapping[Any, Any]]) -> None:
    """Print rows as a JSON list, one object a line; what is no number is null."""
    lines = ",\n".join(json.dumps(_plain(row), ensure_ascii=False) for row in rows)
    typer.echo(f"[\n{lines}\n]" if lines else "[]")


def _plain(row: Mapping[Any, Any]) -> dict[str, Any]:
    return {key: None if value != value else getattr(value, "item", lambda v=value: v)() for key, value in row.items()}


def print_table(headings: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a table, numbers to the right."""
    lines = [tuple(map(str, row)) for row in rows]
    widths = [max(map(len, column)) for column in zip(headings, *lines, strict=True)]
    numeric = [
        all(line[i].replace(",", "").replace(".", "").lstrip("-").isdigit() for line in lines)
        for i in range(len(headings))
    ]
    for line in (tuple(headings), tuple("-" * width for width in widths), *lines):
        cells = (text.rjust(w) if n else text.ljust(w) for text, w, n in zip(line, widths, numeric, strict=True))
        typer.echo("  ".join(cells).rstrip())


def tell_problems(problems: Sequence[Problem], where: str = "") -> None:
    """Say on standard error what was skipped or doubted: how many of each kind, and the first few."""
    if not problems:
        return
    counts = ", ".join(f"{n} × {code}" for code, n in Counter(p.code for p in problems).most_common())
    sys.stderr.write(f"{counted(len(problems), 'problem')}: {counts}\n")
    for problem in problems[:_SHOWN]:
        sys.stderr.write(f"  {problem}\n")
    if len(problems) > _SHOWN:
        sys.stderr.write(f"  … and {len(problems) - _SHOWN} more{where}\n")


def check_folder(out: Path) -> None:
    """Raise InputError, before any work, where no folder can be made; nothing is made yet."""
    there = next(place for place in (out, *out.parents) if place.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        why = "nobody may write there" if there.is_dir() else "it is a file"
        raise InputError(f"no folder can stand at {out}: {there}: {why}.", hint="Give another --out.")


def check_file(out: Path, ours: bytes, force: bool = False) -> None:
    """Do nothing where a command may write a file: there is none, or one that holds what such a file begins with.

    Args:
        out: The file.
        ours: What stands in the first part of a file that the command wrote.
        force: Write it whatever stands there.

    Raises:
        InputError: No file can be written there, or one would go that the command did not write; nothing was changed.
    """
    if not force and out.is_file() and (head := head_of(out, _HEAD)) and ours not in head:
        hint = "Give another name, or --force to write there all the same."
        raise InputError(f"{out} is there already, and this command did not write it; nothing was changed.", hint=hint)
    if out.is_dir() or not out.parent.is_dir():
        why = "it is a folder" if out.is_dir() else f"there is no folder {out.parent}"
        raise InputError(f"{out} cannot be written: {why}.", hint="Give another --out.")
