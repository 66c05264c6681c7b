"""`toolkit cache`: what is kept on disk between runs, where, how large; clears it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple, Optional

import typer

from toolkit.commands.output import print_json, print_table
from toolkit.errors import InputError, UnknownNameError, counted, why
from toolkit.store import cache_folder

NAME = "cache"


class Kind(NamedTuple):
    """One kind of what is kept: what it is, which names in its folder are ours, and whether all can be made again."""

    about: str
    ours: tuple[str, ...]
    again: bool = True


_STORES = ("*.sqlite", "*.sqlite-journal", "*.log", "*.bin")
KINDS = {
    "vectors": Kind("vectors of tools", _STORES),
    "queries": Kind("vectors of queries", _STORES),
    "counts": Kind("token counts of texts", _STORES),
    "static": Kind("the static model, made out of MiniLM", _STORES),
    "llm-queries": Kind("answers of a query model's endpoint", _STORES),
    "vocabularies": Kind("compiled vocabularies", ("claude-*.json",)),
    "tiktoken": Kind("vocabularies out of packages", ("[0-9a-f]" * 40,)),
    "datasets": Kind("sets that were fetched", ("*/provenance.json",)),
    "calibrations.json": Kind("what --calibrate fitted to your bills", ("",), again=False),
}


def command(
    clear: Annotated[
        Optional[list[str]],
        typer.Option(help="Clear a kind, or all that can be made again (all). Repeatable."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Say what is kept on disk between runs, where and how large; clear it by kind.

    Files that the toolkit did not make are neither counted nor cleared. What was fitted to your bills goes only when
    its kind is named.

    Example: toolkit cache --clear vectors
    """
    for name in _chosen(clear or ()):
        _clear(name)
    rows = [_row(name) for name in KINDS]
    if json:
        print_json(rows)
        return
    print_table(("kind", "files", "MB", "what"), [_shown(row) for row in rows])
    whole = sum(row["bytes"] for row in rows) / 1e6
    typer.echo(f"\n{whole:.1f} MB in {cache_folder()}. Clear: toolkit cache --clear KIND, or all.")


def _chosen(names: Any) -> list[str]:
    for name in names:
        if name not in KINDS and name != "all":
            raise UnknownNameError("kind", name, [*KINDS, "all"])
    return [name for name, kind in KINDS.items() if name in names or ("all" in names and kind.again)]


def _ours(name: str) -> Iterator[Path]:
    """Yield what of a kind the toolkit made: files, or the folder of a whole set."""
    place = cache_folder() / name
    for pattern in KINDS[name].ours:
        found = place.glob(pattern) if pattern else [place] if place.is_file() else []
        yield from (one.parent if one.parent.parent == place else one for one in found)


def _files(name: str) -> list[Path]:
    return [one for path in _ours(name) for one in (path.rglob("*") if path.is_dir() else [path]) if one.is_file()]


def _row(name: str) -> dict[str, Any]:
    files = _files(name)
    size = sum(one.stat().st_size for one in files)
    path = str(cache_folder() / name)
    return {"kind": name, "files": len(files), "bytes": size, "path": path, "about": KINDS[name].about}


def _shown(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["kind"], row["files"], f"{row['bytes'] / 1e6:.1f}", row["about"]


def _clear(name: str) -> None:
    files = _files(name)
    size = sum(one.stat().st_size for one in files) / 1e6
    try:
        for path in list(_ours(name)):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    except OSError as error:
        place = error.filename or cache_folder() / name
        raise InputError(f"{place} cannot be removed: {why(error)}.", hint="Check who may write there.") from error
    typer.echo(f"{name}: {counted(len(files), 'file')} removed ({size:.1f} MB).", err=True)
