"""Running units in this process and in several: the same rows, whatever goes to whom."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from tests.builders import BRANCH, READ, call, said, session, turn
from toolkit.errors import InputError
from toolkit.experiment.comparison.run import CHUNK, Unit, units
from toolkit.experiment.comparison.workers import run
from toolkit.replaying import Setting, System
from toolkit.tool import Catalog

AROUND = Catalog([READ.renamed("mcp.a.b")])


def work(*selectors: Any, sessions: int = 1) -> list[Unit]:
    recorded = [session(turn("create", said("", call(BRANCH.name))), id=str(n)) for n in range(sessions)]
    systems = [System(one, "lexical") for one in selectors]
    return list(units(systems, recorded, Setting(catalog=AROUND), "1"))


def rows(todo: list[Unit], workers: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    run(todo, workers, lambda one: found.update({one.key: (one.passes, one.turns, one.problems)}))
    return found


@pytest.mark.parametrize("sessions", [1, 3 * CHUNK + 1], ids=["few chunks of sessions", "a chunk for each worker"])
def test_workers_find_what_one_process_finds(sessions: int) -> None:
    todo = work("all", "lazy", sessions=sessions)
    assert rows(todo, 2) == rows(todo, 1)
    assert len(rows(todo, 1)) == len(todo)


def test_a_selector_that_cannot_be_sent_to_a_worker_is_refused_before_any_work() -> None:
    with pytest.raises(InputError, match="cannot be sent to a worker"):
        run(work(lambda visible, host: ([], []), "all"), 2, lambda one: None)


def test_a_catalog_that_is_sent_away_takes_no_hash_along() -> None:
    assert hash(AROUND)
    assert "_hash" not in vars(pickle.loads(pickle.dumps(AROUND)))
    assert pickle.loads(pickle.dumps(AROUND)) == AROUND
