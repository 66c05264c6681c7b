"""Every importer reads a sample of its format as it was read before, and no damage to one makes it raise."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.formats.outlines import outline
from toolkit.formats.importing import Source
from toolkit.formats.registry import FORMATS, format_of
from toolkit.formats.sessions import load_sessions

SAMPLES = Path(__file__).parents[1] / "samples"
EXPECTED = sorted(SAMPLES.rglob("*.expected"))
FILES = [path.with_name(path.name.removesuffix(".expected")) for path in EXPECTED]


def named(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_sample_is_read_as_it_is_written_down(path: Path) -> None:
    expected = json.loads(path.with_name(f"{path.name}.expected").read_text("utf-8"))
    assert json.loads(json.dumps(outline(load_sessions(path)))) == expected


@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_sample_is_found_by_its_content_alone(path: Path, tmp_path: Path) -> None:
    found = format_of(Source(path))
    other = tmp_path / "no name of any format"
    other.write_bytes(path.read_bytes())
    assert found is not None and found.name == path.parent.name
    assert format_of(Source(other)) is found


def test_every_format_stands_in_the_folder_of_its_name() -> None:
    assert {path.parent.name for path in FILES} <= {one.name for one in FORMATS.all()}


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("path", FILES, ids=named)
def test_a_damaged_sample_never_raises(path: Path, tmp_path: Path, data: st.DataObject) -> None:
    text = path.read_bytes()
    at = data.draw(st.integers(0, len(text) - 1))
    until = data.draw(st.integers(at, min(len(text), at + 40)))
    put = data.draw(st.sampled_from([b"", b"null", b"[]", b"{}", b'"x"', b"NaN", b"-1", b"\xff", b"\n", b"0", b"true"]))
    damaged = tmp_path / path.name
    damaged.write_bytes(text[:at] + put + text[until:])
    assert "importer_failed" not in [problem.code for problem in load_sessions(damaged).problems]


VALUES = [None, [], {}, "", "x", -1, 1.5, True, [None], {"x": None}, [[]], "[1", '{"a": 1}']


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
@pytest.mark.parametrize("path", [one for one in FILES if one.suffix == ".json"], ids=named)
def test_a_value_of_another_kind_anywhere_never_raises(path: Path, tmp_path: Path, data: st.DataObject) -> None:
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if is_lines(path) else None
    value = json.loads(path.read_text("utf-8")) if rows is None else rows
    places = list(walk(value))
    holder, key = places[data.draw(st.integers(0, len(places) - 1))]
    holder[key] = data.draw(st.sampled_from(VALUES))
    damaged = tmp_path / path.name
    text = json.dumps(value) if rows is None else "\n".join(json.dumps(row) for row in rows)
    damaged.write_text(text, "utf-8")
    assert "importer_failed" not in [problem.code for problem in load_sessions(damaged).problems]


def is_lines(path: Path) -> bool:
    try:
        json.loads(path.read_text("utf-8"))
    except ValueError:
        return True
    return False


def walk(value: object):  # type: ignore[no-untyped-def]
    """Yield (holder, key) of every value inside a JSON value."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in list(pairs):
        yield value, key
        yield from walk(inner)
