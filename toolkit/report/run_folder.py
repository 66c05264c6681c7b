"""The run folder: everything a comparison found, in files that other programs and people open."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd
import tomli_w

from toolkit.errors import InputError
from toolkit.formats.files import Problem
from toolkit.report.html import page
from toolkit.report.owned import ABOUT, check_files
from toolkit.store import whole, write_whole

COMMAND = "compare"
FRAMES = ("passes", "turns", "sessions")
_TABLES = tuple(f"{name}.parquet" for name in FRAMES)
FILES = (ABOUT, "summary.csv", "report.html", "problems.jsonl", *_TABLES)


def save(
    folder: Path,
    summary: pd.DataFrame,
    frames: Mapping[str, pd.DataFrame],
    problems: Sequence[Problem],
    about: Mapping[str, Any],
) -> Path:
    """Write what a comparison found into a folder, each file whole or not at all; return the folder.

    Raises:
        InputError: A file of that name is there, and no comparison wrote it.
    """
    check_files(folder, FILES, COMMAND)
    folder.mkdir(parents=True, exist_ok=True)
    write_about(folder, about, COMMAND)
    for name in FRAMES:
        with whole(folder / f"{name}.parquet") as draft:
            frames[name].to_parquet(draft, index=False)
    with whole(folder / "summary.csv") as draft:
        summary.to_csv(draft, index=False)
    write(folder / "problems.jsonl", "".join(json.dumps(asdict(p), ensure_ascii=False) + "\n" for p in problems))
    write(folder / "report.html", page(summary, frames["turns"], problems, about))
    return folder


def load(folder: Path) -> dict[str, Any]:
    """Return what a run folder holds: `summary`, the frames, `problems`, `about`.

    Raises:
        InputError: The folder is no run folder, or a file in it is damaged.
    """
    wanted = (ABOUT, "summary.csv", *_TABLES)
    missing = [name for name in wanted if not (folder / name).is_file()]
    if missing:
        raise InputError(
            f"{folder} is no run folder: it lacks {', '.join(missing)}.", hint="Run toolkit compare first."
        )
    try:
        return _read(folder)
    except (ValueError, TypeError) as error:
        raise InputError(f"{folder} is damaged: {error}.", hint="Run toolkit compare again.") from error


def _read(folder: Path) -> dict[str, Any]:
    frames = {name: pd.read_parquet(folder / f"{name}.parquet") for name in FRAMES}
    summary = pd.read_csv(folder / "summary.csv", keep_default_na=False, na_values=[""])
    if "prompt_ratio" not in summary:
        raise ValueError("summary.csv holds no leaderboard")
    lines = (folder / "problems.jsonl").read_text("utf-8").splitlines() if (folder / "problems.jsonl").is_file() else []
    problems = tuple(Problem(**json.loads(line)) for line in lines)
    about = tomllib.loads((folder / ABOUT).read_text("utf-8"))
    about.pop("command", None)
    return {"summary": summary, **frames, "problems": problems, "about": about}


def write_about(folder: Path, about: Mapping[str, Any], command: str) -> None:
    """Write `run.toml`: the command that the folder is of, and what its figures are of."""
    write(folder / ABOUT, tomli_w.dumps({"command": command, **_plain(about)}))


def write(path: Path, text: str) -> None:
    """Write a text, whole or not at all."""
    write_whole(path, text.encode("utf-8", "replace"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items() if item is not None}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value
