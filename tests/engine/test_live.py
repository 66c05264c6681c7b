"""Turns, steps and passes as a live host drives them."""

from __future__ import annotations

from toolkit.engine import Host, HostView
from toolkit.tool import Tool


def test_a_step_without_an_id_gets_one_that_the_turn_never_had() -> None:
    turn = Host([Tool("builtin.read")]).start_turn("look")
    first, second = turn.start_step(), turn.start_step()
    first.end()
    third = turn.start_step()
    assert len({first.id, second.id, third.id, third.start_step().id}) == 4


def test_a_selector_is_told_how_many_requests_an_earlier_turn_took_and_how_long_the_history_is() -> None:
    seen: list[HostView] = []

    def watch(visible: object, host: HostView) -> tuple[list[str], list[str]]:
        seen.append(host)
        return [], []

    host = Host([Tool("builtin.read")], watch)
    turn = host.start_turn("look")
    turn.start_pass()
    turn.start_step().start_pass()
    host.start_turn("again", 120)
    assert [view.history_tokens for view in seen] == [0, 0, 120]
    assert seen[-1].earlier[0].passes == 2
