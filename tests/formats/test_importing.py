"""Opened files are read line by line, and what cannot be read is noted by line."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from toolkit.formats.files import Problem
from toolkit.formats.importing import Source


def objects(path: Path) -> tuple[list[tuple[int, object]], list[tuple[int, str]]]:
    problems: list[Problem] = []
    found = list(Source(path).objects(problems))
    return found, [(one.line, one.code) for one in problems]


@pytest.mark.parametrize(
    ("text", "found", "told"),
    [
        (b'{"a":1}\r\n\r\n{"b":2}\r\n', [(1, {"a": 1}), (3, {"b": 2})], []),
        (b'\xef\xbb\xbf{"a":1}', [(1, {"a": 1})], []),
        ('{"a":"x\u2028y"}\n'.encode(), [(1, {"a": "x\u2028y"})], []),
        (b'{"a":1}{"b":2}\n', [(1, {"a": 1}), (1, {"b": 2})], [(1, "glued_line")]),
        (b'{"a":NaN}\n', [(1, {"a": None})], [(1, "repaired_line")]),
        (b'{"a":\n{"b":2}\n', [(2, {"b": 2})], [(1, "unreadable_line")]),
        (b'{"b":2}\n{"a":', [(1, {"b": 2})], [(2, "unreadable_tail")]),
        (b'[1]\n"x"\n{"b":2}\n', [(3, {"b": 2})], [(1, "unreadable_line"), (2, "unreadable_line")]),
        (b'{"a":"\\ud800"}\n', [(1, {"a": "\ud800"})], [(1, "repaired_line")]),
        (b"[" * 100_000 + b'\n{"b":2}\n', [(2, {"b": 2})], [(1, "unreadable_line")]),
    ],
)
def test_objects_are_read_and_bad_lines_told(
    tmp_path: Path, text: bytes, found: list[object], told: list[object]
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(text)
    assert objects(path) == (found, told)


def test_the_head_is_unpacked_whatever_the_file_is_called(tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_bytes(gzip.compress(b'[{"type": "x", "inner": {"no": [1, "b: {"]}, "last": 1}]'))
    assert Source(path).keys == {"type", "inner", "last"}


def test_a_file_beside_is_claimed(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text("{}")
    source = Source(tmp_path / "a.jsonl")
    beside = source.beside("b.jsonl")
    assert beside is not None and source.claimed == {tmp_path / "b.jsonl"}
    assert source.beside("c.jsonl") is None
