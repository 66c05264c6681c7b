"""Query models: what the model would have asked, since a recording of another host holds no such query.

A model sees what the model had seen before the call, never the called tool, unless it is optimistic
and says so in its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol, TypeVar, runtime_checkable

from toolkit import specs
from toolkit.errors import ToolkitError
from toolkit.plugins import Registry

MOST_TRIES = 3


@dataclass(frozen=True, slots=True)
class Seen:
    """What the model had seen when it needed a tool.

    Attributes:
        words: Its own words in this pass before the call.
        turn_input: The turn's input.
        last_words: What it had said last before this pass.
        called: The called tool's name; empty unless the query model is optimistic.
        recorded: What the recorded model searched for in this turn before this pass, if its host had a
            search: the searches that the pass waited for in their order, then older ones, newest first.
    """

    words: str
    turn_input: str
    last_words: str = ""
    called: str = ""
    recorded: tuple[str, ...] = ()


QueryModel = Callable[[Seen], Sequence[str]]
Q = TypeVar("Q", bound=Callable[..., object])


class NoQueryError(ToolkitError):
    """A query model has no query to give here; own words are asked instead, and counted."""

    code = "no_query"


@runtime_checkable
class Remote(Protocol):
    """A query model that depends on something outside, and can say before a run whether it is there."""

    def probe(self) -> None: ...


def own_words(seen: Seen) -> list[str]:
    """Ask in the model's own words of that pass, else in the turn's input; then in what it said last.

    >>> own_words(Seen("I'll look up the order.", "Where is my parcel?"))
    ["I'll look up the order.", 'Where is my parcel?']
    """
    return distinct(seen.words, seen.turn_input, seen.last_words)


def turn_input(seen: Seen) -> list[str]:
    """Ask in the turn's input, then in what the model said last."""
    return distinct(seen.turn_input, seen.last_words)


def last_words_and_input(seen: Seen) -> list[str]:
    r"""Ask in what the model said last and the turn's input at once, then in each alone.

    >>> last_words_and_input(Seen("", "Yes, do it.", "Shall I cancel the order?"))
    ['Shall I cancel the order?\nYes, do it.', 'Yes, do it.', 'Shall I cancel the order?']
    """
    return distinct(f"{seen.last_words.strip()}\n{seen.turn_input.strip()}", seen.turn_input, seen.last_words)


def recorded(seen: Seen) -> list[str]:
    """Ask what the recorded model asked, where its host had a search too.

    Raises:
        NoQueryError: The recording holds no search in this turn before the call.
    """
    asked = distinct(*seen.recorded)
    if not asked:
        raise NoQueryError("the recording holds no search in the turn before the call")
    return asked


def optimistic(seen: Seen) -> list[str]:
    """Ask for the called tool by the words of its name: an upper bound, never a forecast.

    >>> optimistic(Seen("", "", called="mcp.git.create_branch"))
    ['create branch']
    """
    leaf = seen.called.rpartition(".")[2]
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", re.sub(r"[^0-9A-Za-z]+", " ", leaf))
    return distinct(spaced.lower(), *own_words(seen))


def pessimistic(seen: Seen) -> list[str]:
    """Ask once, in the turn's input, and leave it at that: a lower bound, never a forecast.

    `own_words`, `turn_input` and `optimistic` ask the same after their other queries, so with the same
    offers none of them ever misses a call that this finds. It saves trips by missing more.

    >>> pessimistic(Seen("I'll look up the order.", "Where is my parcel?"))
    ['Where is my parcel?']
    """
    return distinct(seen.turn_input)


MODELS: Mapping[str, QueryModel] = {
    "own_words": own_words,
    "turn_input": turn_input,
    "last_words+input": last_words_and_input,
    "recorded": recorded,
    "optimistic": optimistic,
    "pessimistic": pessimistic,
}
QUERY_MODELS = Registry("query model", "toolkit.query_models", given=1, wants="a function from Seen to queries")
QUERY_MODELS.built_in.update(MODELS)
OPTIMISTIC = frozenset(("optimistic",))


def register(name: str) -> Callable[[Q], Q]:
    """Register a function from `Seen` to queries, or a class that builds one, under a name."""
    query_model.cache_clear()
    return QUERY_MODELS.register(name)


@lru_cache(maxsize=64)
def query_model(spec: str) -> QueryModel:
    """Return the query model of a spec: a name, `short_phrase(words=8)`, `pkg.mod:function`.

    Raises:
        UnknownNameError: There is none of that name.
        InputError: The spec cannot be read, or an option is unknown or out of range.

    >>> query_model("short_phrase(words=8)")
    short_phrase(words=8)
    """
    model: QueryModel = QUERY_MODELS.make(*(specs.parse(spec) if "(" in spec else specs.Spec(spec)))
    return model


def check_query_model(spec: str) -> None:
    """Raise now what would only be found out in the run: a wrong spec, an endpoint that is down."""
    model = query_model(spec)
    if isinstance(model, Remote):
        model.probe()


def asked(model: QueryModel, seen: Seen) -> tuple[list[str], str]:
    """Return what a query model asks, or own words and why they had to do."""
    try:
        queries = model(seen)
    except NoQueryError as why:
        return own_words(seen), why.message
    return distinct(*([queries] if isinstance(queries, str) else queries)), ""


def distinct(*texts: str) -> list[str]:
    """Return the texts that are not blank, each once, as many as there are tries."""
    kept = dict.fromkeys(text.strip() for text in texts if text.strip())
    return list(kept)[:MOST_TRIES]
