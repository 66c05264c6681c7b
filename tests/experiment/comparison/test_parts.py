"""Finished parts on disk are whole or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolkit.errors import InputError
from toolkit.experiment.comparison.options import Execution
from toolkit.experiment.comparison.parts import Parts
from toolkit.experiment.comparison.run import Done, TurnRow
from toolkit.formats.files import Problem
from toolkit.ledger import PassRow

PASS = PassRow("s", "all", 1, 1, "recorded", *range(6), 15, 0, 15, 3, 0, 0)
TURN = TurnRow("s", "all", 1, 4, 0, 0, 4, 1, 0, 1, 1, 0, 0, 0, True, "")
DONE = Done("k", [PASS], [TURN], [Problem("a", 1, "c", "m")])


def test_what_was_put_comes_back_equal(tmp_path: Path) -> None:
    Parts(tmp_path / "parts").put(DONE)
    assert Parts(tmp_path / "parts").get("k") == DONE
    assert [one.name for one in (tmp_path / "parts").iterdir()] == ["k.msgpack"]


def test_what_is_not_there_or_cannot_be_read_is_missing(tmp_path: Path) -> None:
    parts = Parts(tmp_path)
    parts.put(DONE)
    (tmp_path / "k.msgpack").write_bytes((tmp_path / "k.msgpack").read_bytes()[:-5])
    assert parts.get("k") is None
    assert parts.get("other") is None


def test_never_uses_nothing_that_is_there(tmp_path: Path) -> None:
    Parts(tmp_path).put(DONE)
    assert Parts(tmp_path, "never").get("k") is None


def test_without_a_folder_nothing_is_kept() -> None:
    parts = Parts(None)
    parts.put(DONE)
    assert parts.get("k") is None


def test_another_mode_is_refused() -> None:
    with pytest.raises(InputError, match="always, never, only-missing, only-cache, not 'sometimes'"):
        Execution(resume="sometimes")
