"""What a set of sessions cannot tell is read off the sessions, each kind by its own sentence."""

from __future__ import annotations

from dataclasses import replace

import pandas as pd

from tests.builders import BRANCH, READ, TOOLS, call, said, session, turn
from toolkit.experiment.comparison.limits import limits
from toolkit.prices.price import Price, Rates
from toolkit.session import Session
from toolkit.tool import Catalog, Tool

TIMED = said("", call(BRANCH.name), timestamp="2026-11-30T10:00:00Z")
CALLING = session(turn("make a branch", TIMED), id="a")
RATES = Rates(1e-6, 1e-7, 1e-6, 1e-6)


def told(
    *sessions: Session, around: Catalog | None = None, prompt: int = 10, tier: int = 0, prefix: str = "cold"
) -> str:
    passes = pd.DataFrame({"session_id": [one.id for one in sessions], "prompt_tokens": [prompt] * len(sessions)})
    price = Price("m", RATES, ((tier, RATES),) if tier else ())
    return "\n".join(limits(sessions, around, passes, {one.id: price for one in sessions}, prefix))


def only(*tools: Tool) -> Session:
    return replace(CALLING, catalog=Catalog(tools))


def test_a_full_set_has_only_the_cold_prefix_to_tell() -> None:
    assert told(CALLING) == (
        "Each session starts with a cold prompt cache; --prefix shared plays definitions that others keep warm."
    )


def test_sessions_that_hold_only_what_they_called_are_counted() -> None:
    assert "1 of 1 session with calls hold only the tools that they called." in told(only(BRANCH))
    around = told(only(BRANCH), CALLING, around=Catalog(TOOLS))
    assert "1 of 2 sessions with calls" in around and "all that a selector could leave out" in around
    assert "hold only" not in told(session(turn("hello", said("hi")), id="quiet"))


def test_definitions_are_judged_by_tool_and_not_by_session() -> None:
    bare = [Tool(f"mcp.far.tool_{n}") for n in range(3)]
    text = told(only(BRANCH, *bare))
    assert "3 of 4 tool definitions have neither description nor schema" in text and "Only called tools" in text
    assert "Only called tools" not in told(only(BRANCH, READ, *bare))


def test_sessions_without_times_are_counted() -> None:
    still = replace(CALLING, id="still", turns=(turn("make a branch", said("", call(BRANCH.name))),))
    assert "1 of 2 sessions have no times: nothing in their prompt cache expires." in told(CALLING, still)


def test_requests_above_a_long_context_tier_are_counted() -> None:
    assert "1 pass of all systems lie above a long-context price tier (5 tokens)." in told(CALLING, tier=5)
    assert "tier" not in told(CALLING, tier=10)


def test_shared_prefixes_are_said_to_be() -> None:
    assert "read from the cache from the first request on" in told(CALLING, prefix="shared")
