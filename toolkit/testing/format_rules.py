"""`check_format`: whether an importer keeps what is good, tells what is bad, and never fails on a file."""

from __future__ import annotations

import gzip
import random
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.native.write import write_sessions
from toolkit.formats.registry import FORMATS, format_of, read_file
from toolkit.session import Session
from toolkit.testing import findings
from toolkit.testing.findings import Note, Report

_MUTANTS = 80
_OTHERS = (b"", b"\n\n", b"{}", b"[]", b"null", b"plain words", b'{"a": [', b"\xff\xfe\x00", b"[" * 5000)


def check_format(importer: str | Format, samples: Sequence[str | Path], *, report: bool = False) -> Report:
    """Check that an importer keeps the rules, over sample files and what becomes of them when they are damaged.

    Args:
        importer: A format, or the name of one that is registered.
        samples: Files of the format that read without a fault, each with a session or more.
        report: Return the report also when a rule is broken.

    Returns:
        The report, one line a rule.

    Raises:
        AssertionError: A rule is broken; the message lists each with an example.
        UnknownNameError: No format of that name is registered.
    """
    found: Format = FORMATS.find(importer) if isinstance(importer, str) else importer
    with tempfile.TemporaryDirectory() as folder:
        told = findings.report(found.name, RULES, _Subject(found, tuple(map(Path, samples)), Path(folder)))
    return told if report else told.check()


class _Subject:
    """A format under test, its samples, and a folder for what is made of them."""

    def __init__(self, format: Format, samples: tuple[Path, ...], folder: Path) -> None:
        self.format, self.samples, self.folder = format, samples, folder

    @cached_property
    def read(self) -> Mapping[Path, list[Session]]:
        """The sessions of each sample."""
        return {path: _read(self.format, path)[0] for path in self.samples}

    def made(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path


def _read(format: Format, path: Path) -> tuple[list[Session], list[Problem]]:
    problems: list[Problem] = []
    return list(read_file(Source(path), problems, (format,))), problems


def _said(sessions: Sequence[Session]) -> list[object]:
    """Return what sessions say: ids, inputs, and each call with its arguments."""
    return [
        (one.id, [(turn.input, [(c.name, c.arguments) for p in turn.passes for c in p.calls]) for turn in one.turns])
        for one in sessions
    ]


def _recognised(subject: _Subject) -> Iterator[str]:
    """It recognises its samples, and of the registered formats none takes them before it."""
    for path in subject.samples:
        if not subject.format.recognises(Source(path)):
            yield f"{path.name} is not recognised"
        first = format_of(Source(path))
        if first is not None and first != subject.format and subject.format in FORMATS.all():
            yield f"{path.name} is taken by {first.name}"


def _others(subject: _Subject) -> Iterator[str]:
    """It recognises no file that is empty, no JSON, or says nothing, and asking raises nothing."""
    for number, data in enumerate(_OTHERS):
        try:
            if subject.format.recognises(Source(subject.made(f"other-{number}.json", data))):
                yield f"{data[:20]!r} is recognised"
        except Exception as error:
            yield f"{data[:20]!r}: {type(error).__name__}: {error}"


def _sessions(subject: _Subject) -> Iterator[str]:
    """Every sample gives a session with a turn, and each says the file and the line that it is from."""
    for path, sessions in subject.read.items():
        if not any(one.turns for one in sessions):
            yield f"{path.name} gives no turn"
        for one in sessions:
            where, _, line = one.source.rpartition(":")
            if not where or not line.isdigit():
                yield f"session {one.id!r} of {path.name} has the source {one.source!r}, not path:line"


def _repeats(subject: _Subject) -> Iterator[str]:
    """Read again, packed, or with a byte order mark, a sample gives the same sessions."""
    for path, sessions in subject.read.items():
        data = path.read_bytes()
        plain = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        if _said(_read(subject.format, path)[0]) != _said(sessions):
            yield f"{path.name} read again gives others"
        if data[:4] == b"\x28\xb5\x2f\xfd":
            continue
        for what, other in (("packed", gzip.compress(plain)), ("with a mark", b"\xef\xbb\xbf" + plain)):
            if _shape(_read(subject.format, subject.made(path.name, other))[0]) != _shape(sessions):
                yield f"{path.name} {what} gives others"


def _shape(sessions: Sequence[Session]) -> list[object]:
    return [said[1] for said in _said(sessions) if isinstance(said, tuple)]


def _kept(subject: _Subject) -> Iterator[str]:
    """Written as ATIF and read from there, a sample's sessions say the same."""
    for path, sessions in subject.read.items():
        target = subject.folder / "written.jsonl"
        write_sessions(sessions, target)
        if _said(_read(FORMATS.find("atif"), target)[0]) != _said(sessions):
            yield f"{path.name} written and read again says something else"


def _tail(subject: _Subject) -> Iterator[str]:
    """A broken line after the others costs no session, and is told."""
    lined = [path for path in subject.samples if path.name.endswith(".jsonl") and subject.read[path]]
    if not lined:
        yield Note("left out: no sample has a record a line")
    for path in lined:
        data = path.read_bytes().rstrip(b"\n") + b'\n{"cut": \n'
        sessions, problems = _read(subject.format, subject.made(path.name, data))
        if _shape(sessions) != _shape(subject.read[path]):
            yield f"{path.name} with a broken line at its end gives {len(sessions)} sessions, or others"
        if len(problems) <= len(_read(subject.format, path)[1]):
            yield f"{path.name} with a broken line at its end: nothing more is told"


def _damaged(subject: _Subject) -> Iterator[str]:
    """Whatever is cut, changed or doubled in a file, the importer raises InputError or nothing."""
    for path in subject.samples:
        for number, data in enumerate(_mutants(path.read_bytes())):
            where = f"{path.name}, damaged in way {number}"
            try:
                problems = _read(subject.format, subject.made(path.name, data))[1]
            except Exception as error:
                yield f"{where}: {type(error).__name__}: {error}"
            else:
                yield from (f"{where}: {one.message}" for one in problems if one.code == "importer_failed")


def _mutants(data: bytes) -> Iterator[bytes]:
    """Yield a file cut, with bytes changed, with values of another type, and with parts doubled or left out."""
    drawn = random.Random(len(data))
    values = (b"null", b"7", b'"x"', b"[]", b"{}", b"true", b"-1e999")
    for number in range(_MUTANTS if data else 0):
        a, b = sorted(drawn.randrange(len(data)) for _ in range(2))
        colons = [place for place in range(a, min(b + 1, a + 4000)) if data[place : place + 1] == b":"]
        at = drawn.choice(colons) if colons else a
        end = min((place for mark in b",}\n" if (place := data.find(mark, at)) > 0), default=at)
        yield (
            data[:a],
            data[:a] + bytes([drawn.randrange(256)]) + data[a + 1 :],
            data[: at + 1] + drawn.choice(values) + data[end:],
            data[:b] + data[a:],
            data[:a] + data[b:],
        )[number % 5]


RULES: Mapping[str, Callable[[_Subject], Iterator[str]]] = {
    "recognised": _recognised,
    "others": _others,
    "sessions": _sessions,
    "repeats": _repeats,
    "kept": _kept,
    "tail": _tail,
    "damaged": _damaged,
}
