"""What a host refuses at its start, before any turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolkit import Host, load_sessions
from toolkit.engine import Answer, HostView
from toolkit.errors import InputError, UnknownNameError
from toolkit.prices.price import USUAL
from toolkit.search import Lexical
from toolkit.tool import Tool

TOOLS = [Tool("builtin.read"), Tool("mcp.git.log", deferred=True)]


@pytest.mark.parametrize(
    ("options", "nearest"), [({"selector": "lasy"}, "lazy"), ({"retriever": "lexcal"}, "lexical")], ids=str
)
def test_s8_a_wrong_name_fails_at_start_and_an_earlier_recording_stays(
    tmp_path: Path, options: dict[str, Any], nearest: str
) -> None:
    path = tmp_path / "live.json"
    Host(TOOLS, record=path).start_turn("kept")
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'"):
        Host(TOOLS, record=path, **options)
    assert load_sessions(path)[0].turns[0].words == "kept"


def test_the_selector_that_is_rule_s1_costs_no_trip_in_a_live_host() -> None:
    host = Host([Tool("builtin.a"), Tool("mcp.x.b", deferred=True)], selector="deferred")
    assert host.start_turn().searchable == ("mcp.x.b",)
    assert host.selector_trips == 0


def test_a_profile_by_name_is_refused_with_the_way_to_get_one() -> None:
    with pytest.raises(InputError, match="toolkit.replaying.profiles"):
        Host([], profile="codex")  # type: ignore[arg-type]


def test_a_retriever_may_be_given_by_its_class() -> None:
    verdict = Host(TOOLS, retriever=Lexical).start_turn().start_pass().search("log")
    assert verdict.code == "ok" and verdict.names == ("mcp.git.log",)


@pytest.mark.parametrize(
    "wrong", [Lexical(TOOLS), 7, lambda query, k: (), object()], ids=lambda one: type(one).__name__
)
def test_what_is_no_retriever_is_refused_at_the_start(wrong: Any) -> None:
    with pytest.raises(InputError, match="no searcher"):
        Host(TOOLS, retriever=wrong)


def test_a_searcher_that_only_answers_ranks_for_selectors_too() -> None:
    def answer(query: str, searchable: Any, declared: Any, limit: int) -> Answer:
        return Answer(tuple((tool.name, 1.0) for tool in (*searchable, Tool("mcp.gone.x")))[:limit])

    host = Host(TOOLS, lambda visible, host: (host.rank("words", 9), []), retriever=answer)
    assert host.start_turn().declared == ("builtin.read", "mcp.git.log")


def test_a_selector_sees_the_price_and_the_window_that_the_host_gives() -> None:
    seen: list[HostView] = []

    def watch(visible: Any, host: HostView) -> tuple[list[str], list[str]]:
        seen.append(host)
        return [], []

    Host(TOOLS, watch, price=USUAL, window=8_000).start_turn()
    assert (seen[0].price, seen[0].window) == (USUAL, 8_000)
