"""A package file is taken only with the pinned digest, and nothing in it becomes a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.formats.datasets.wheels import pinned, wheel
from toolkit.errors import InputError
from toolkit.formats.datasets.package import Package, checked
from toolkit.formats.files import Problem


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return wheel(tmp_path / "demo-1-py3-none-any.whl", {"a.json": {"x": 1}, "rows.json": '{"x": 1}\n\nno\n{"x": 2}\n'})


def test_a_file_with_the_pinned_digest_is_read_member_by_member(path: Path) -> None:
    assert checked(path, pinned("nestful", path)).json("a.json") == {"x": 1}


def test_a_file_with_another_digest_is_refused_and_both_digests_are_named(path: Path) -> None:
    chosen = pinned("nestful", path)
    with path.open("ab") as file:
        file.write(b"!")
    with pytest.raises(InputError, match=f"expected {chosen.sha256}"):
        checked(path, chosen)


def test_a_file_that_is_not_there_is_told_by_the_name_that_was_expected(path: Path) -> None:
    with pytest.raises(InputError, match="Expected demo-1"):
        checked(path.with_name("other.whl"), pinned("nestful", path))


def test_a_member_that_is_missing_is_named(path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no b\.json"):
        Package(path).read("b.json")


def test_a_file_that_is_no_wheel_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.whl").write_text("not a zip")
    with pytest.raises(InputError, match=r"x\.whl holds no a\.json"):
        Package(tmp_path / "x.whl").read("a.json")


def test_a_member_that_is_no_json_is_told(path: Path) -> None:
    with pytest.raises(InputError, match=r"rows\.json in demo-1-py3-none-any\.whl is no JSON"):
        Package(path).json("rows.json")


def test_a_bad_line_is_noted_and_the_others_stay(path: Path) -> None:
    problems: list[Problem] = []
    assert Package(path).lines("rows.json", problems) == [{"x": 1}, {"x": 2}]
    assert [(one.path, one.line, one.code) for one in problems] == [("rows.json", 3, "bad_row")]
