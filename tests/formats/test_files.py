"""Files open whatever packs them; what cannot be unpacked is noted with its line, and what stands before it is used."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
import zstandard

from toolkit.errors import InputError
from toolkit.formats.files import Problem, find_files, records

LINES = [b'{"n":%d,"pad":"%s"}' % (n, b"%06x" % (n * 7919) * 12) for n in range(30_000)]
TEXT = b"\n".join(LINES) + b"\n"


def read(path: Path) -> tuple[list[bytes], list[Problem]]:
    problems: list[Problem] = []
    return [one.data for one in records(path, problems)], problems


def put(folder: Path, name: str, data: bytes) -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress], ids=["plain", "gzip", "zstandard"])
def test_a_file_opens_by_its_content_whatever_its_name(tmp_path: Path, pack: object) -> None:
    path = put(tmp_path, "a.jsonl", pack(TEXT))  # type: ignore[operator]
    assert read(path) == (LINES, [])


def test_every_frame_of_a_zstandard_file_is_read(tmp_path: Path) -> None:
    frames = b"".join(zstandard.compress(TEXT[start : start + 100_000]) for start in range(0, len(TEXT), 100_000))
    assert read(put(tmp_path, "a.jsonl.zst", frames)) == (LINES, [])


def test_every_member_of_a_gzip_file_is_read(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a.jsonl.gz", gzip.compress(TEXT) * 2)) == (LINES * 2, [])


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress], ids=["gzip", "zstandard"])
def test_a_truncated_file_gives_what_stands_before_the_cut_and_one_problem(tmp_path: Path, pack: object) -> None:
    packed = pack(TEXT)  # type: ignore[operator]
    path = put(tmp_path, "a.jsonl.x", packed[: len(packed) * 2 // 3])
    found, (problem,) = read(path)
    assert 0 < len(found) < len(LINES) and found == LINES[: len(found)]
    assert (problem.path, problem.line, problem.code) == (str(path), len(found) + 1, "truncated")
    assert "What stands before it is used" in problem.message


@pytest.mark.parametrize("damage", [b"\x1f\x8b" + b"\xff" * 40, b"\x28\xb5\x2f\xfd" + b"\xff" * 40])
def test_a_damaged_file_is_a_problem_and_no_crash(tmp_path: Path, damage: bytes) -> None:
    found, (problem,) = read(put(tmp_path, "a.jsonl", damage))
    assert (found, problem.line, problem.code) == ([], 1, "truncated")


def test_damage_in_the_middle_of_a_gzip_file_keeps_what_came_before(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(TEXT))
    packed[len(packed) // 2 : len(packed) // 2 + 40] = b"\xff" * 40
    found, problems = read(put(tmp_path, "a.jsonl.gz", bytes(packed)))
    assert LINES[:10] == found[:10]
    assert [one.code for one in problems] == ["truncated"]


def test_a_byte_order_mark_is_left_out(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a.jsonl", b'\xef\xbb\xbf{"a":1}\n{"b":2}\n'))[0] == [b'{"a":1}', b'{"b":2}']


def test_blank_lines_count_as_lines_and_as_no_record(tmp_path: Path) -> None:
    problems: list[Problem] = []
    found = list(records(put(tmp_path, "a.jsonl", b"\n{}\n  \n{}"), problems))
    assert [one.line for one in found] == [2, 4]


def test_a_json_file_is_one_record_over_all_its_lines(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a.json", b'{\n"a":\n1}\n'))[0] == [b'{\n"a":\n1}']


def test_a_line_of_five_megabytes_is_one_record(tmp_path: Path) -> None:
    long = b'{"x":"' + b"y" * 5_000_000 + b'"}'
    assert read(put(tmp_path, "a.jsonl", long + b"\n{}\n"))[0] == [long, b"{}"]


def test_an_empty_file_has_no_record_and_no_problem_of_its_own(tmp_path: Path) -> None:
    assert read(put(tmp_path, "a.jsonl", b"")) == ([], [])
    assert read(put(tmp_path, "a.json", b"  \n")) == ([], [])


def test_a_folder_is_its_record_files_in_name_order(tmp_path: Path) -> None:
    for name in ("b.jsonl", "a.json", "c.txt", "sub/d.jsonl.zst"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        put(tmp_path, name, b"")
    assert [str(one.relative_to(tmp_path)) for one in find_files([tmp_path])] == [
        "a.json",
        "b.jsonl",
        "sub/d.jsonl.zst",
    ]


@pytest.mark.parametrize(("name", "says"), [("nothing.jsonl", "does not exist"), ("", "holds no session file")])
def test_a_path_without_files_is_an_error_that_names_it(tmp_path: Path, name: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as raised:
        find_files([tmp_path / name])
    assert str(tmp_path) in str(raised.value)


def test_a_problem_prints_as_file_line_message_and_code() -> None:
    assert str(Problem("a.jsonl", 3, "bad", "it is bad.")) == "a.jsonl:3: it is bad. [bad]"
    assert str(Problem("a.jsonl", 0, "empty", "no record.")) == "a.jsonl: no record. [empty]"
