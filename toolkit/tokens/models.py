"""What is known of a model by its name alone: one table, `models.toml`, and the rows that plug-ins bring."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from fnmatch import fnmatchcase
from functools import lru_cache
from importlib.resources import files
from typing import Any

from toolkit.errors import InputError, UnknownNameError
from toolkit.plugins import Registry
from toolkit.tokens.request import TokenCounter

Maker = Callable[[str, str, str], TokenCounter | None]
"""Gets provider, API and model; returns a counter, or None where it does not answer for them."""

Row = Mapping[str, Any]
CACHE = frozenset(("mode", "minimum", "step", "lifetime"))
PRICES = frozenset(("from", "input", "cached", "write", "output"))
_HOSTS = ("openai.", "databricks-")
"""How a host may begin its name for a model, beside a path of vendors that ends in a slash."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What the table says of one model; `models.toml` says what each field means."""

    family: str = "any"
    counter: str = ""
    rules: str = ""
    vocabulary: str = "o200k_base"
    cache: Mapping[str, Any] = field(default_factory=dict)
    window: int | None = None
    price: str = ""
    prices: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Provider:
    """All that a provider brings, in one value: registered as a counter, or by an entry point `toolkit.counters`.

    Args:
        counter: Who counts its prompts; None where the facts name a built-in counter or an estimate will do.
        models: Rows as in `models.toml`, each with `match` and `source`; they come before the table's own.
    """

    counter: Maker | None = None
    models: tuple[Row, ...] = ()

    def __call__(self, provider: str, api: str, model: str) -> TokenCounter | None:
        return self.counter(provider, api, model) if self.counter is not None else None


PROVIDERS = Registry("counter", "toolkit.counters", given=3, wants="a Provider, or a function of provider, API, model")


def facts(model: str) -> ModelFacts:
    """Return what is known of a model; each fact is that of the first row that fits and states it.

    >>> facts("anthropic/claude-sonnet-4.5").rules, facts("gpt-4-0613").vocabulary, facts("zeta-9").family
    ('claude-4.5', 'cl100k_base', 'any')
    """
    return _facts(model, tuple(one for one in PROVIDERS.all() if isinstance(one, Provider)))


@lru_cache(maxsize=1024)
def _facts(model: str, brought: tuple[Provider, ...]) -> ModelFacts:
    spelled = spellings(model)
    told: dict[str, Any] = {}
    for row in (*(checked(row) for one in brought for row in one.models), *table()):
        if any(fnmatchcase(name, pattern) for pattern in row["match"] for name in spelled):
            told = {**row, **told}
    return ModelFacts(**{name: _frozen(value) for name, value in told.items() if name not in ("match", "source")})


def spellings(model: str) -> frozenset[str]:
    """Return how a name is tried: in lower case, without what hosts put before it, with `-` for dots and `@`.

    >>> sorted(spellings("openai/GPT-4.1"))
    ['gpt-4-1', 'gpt-4.1', 'openai/gpt-4-1', 'openai/gpt-4.1']
    """
    whole = model.strip().lower()
    tail = whole.rpartition("/")[2]
    for host in _HOSTS:
        tail = tail.removeprefix(host)
    return frozenset(name.translate(dash) for name in (whole, tail) for dash in ({}, {ord("."): "-", ord("@"): "-"}))


@lru_cache(maxsize=1)
def table() -> tuple[Row, ...]:
    """Return the rows of `models.toml`, checked."""
    text = files("toolkit.tokens").joinpath("models.toml").read_text("utf-8")
    return tuple(map(checked, tomllib.loads(text)["model"]))


def checked(row: Row) -> Row:
    """Return a row that says what it holds for and where it is from, and states known facts only.

    Raises:
        InputError, UnknownNameError: It does not.
    """
    known = {"match", "source", *(one.name for one in fields(ModelFacts))}
    held = [(row, known), (row.get("cache", {}), CACHE), *((one, PRICES) for one in row.get("prices", ()))]
    for name, names in ((name, names) for inner, names in held for name in inner):
        if name not in names:
            raise UnknownNameError("fact of a model", name, names)
    for one in row.get("prices", ()):
        if lacking := sorted(PRICES - set(one)):
            raise InputError(f"a price needs {', '.join(sorted(PRICES))}; {dict(one)} lacks {', '.join(lacking)}.")
    if isinstance(row.get("match"), str) or not row.get("match") or not row.get("source"):
        raise InputError(f"a row about models needs match, a list of patterns, and source, not {dict(row)}.")
    return row


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
