"""Units of work: what they depend on, and that they say what became of every turn."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.builders import BRANCH, READ, call, event, said, session, turn
from toolkit.experiment.comparison.run import CHUNK, Done, Runner, Unit, units
from toolkit.replaying import Setting, System
from toolkit.session import Session
from toolkit.tool import Catalog

ONE = session(turn("create a branch", said("", call(BRANCH.name), call(READ.name))))


def made(
    *sessions: Session, system: Any = "all", around: Any = None, defer: Any = (), version: str = "1"
) -> list[Unit]:
    chosen = system if isinstance(system, System) else System(system, "lexical")
    return list(units([chosen], sessions, Setting(model="o200k_base", catalog=around, defer=defer), version))


def key(**changes: Any) -> str:
    return made(changes.pop("session", ONE), **changes)[0].key


def other(visible: Any, host: Any, k: int = 1) -> Any:
    return [], []


def test_units_hold_a_chunk_of_sessions_each() -> None:
    many = [session(id=str(n)) for n in range(CHUNK + 1)]
    assert [len(one.sessions) for one in made(*many)] == [CHUNK, 1]


def test_a_key_is_the_same_for_the_same_work_and_another_for_other_work() -> None:
    assert key() == key()
    different = [
        key(),
        key(session=session(turn("another"))),
        key(system="lazy"),
        key(system=System("all", "regex")),
        key(system=System("all", "lexical", query_model="turn_input")),
        key(system=other),
        key(system=partial(other, k=2)),
        key(system="tests.experiment.comparison.test_run:other"),
        key(around=Catalog([READ.renamed("mcp.a.b")])),
        key(defer=("mcp.*",)),
        key(version="2"),
    ]
    assert len(set(different)) == len(different)


def test_changed_code_of_a_selector_makes_another_key(monkeypatch: pytest.MonkeyPatch) -> None:
    from toolkit.experiment.comparison import run as module

    before = key(system="tests.experiment.comparison.test_run:other")
    monkeypatch.setattr(module.inspect, "getsource", lambda thing: "changed")
    assert key(system="tests.experiment.comparison.test_run:other") != before


def done(recorded: Session, selector: Any) -> Done:
    return Runner().run(made(recorded, system=selector)[0])


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("all", (2, 2, 0, 0, 0)),
        ("lazy", (2, 2, 1, 0, 0)),
        ("builtin-only", (2, 1, 0, 0, 1)),
        ("oracle", (2, 2, 0, 0, 0)),
    ],
)
def test_a_turn_row_adds_up(selector: str, expected: tuple[int, ...]) -> None:
    (row,) = done(ONE, selector).turns
    assert (row.calls, row.served, row.searched, row.missed, row.blocked) == expected
    assert row.calls == row.served + row.missed + row.blocked
    assert row.declared + row.searchable + row.withheld == row.visible - (row.searchable == 0)


def test_what_could_not_be_replayed_as_recorded_is_a_problem() -> None:
    odd = session(turn("x", events=(event("moved"),)), source="a.jsonl:7")
    (problem,) = done(odd, "all").problems
    assert (problem.path, problem.line, problem.code) == ("a.jsonl", 7, "bad_event")
    assert "session 's' under all: unknown event 'moved'" in problem.message


def test_a_failing_selector_is_one_problem_that_counts_its_turns() -> None:
    def broken(visible: Any, host: Any) -> Any:
        raise ValueError("no idea")

    (problem,) = done(session(turn("x"), turn("y")), broken).problems
    assert problem.code == "selector_failed"
    assert "ValueError: no idea (2 turns)" in problem.message


def test_a_selector_can_weigh_what_a_declaration_costs() -> None:
    seen: dict[str, int] = {}

    def weighing(visible: Any, host: Any) -> Any:
        seen.update({one.name: host.tokens(one.name) for one in visible})
        return [], []

    done(ONE, weighing)
    assert seen[BRANCH.name] > 0 and host_names(seen) >= {BRANCH.name, READ.name}


def host_names(seen: dict[str, int]) -> set[str]:
    return set(seen)
