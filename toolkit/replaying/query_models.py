"""Query models: what the model would have asked, since a recording of another host holds no such query.

A model sees what the model had seen before the call, never the called tool, unless it is optimistic
and says so in its name.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

from toolkit import specs
from toolkit.errors import InputError, ToolkitError, UnknownNameError, nearest

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


class NoQuery(ToolkitError):
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
    """Ask in what the model said last and the turn's input at once, then in each alone.

    >>> last_words_and_input(Seen("", "Yes, do it.", "Shall I cancel the order?"))
    ['Shall I cancel the order?\\nYes, do it.', 'Yes, do it.', 'Shall I cancel the order?']
    """
    return distinct(f"{seen.last_words.strip()}\n{seen.turn_input.strip()}", seen.turn_input, seen.last_words)


def recorded(seen: Seen) -> list[str]:
    """Ask what the recorded model asked, where its host had a search too.

    Raises:
        NoQuery: The recording holds no search in this turn before the call.
    """
    asked = distinct(*seen.recorded)
    if not asked:
        raise NoQuery("the recording holds no search in the turn before the call")
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
_WITH_OPTIONS = {
    "short_phrase": "toolkit.replaying.short_phrase:ShortPhrase",
    "llm": "toolkit.replaying.llm_query:Llm",
}
_registered: dict[str, Any] = {}
OPTIMISTIC = frozenset(("optimistic",))


def register(name: str) -> Callable[[Any], Any]:
    """Register a function from `Seen` to queries, or a class that builds one, under a name."""

    def keep(made: Any) -> Any:
        _registered[name] = made
        query_model.cache_clear()
        return made

    return keep


def known_query_models() -> list[str]:
    """Return the names that `query_model` knows, sorted."""
    return sorted({*MODELS, *_WITH_OPTIONS, *_registered})


@lru_cache(maxsize=64)
def query_model(spec: str) -> QueryModel:
    """Return the query model of a spec: a name, `short_phrase(words=8)`, `pkg.mod:function`.

    Raises:
        UnknownNameError: There is none of that name.
        InputError: The spec cannot be read, or an option is unknown or out of range.

    >>> query_model("short_phrase(words=8)")
    short_phrase(words=8)
    """
    name, args, options = specs.parse(spec) if "(" in spec else specs.Spec(spec)
    found = _find(name)
    if isinstance(found, type):
        return _built(name, found, args, options)
    if args or options:
        raise InputError(f"query model {name!r} has no options.", hint=f"Give it as {name!r}.")
    model: QueryModel = found
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
    except NoQuery as why:
        return own_words(seen), why.message
    return distinct(*([queries] if isinstance(queries, str) else queries)), ""


def distinct(*texts: str) -> list[str]:
    """Return the texts that are not blank, each once, as many as there are tries."""
    kept = dict.fromkeys(text.strip() for text in texts if text.strip())
    return list(kept)[:MOST_TRIES]


def _find(name: str) -> Any:
    known = {**MODELS, **_WITH_OPTIONS, **_registered}
    if name not in known and ":" not in name:
        raise UnknownNameError("query model", name, known)
    found = known.get(name, name)
    return _imported(found) if isinstance(found, str) else found


def _imported(path: str) -> Any:
    module, _, attribute = path.partition(":")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise InputError(f"query model {path!r} cannot be imported: {error}.", hint="Expected pkg.mod:name.") from error


def _built(name: str, kind: type, args: tuple[Any, ...], options: Mapping[str, Any]) -> QueryModel:
    known = list(inspect.signature(kind).parameters)
    takes = f"It takes: {', '.join(known) or 'none'}."
    for option in options:
        if option not in known:
            near = nearest(option, known)
            hint = f"Did you mean {near!r}? {takes}" if near else takes
            raise InputError(f"query model {name!r} has no option {option!r}.", hint=hint)
    try:
        model: QueryModel = kind(*args, **options)
    except TypeError as error:
        raise InputError(f"query model {name!r}: {error}.", hint=takes) from error
    return model
