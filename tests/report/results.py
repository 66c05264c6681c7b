"""A small comparison with foreign text wherever foreign text can stand."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from tests.builders import BRANCH, READ, call, said, session, turn
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.study import compare
from toolkit.formats.files import Problem

EVIL = "<script>alert(1)</script>"


def nasty(visible: Any, host: Any) -> Any:
    return [one.name for one in visible[:2]], []


nasty.__name__ = f"{EVIL} $\\frac$"


@cache
def result() -> Comparison:
    recorded = [
        session(turn("create a branch", said("", call(BRANCH.name)), said("ok")), id="a"),
        session(turn("read it", said("", call(READ.name))), turn("thanks", said("bye")), id="b"),
    ]
    made = compare(recorded, ["lazy", "builtin-only", nasty], retriever="lexical", progress=False)
    return replace(made, problems=(*made.problems, Problem(EVIL, 3, EVIL, EVIL)))
