"""A selector that fails in any way costs its turn the selection, and nothing else (S2, S7)."""

from __future__ import annotations

import sys
import time
from asyncio import CancelledError
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from toolkit.engine import HostView, Selection
from toolkit.host import Host, Turn, choosing
from toolkit.tool import Tool

TOOLS = [Tool("builtin.read"), Tool("mcp.git.log", deferred=True)]
PLAIN = ("tools.search", "builtin.read")


class Wordless(Exception):
    """An error that fails at saying what it is."""

    def __str__(self) -> str:
        raise RuntimeError("no words")


def raising(error: BaseException) -> Callable[..., Any]:
    def select(visible: Any, host: Any) -> Any:
        raise error

    return select


def giving(notices: Any) -> Callable[..., Selection]:
    return lambda visible, host: Selection([], [], notices)


def started(selector: Any, time_limit: float | None, **options: Any) -> Turn:
    return Host(TOOLS, selector=selector, time_limit=time_limit, **options).start_turn("look")


@pytest.mark.parametrize("time_limit", [None, 5.0])
@pytest.mark.parametrize(
    ("selector", "says"),
    [
        (raising(ValueError("no such thing")), "ValueError: no such thing"),
        (raising(Wordless()), "Wordless"),
        (lambda visible, host: sys.exit(3), "SystemExit: 3"),
        (raising(GeneratorExit("gone")), "GeneratorExit: gone"),
        (raising(CancelledError("stopped")), "CancelledError: stopped"),
        (giving("mode_changed"), "TypeError: a list of names was expected, a str came"),
        (giving((5,)), "TypeError: names must be text, a int came"),
        (lambda visible, host: host, "TypeError: two lists, declared and searchable, were expected, a HostView came"),
    ],
)
def test_s7_a_failure_falls_back_and_says_what_was_wrong(selector: Any, says: str, time_limit: float | None) -> None:
    turn = started(selector, time_limit)
    assert turn.declared == PLAIN and turn.notices == ("selector_failed",)
    assert dict(turn.details) == {"selector_failed": says}


def test_s7_an_interruption_that_a_selector_raises_within_its_time_is_its_failure() -> None:
    turn = started(raising(KeyboardInterrupt()), 5.0)
    assert turn.declared == PLAIN and turn.notices == ("selector_failed",)


def test_s7_a_selector_that_takes_too_long_is_not_waited_for() -> None:
    before = time.monotonic()
    turn = started(lambda visible, host: time.sleep(5), 0.05)
    assert time.monotonic() - before < 2
    assert turn.details["selector_failed"] == "TimeoutError: no answer within 0.05 s"


def test_s2_a_selector_cannot_change_the_configuration_that_it_is_given() -> None:
    def select(visible: Any, host: Any) -> Any:
        host.config["k"] = 99
        return [], []

    config = {"k": 3}
    assert started(select, None, config=config).notices == ("selector_failed",)
    assert config == {"k": 3}


@dataclass(frozen=True)
class SlowSearch:
    """A searcher that takes its time, as one that loads its model does."""

    seconds: float

    def rank(self, query: str, tools: Any, k: int) -> Any:
        time.sleep(self.seconds)
        return [(tool.name, 1.0) for tool in tools][:k]


def ranks(visible: Any, host: HostView) -> Any:
    return host.rank("words", 1), []


def test_s7_what_the_host_ranks_is_not_the_selectors_time() -> None:
    host = Host(TOOLS, ranks, time_limit=0.1)
    host._searcher = SlowSearch(0.3)
    assert "selector_failed" not in host.start_turn("look").notices


def test_s7_a_ranking_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choosing, "RANKING", 0.1)
    host = Host(TOOLS, ranks, time_limit=0.1)
    host._searcher = SlowSearch(5)
    assert "selector_failed" in host.start_turn("look").notices
