"""`check_format` passes ATIF and a small log, and finds what breaks each rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, DATASET, call, said, session, turn
from toolkit.errors import UnknownNameError
from toolkit.formats.importing import Format, Source
from toolkit.formats.native.write import write_sessions
from toolkit.formats.plain import PLAIN
from toolkit.session import Session
from toolkit.testing import check_format
from toolkit.testing.format_rules import RULES


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_text('{"user": "hello", "tools": ["a", "b"]}\n{"user": "and then?", "tools": []}\n')
    return path


def test_atif_keeps_the_rules(tmp_path: Path) -> None:
    path = tmp_path / "own.jsonl"
    write_sessions([session(turn("create a branch", said("", call(BRANCH.name))))], path)
    assert check_format("atif", [path, DATASET]).failures == ()


def test_a_small_log_keeps_the_rules(log: Path) -> None:
    found = check_format(PLAIN, [log])
    assert [one.rule for one in found.findings] == list(RULES)


def raising(source: Source, problems: Any) -> Iterator[Session]:
    for one in PLAIN.read(source, problems):
        if one.turns[0].input != "hello" or len(one.turns) != 2:
            raise KeyError("turns")
        yield one


def silent(source: Source, problems: Any) -> Iterator[Session]:
    yield from PLAIN.read(source, [])


def nothing(source: Source, problems: Any) -> Iterator[Session]:
    yield from ()


def choosy(source: Source) -> bool:
    return bool(source.head.decode())


@pytest.mark.parametrize(
    ("broken", "rule", "says"),
    [
        (replace(PLAIN, recognises=lambda source: False), "recognised", "is not recognised"),
        (replace(PLAIN, recognises=lambda source: True), "others", "is recognised"),
        (replace(PLAIN, recognises=choosy), "others", "recognised"),
        (replace(PLAIN, read=nothing), "sessions", "gives no turn"),
        (replace(PLAIN, read=silent), "tail", "nothing more is told"),
        (replace(PLAIN, read=raising), "damaged", "KeyError"),
    ],
    ids=["deaf", "greedy", "choosy", "empty", "silent", "raising"],
)
def test_what_breaks_a_rule_is_told_with_an_example(broken: Format, rule: str, says: str, log: Path) -> None:
    found = check_format(broken, [log], report=True)
    assert says in next(one.why for one in found.findings if one.rule == rule)


def test_a_format_that_is_not_known_is_told() -> None:
    with pytest.raises(UnknownNameError, match="unknown format 'atiff'. Did you mean 'atif'"):
        check_format("atiff", [])
