"""Turns, steps and passes as a live host drives them."""

from __future__ import annotations

from toolkit.engine import Host
from toolkit.tool import Tool


def test_a_step_without_an_id_gets_one_that_the_turn_never_had() -> None:
    turn = Host([Tool("builtin.read")]).start_turn("look")
    first, second = turn.start_step(), turn.start_step()
    first.end()
    third = turn.start_step()
    assert len({first.id, second.id, third.id, third.start_step().id}) == 4
