"""Sessions of any format into files of the native one: file by file, several at once, going on where it stopped."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from toolkit.errors import InputError
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.joining import join
from toolkit.formats.native.write import write_sessions
from toolkit.formats.redacting import Redactor
from toolkit.formats.registry import FORMATS, read_file
from toolkit.formats.traces.otlp_write import write_spans
from toolkit.session import Session
from toolkit.tool import Tool

ENDINGS = {"atif": ".jsonl", "otlp": ".otlp.json"}


@dataclass(frozen=True, slots=True)
class Wanted:
    """How files are to be converted.

    Args:
        out: The folder that the files go into.
        format: Read every file as this format; by content otherwise.
        tools: A catalog whose definitions are joined.
        redact: Whether secrets, addresses, home folders and user names are replaced.
        to: `atif`, or `otlp` for OTLP-JSON spans.
    """

    out: Path
    format: str | None = None
    tools: tuple[Tool, ...] = ()
    redact: bool = False
    to: str = "atif"


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of one file; `made` is None where nothing was written, `kept` is true where it stood there before."""

    path: Path
    made: Path | None
    sessions: int
    problems: tuple[Problem, ...] = ()
    redacted: tuple[tuple[str, int], ...] = ()
    kept: bool = False


def target(path: Path, wanted: Wanted) -> Path:
    """Return the file that a file becomes: its name, and a digest of its whole path so that no two meet."""
    digest = hashlib.sha256(str(path.absolute()).encode("utf-8", "surrogatepass")).hexdigest()[:10]
    name = "session" if wanted.redact else path.name.partition(".")[0]
    return wanted.out / f"{name}-{digest}{ENDINGS[wanted.to]}"


def convert(path: Path, wanted: Wanted) -> Converted:
    """Write the sessions of one file, all or nothing; a target that is younger than the file is kept as it is."""
    made = target(path, wanted)
    if made.is_file() and made.stat().st_mtime >= path.stat().st_mtime:
        return Converted(path, made, 0, kept=True)
    problems: list[Problem] = []
    formats: list[Format] | None = [FORMATS.find(wanted.format)] if wanted.format else None
    sessions: Sequence[Session] = list(read_file(Source(path), problems, formats))
    if wanted.tools:
        sessions, _ = join(sessions, wanted.tools)
    redactor = Redactor()
    if wanted.redact:
        redactor.learn([str(path), *sessions])
        sessions = [redactor.clean(session) for session in sessions]
        problems = [redactor.clean(problem) for problem in problems]
    if sessions:
        wanted.out.mkdir(parents=True, exist_ok=True)
        (write_spans if wanted.to == "otlp" else write_sessions)(sessions, made)
    counts = tuple(sorted(redactor.counts.items()))
    return Converted(path, made if sessions else None, len(sessions), tuple(problems), counts)


def convert_all(paths: Sequence[Path], wanted: Wanted, workers: int = 1) -> Iterator[Converted]:
    """Yield what became of each file, in order; the largest file bounds the memory of a worker.

    Raises:
        InputError: `to` or `format` is not known.
        OSError: The folder cannot be made.
    """
    if wanted.to not in ENDINGS:
        raise InputError(f"there is no way to write {wanted.to!r}.", hint=f"Known: {', '.join(ENDINGS)}.")
    if wanted.format:
        FORMATS.find(wanted.format)
    if workers <= 1:
        yield from (convert(path, wanted) for path in paths)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(partial(convert, wanted=wanted), paths)


def total(results: Sequence[Converted]) -> Counter[str]:
    """Return how often what was redacted, over all files."""
    counts: Counter[str] = Counter()
    for one in results:
        counts.update(dict(one.redacted))
    return counts
