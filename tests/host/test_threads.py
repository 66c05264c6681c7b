"""Threads may share a host: nothing that one of them says is lost."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from toolkit import Host, load_sessions
from toolkit.errors import IllegalStepError
from toolkit.replaying.rerun import rerun
from toolkit.tool import Tool

TOOLS = [Tool(f"builtin.tool_{number}") for number in range(3)]


@pytest.fixture(autouse=True)
def switching_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(*jobs: Callable[[], Any]) -> None:
    """Run jobs at once, each in a thread of its own; raise what one of them raised."""
    raised: list[BaseException] = []
    gate = threading.Barrier(len(jobs))

    def run(job: Callable[[], Any]) -> None:
        gate.wait()
        try:
            job()
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for error in raised:
        raise error


@pytest.mark.parametrize("number", range(100))
def test_a_deny_is_never_lost_to_what_another_thread_says(number: int) -> None:
    host = Host(TOOLS)
    one = host.start_turn("go").start_pass()
    together(
        lambda: host.set_policy({"builtin.tool_0": "deny"}),
        lambda: [host.server_down(f"s{number}") for number in range(3)],
        lambda: host.extension("notes").hide(["builtin.tool_1"]),
        lambda: one.call("builtin.tool_2"),
    )
    assert one.call("builtin.tool_0").code == "denied"
    assert host.state.down == {"s0", "s1", "s2"}
    assert host.start_turn("again").declared == ("builtin.tool_2",)


def test_what_many_threads_do_is_recorded_in_the_order_in_which_it_happened(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    host = Host(TOOLS, record=path)

    def turns() -> None:
        for number in range(8):
            host.start_turn(f"turn {number}")

    def calls() -> None:
        for number in range(12):
            try:
                host.start_turn("another").start_pass().call(f"builtin.tool_{number % 3}")
            except IllegalStepError:  # another thread has started the next turn
                continue

    def denies() -> None:
        for number in range(12):
            host.set_policy({f"builtin.tool_{number % 3}": "deny"})

    together(turns, calls, denies)
    again = rerun(load_sessions(path))
    assert again.same and not load_sessions(path).problems, again.differences
