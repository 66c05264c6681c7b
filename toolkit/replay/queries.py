"""Query models: what the model would have asked, since a recording of another host holds no such query.

A model sees what the model had seen before the call, never the called tool, unless it is optimistic
and says so in its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from toolkit.errors import UnknownNameError

MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model had seen when it needed a tool.

    Attributes:
        words: Its own words in this pass before the call.
        turn_input: The turn's input.
        last_words: What it had said last before this pass.
        called: The called tool's name; empty unless the query model is optimistic.
    """

    words: str
    turn_input: str
    last_words: str = ""
    called: str = ""


QueryModel = Callable[[Seen], Sequence[str]]


def own_words(seen: Seen) -> list[str]:
    """Ask in the model's own words of that pass, else in the turn's input; then in what it said last.

    >>> own_words(Seen("I'll look up the order.", "Where is my parcel?"))
    ["I'll look up the order.", 'Where is my parcel?']
    """
    return _distinct(seen.words, seen.turn_input, seen.last_words)


def turn_input(seen: Seen) -> list[str]:
    """Ask in the turn's input, then in what the model said last."""
    return _distinct(seen.turn_input, seen.last_words)


def optimistic(seen: Seen) -> list[str]:
    """Ask for the called tool by the words of its name: an upper bound, never a forecast.

    >>> optimistic(Seen("", "", called="mcp.git.create_branch"))
    ['create branch']
    """
    leaf = seen.called.rpartition(".")[2]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[^0-9A-Za-z]+", " ", leaf))
    return _distinct(spaced.lower(), *own_words(seen))


MODELS: dict[str, QueryModel] = {"own_words": own_words, "turn_input": turn_input, "optimistic": optimistic}
OPTIMISTIC = frozenset(("optimistic",))


def query_model(name: str) -> QueryModel:
    """Return a query model by name.

    Raises:
        UnknownNameError: There is none of that name.
    """
    if name not in MODELS:
        raise UnknownNameError("query model", name, MODELS)
    return MODELS[name]


def _distinct(*texts: str) -> list[str]:
    kept = dict.fromkeys(text.strip() for text in texts if text.strip())
    return list(kept)[:MOST_TRIES]
