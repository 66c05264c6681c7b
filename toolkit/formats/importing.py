"""What an importer is: a format that is recognised by content, and the opened file that it reads."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from toolkit.formats.files import Problem, head_of, lines_of
from toolkit.session import Session

HEAD = 1 << 16
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What decoding a text that is no JSON, or not of the shape, raises."""
_TOKEN = re.compile(rb'"((?:[^"\\]|\\.)*)"(\s*:)?|[{}\[\]]')
_DECODE = msgspec.json.decode
_GLUED = re.compile(r"\s*")


class Source:
    """A file that an importer reads: its head unpacked, its lines and objects streamed.

    Args:
        path: The file; gzip and zstandard are unpacked, whatever it is called.
        claimed: Paths that an importer has read with another file; they are not read again.
    """

    def __init__(self, path: Path, claimed: set[Path] | None = None) -> None:
        self.path = path
        self.name = path.name
        self.claimed = set() if claimed is None else claimed

    def __repr__(self) -> str:
        return f"Source({str(self.path)!r})"

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked, without a byte order mark; empty where the file cannot be opened."""
        return head_of(self.path, HEAD)

    @cached_property
    def objects_at_head(self) -> tuple[dict[str, Any], ...]:
        """The JSON objects that stand whole on lines of the head; none for a document over several lines."""
        found = (_object(line) for line in self.head.split(b"\n") if line.lstrip()[:1] == b"{")
        return tuple(one for one in found if one is not None)

    @cached_property
    def keys(self) -> frozenset[str]:
        """The top keys of the first JSON object (of a list's first item), as far as the head goes."""
        return frozenset(_top_keys(self.head))

    def lines(self, problems: list[Problem], holding: bytes = b"") -> Iterator[tuple[int, bytes]]:
        """Yield (number from 1, line) of every line that is not blank, unpacked, without CR and byte order mark.

        With `holding`, of those that hold these bytes.
        """
        for number, line in enumerate(lines_of(self.path, problems), 1):
            if (line := line.strip()) and holding in line:
                yield number, line

    def objects(
        self, problems: list[Problem], shape: Any = dict[str, Any], holding: bytes = b""
    ) -> Iterator[tuple[int, Any]]:
        """Yield (line, object) of a file of JSON objects a line; what cannot be read is noted by line.

        Args:
            problems: Takes `unreadable_line` (no JSON, or no object), `unreadable_tail` (the last line, cut),
                `glued_line` (several objects on a line, all yielded), `repaired_line` (NaN, lone surrogates, bytes
                that are no UTF-8).
            shape: What an object becomes: a dict, or a struct whose fields take anything.
            holding: Only lines that hold these bytes are looked at.
        """
        decode = msgspec.json.Decoder(shape).decode
        cut: tuple[int, str] | None = None
        for number, line in self.lines(problems, holding):
            if cut is not None:
                self.note(problems, cut[0], "unreadable_line", cut[1])
                cut = None
            try:
                yield number, decode(line)
                continue
            except UNREADABLE as error:
                why = str(error)
            values, code = salvaged(line)
            found = [shaped(value, shape) for value in values if isinstance(value, dict)]
            if found:
                self.note(problems, number, code, f"it was read although {why}.")
            if not found and _is_cut(line):
                cut = number, f"this line is cut: {why}."
            elif len(found) < len(values) or not values:
                self.note(problems, number, "unreadable_line", f"no JSON object: {why}.")
            for one in found:
                yield number, one
        if cut is not None:
            self.note(problems, cut[0], "unreadable_tail", cut[1])

    def data(self, problems: list[Problem]) -> bytes:
        """Return the whole file, unpacked, without a byte order mark."""
        return b"\n".join(lines_of(self.path, problems))

    def document(self, problems: list[Problem]) -> Any:
        """Return the one JSON value of the file, NaN as null; None, noted as `unreadable_file`, where it is none."""
        data = self.data(problems)
        try:
            return _DECODE(data)
        except UNREADABLE as error:
            values, why = salvaged(data)
            if len(values) != 1:
                self.note(problems, 0, "unreadable_file", f"this is no JSON in UTF-8: {error}.")
                return None
            self.note(problems, 0, why, f"it was read although {error}.")
            return values[0]

    def beside(self, name: str) -> Source | None:
        """Return another file that belongs to this one, by its path from this one's folder, and claim it; or None."""
        path = self.path.parent / name
        if path == self.path or not path.is_file():
            return None
        self.claimed.add(path)
        return Source(path, self.claimed)

    def note(self, problems: list[Problem], line: int, code: str, message: str) -> None:
        """Note something that was skipped or doubted; `line` 0 is the whole file."""
        problems.append(Problem(str(self.path), line, code, message))


@dataclass(frozen=True, slots=True)
class Format:
    """A way sessions lie on disk.

    Args:
        name: What `toolkit inspect` shows and `--format` takes.
        recognises: Whether a file is of this format, by its content; cheap, and never raises.
        read: Yields the file's sessions; notes what it skipped. It raises InputError where nothing can be read.
        about: One line on where such files come from.
    """

    name: str
    recognises: Callable[[Source], bool]
    read: Callable[[Source, list[Problem]], Iterator[Session]]
    about: str = field(default="", compare=False)


def parsed(value: Any) -> Any:
    """Return what a JSON text of an object or a list says; everything else is returned as it is.

    >>> parsed('[1]'), parsed('[1'), parsed(None)
    ([1], '[1', None)
    """
    if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
        return value
    try:
        return _DECODE(value)
    except (*UNREADABLE, UnicodeEncodeError):
        values, _ = salvaged(value.encode("utf-8", "surrogatepass"))
        return values[0] if len(values) == 1 else value


def shaped(value: Any, shape: Any) -> Any:
    """Return an object as a shape that may keep parts of it undecoded; a lone surrogate becomes `?` there."""
    if shape == dict[str, Any]:
        return value
    return msgspec.json.decode(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"), type=shape)


def salvaged(data: bytes) -> tuple[list[Any], str]:
    """Return the JSON values of a text that a strict reader refuses, and the code of what was wrong with it.

    NaN and infinities become None, bytes that are no UTF-8 the replacement character; values may follow each other.
    """
    text = data.decode("utf-8", "replace")
    values, at = [], 0
    try:
        while at < len(text):
            value, at = _LENIENT.raw_decode(text, at)
            values.append(value)
            at = _GLUED.match(text, at).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return [], ""
    return values, "glued_line" if len(values) > 1 else "repaired_line"


_LENIENT = json.JSONDecoder(parse_constant=lambda name: None, strict=False)


def _is_cut(line: bytes) -> bool:
    return line[:1] == b"{" and line[-1:] != b"}"


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = _DECODE(line)
    except UNREADABLE:
        values, _ = salvaged(line)
        value = values[0] if values else None
    return value if isinstance(value, dict) else None


def _top_keys(data: bytes) -> Iterator[str]:
    depth, base = 0, 2 if data.lstrip()[:1] == b"[" else 1
    for token in _TOKEN.finditer(data):
        text = token[0]
        if text in b"{[":
            depth += 1
        elif text in b"}]":
            depth -= 1
            if depth < base:
                return
        elif depth == base and token[2] is not None:
            yield token[1].decode("utf-8", "replace")
