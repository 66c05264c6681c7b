"""What a set of sessions cannot tell, read off the sessions and the figures themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from toolkit.errors import counted
from toolkit.prices.price import Price
from toolkit.session import Session
from toolkit.tool import Catalog

if TYPE_CHECKING:
    import pandas as pd


def limits(
    sessions: Sequence[Session],
    around: Catalog | None,
    passes: pd.DataFrame,
    prices: Mapping[str, Price | None],
    prefix: str,
) -> list[str]:
    """Return what must be known of the sessions before their figures are believed, a sentence each.

    Args:
        sessions: The recordings.
        around: More tools around them.
        passes: The pass frame.
        prices: Session id → price of its model.
        prefix: Whether prefixes start cold or are shared.
    """
    found = (_only_called(sessions, around), _schemas(sessions), _no_times(sessions), _tiers(passes, prices))
    return [*filter(None, found), *_prefixes(prefix)]


def _only_called(sessions: Sequence[Session], around: Catalog | None) -> str:
    """Sessions that hold no more tools than they called have nothing to leave out."""
    asked = [session for session in sessions if any(True for _ in session.calls())]
    bare = sum(all(tool.name in _called(session) for tool in session.catalog) for session in asked)
    if not bare:
        return ""
    rest = " The tools around them are all that a selector could leave out." if around else ""
    return f"{bare:,} of {counted(len(asked), 'session')} with calls hold only the tools that they called.{rest}"


def _called(session: Session) -> set[str]:
    return {call.name for call in session.calls()}


def _schemas(sessions: Sequence[Session]) -> str:
    """Definitions are judged by tool: a session may hold a schema for what it called and for nothing else."""
    tools = [(tool, _called(session)) for session in sessions for tool in session.catalog]
    bare = [(tool, called) for tool, called in tools if not tool.schema_text and not tool.description]
    if not bare:
        return ""
    known = sum(tool.name in called for tool, called in tools if tool.schema_text)
    all_called = known and known == sum(bool(tool.schema_text) for tool, _ in tools)
    which = " Only called tools have one." if all_called else ""
    return (
        f"{len(bare):,} of {counted(len(tools), 'tool definition')} have neither description nor schema: what it costs "
        f"to declare them is a lower bound, and no search finds them by their text.{which}"
    )


def _no_times(sessions: Sequence[Session]) -> str:
    without = sum(not any(one.timestamp for one in session.passes()) for session in sessions)
    if not without:
        return ""
    return f"{without:,} of {counted(len(sessions), 'session')} have no times: nothing in their prompt cache expires."


def _tiers(passes: pd.DataFrame, prices: Mapping[str, Price | None]) -> str:
    """Requests above a long-context tier cost more for all their tokens."""
    starts = {id: price.tiers[0][0] for id, price in prices.items() if price is not None and price.tiers}
    above = int((passes["prompt_tokens"] > passes["session_id"].map(starts).astype("float64")).sum())
    if not above:
        return ""
    tier = min(starts.values())
    return f"{counted(above, 'pass', 'passes')} of all systems lie above a long-context price tier ({tier:,} tokens)."


def _prefixes(prefix: str) -> Iterator[str]:
    if prefix == "shared":
        yield (
            "Definitions that a system declares in every session are read from the cache from the first request on; "
            "systems that look at the conversation start cold."
        )
    else:
        yield "Each session starts with a cold prompt cache; --prefix shared plays definitions that others keep warm."
