"""Whose a run folder is: a command goes on in its own folders and leaves all others as they are."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from toolkit.errors import InputError, ToolkitError
from toolkit.store import write_whole

ABOUT, LATEST = "run.toml", "latest"
PARTS = "parts"


def fresh(command: str, root: Path = Path("reports"), now: datetime | None = None) -> Path:
    """Return a run folder that does not exist yet, with the time in its name.

    >>> fresh("compare", Path("none"), datetime(2026, 11, 30, 10, 15)).as_posix()
    'none/compare-20261130-101500'
    """
    name = f"{command}-{now or datetime.now():%Y%m%d-%H%M%S}"
    names = (name, *(f"{name}-{number}" for number in range(2, 1000)))
    return next(root / name for name in names if not (root / name).exists())


def command_of(folder: Path) -> str | None:
    """Return the command whose run folder it is; None where `run.toml` is missing, damaged or somebody else's."""
    try:
        said = tomllib.loads((folder / ABOUT).read_text("utf-8")).get("command")
    except (OSError, ValueError):
        return None
    return said if isinstance(said, str) else None


def check_own(folder: Path, command: str, force: bool = False) -> None:
    """Do nothing where a command may write into a folder: it is new, empty, of the same command, or forced.

    Raises:
        InputError: It holds what the command did not write.
    """
    if force or not folder.is_dir() or not any(folder.iterdir()) or command_of(folder) == command:
        return
    owner = command_of(folder)
    what = f"holds a run of toolkit {owner}" if owner else f"holds files that no toolkit {command} wrote"
    hint = "Give another --out, or --force to write there all the same."
    raise InputError(f"{folder} {what}; nothing was changed.", hint=hint)


def check_files(folder: Path, names: Sequence[str], command: str) -> None:
    """Do nothing where none of the files would take the place of one that the command did not write.

    Raises:
        InputError: One would; its name is told.
    """
    there = [name for name in names if (folder / name).exists()]
    if there and command_of(folder) != command:
        raise InputError(f"{folder / there[0]} is there already, and no toolkit {command} wrote it.",
                         hint="Give another folder, or move the file.")  # fmt: skip


@contextmanager
def owned(folder: Path, command: str, latest: bool = False) -> Iterator[None]:
    """Make a folder a command's own while it runs, by a `run.toml`; one that bad input left empty is gone again.

    Args:
        folder: Where `check_own` found nothing against.
        command: Whose it becomes.
        latest: Let `latest` beside it point to it.
    """
    new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if command_of(folder) != command:
        write_whole(folder / ABOUT, f'command = "{command}"\n'.encode())
    try:
        yield
    except ToolkitError:
        if new:
            _undo(folder)
        raise
    except KeyboardInterrupt:
        sys.stderr.write(f"\nFinished parts are in {folder / PARTS}. Go on with --out {folder}.\n")
        raise
    finally:
        if latest and folder.is_dir():
            _point(folder.parent / LATEST, folder.name)


def _undo(folder: Path) -> None:
    """Take away a folder in which nothing but its `run.toml` was made."""
    held = {one.name for one in folder.iterdir()}
    if held <= {ABOUT, PARTS} and not any((folder / PARTS).glob("*")):
        with suppress(OSError):
            (folder / ABOUT).unlink(missing_ok=True)
            if PARTS in held:
                (folder / PARTS).rmdir()
            folder.rmdir()


def _point(link: Path, name: str) -> None:
    """Let a link point to a name beside it; what is no link stays, and so does all where links cannot be made."""
    if link.exists() and not link.is_symlink():
        return
    draft = link.with_name(f".{link.name}.{os.getpid()}")
    with suppress(OSError):
        draft.symlink_to(name, target_is_directory=True)
        draft.replace(link)
