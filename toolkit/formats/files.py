"""Opening files of records: `.json`, `.jsonl`, gzip and zstandard, folders; what cannot be read is noted, not lost."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from toolkit.errors import InputError, need, why

SUFFIXES = (
    "opencode.db",
    *(
        f".{kind}{packed}"
        for kind in ("json", "jsonl", "ndjson", "har", "yaml", "yml", "eval", "trace", "log")
        for packed in ("", ".gz", ".zst")
    ),
)
_SKIPPED = frozenset((".git", "node_modules", ".venv", "__pycache__"))
_CHUNK = 1 << 20
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that was skipped or doubted, and where."""

    path: str
    line: int
    code: str
    message: str

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message} [{self.code}]"


@dataclass(frozen=True, slots=True)
class Record:
    """One JSON text of a file, and the line that it starts on."""

    path: str
    line: int
    data: bytes


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Return the record files among `paths`, folders opened in name order.

    Raises:
        InputError: A path does not exist, is no record file, or is a folder without one.
    """
    found: list[Path] = []
    for path in map(Path, paths):
        if path.is_dir():
            inside = sorted((one for one in path.rglob("*") if _is_record_file(one)), key=_order)
            if not inside:
                raise InputError(f"{path} holds no session file.", hint=f"Expected {', '.join(SUFFIXES)}.")
            found += inside
        elif not path.exists():
            raise InputError(f"{path} does not exist.")
        else:
            found.append(path)
    return found


def _is_record_file(path: Path) -> bool:
    return path.name.endswith(SUFFIXES) and path.is_file() and _SKIPPED.isdisjoint(path.parts)


def _order(path: Path) -> tuple[str, str, int]:
    """Sort by name; a continuation (`run.cont-1.json`) stands behind what it continues."""
    whole, _, number = path.name.partition(".cont-")
    digits = number.partition(".")[0]
    return str(path.parent), whole if number else path.name.partition(".")[0], int(digits) if digits.isdigit() else 0


def records(path: Path, problems: list[Problem]) -> Iterator[Record]:
    """Yield the JSON texts of a file; an end that cannot be unpacked is noted in `problems`."""
    lines = lines_of(path, problems)
    name = path.name.removesuffix(".gz").removesuffix(".zst")
    if name.endswith(".json"):
        whole = b"\n".join(lines)
        if whole.strip():
            yield Record(str(path), 1, whole)
        return
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield Record(str(path), number, line)


def head_of(path: Path, size: int) -> bytes:
    """Return the first bytes of a file, unpacked, without a byte order mark; what can be had of them."""
    head = b""
    try:
        with path.open("rb") as raw:
            for chunk in _unpacked(path, raw, size):
                head += chunk
                if len(head) >= size:
                    break
    except (OSError, EOFError, zlib.error):
        pass
    return head[:size].removeprefix(_MARK)


def lines_of(path: Path, problems: list[Problem]) -> Iterator[bytes]:
    """Yield the lines of a file, without a byte order mark, as far as they can be unpacked."""
    number = 0
    try:
        with path.open("rb") as raw:
            for number, line in enumerate(_split(_unpacked(path, raw)), 1):
                yield line.removeprefix(_MARK) if number == 1 else line
    except (OSError, EOFError, zlib.error) as error:
        said = why(error) if isinstance(error, OSError) else str(error)
        message = f"the rest cannot be read: {said}. What stands before it is used."
        problems.append(Problem(str(path), number + 1, "truncated", message))


def _unpacked(path: Path, raw: BinaryIO, size: int = _CHUNK) -> Iterator[bytes]:
    head = raw.read(4)
    raw.seek(0)
    if head[:2] == b"\x1f\x8b":
        return _chunks(gzip.GzipFile(fileobj=raw), size)
    if head == b"\x28\xb5\x2f\xfd":
        return _zstd(raw, size)
    return _chunks(raw, size)


def _chunks(file: BinaryIO | gzip.GzipFile, size: int) -> Iterator[bytes]:
    while chunk := file.read1(size) if isinstance(file, gzip.GzipFile) else file.read(size):
        yield chunk


def _zstd(raw: BinaryIO, size: int) -> Iterator[bytes]:
    need("zstandard")
    import zstandard

    unpacker = zstandard.ZstdDecompressor().decompressobj()
    try:
        for chunk in _chunks(raw, size):
            while chunk:
                yield unpacker.decompress(chunk)
                chunk = unpacker.unused_data if unpacker.eof else b""
                if unpacker.eof and chunk:
                    unpacker = zstandard.ZstdDecompressor().decompressobj()
    except zstandard.ZstdError as error:
        raise OSError(str(error)) from error
    if not unpacker.eof:
        raise EOFError("the compressed file ends too early")


def _split(chunks: Iterator[bytes]) -> Iterator[bytes]:
    rest: list[bytes] = []
    for chunk in chunks:
        *whole, tail = chunk.split(b"\n")
        if whole:
            yield b"".join((*rest, whole[0]))
            yield from whole[1:]
            rest = []
        rest.append(tail)
    last = b"".join(rest)
    if last:
        yield last
