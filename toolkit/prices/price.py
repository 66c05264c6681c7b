"""What a token costs: dated and tiered prices out of `genai-prices`, offline, after those that `models.toml` states."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from difflib import get_close_matches
from functools import lru_cache
from pathlib import Path
from typing import Any

from toolkit.errors import InputError, MissingExtraError, UnknownNameError, need
from toolkit.plugins import Registry
from toolkit.tokens.models import facts

PROVIDERS = {
    "bedrock": "aws",
    "xai": "x-ai",
    "vertex": "google",
    "gemini": "google",
    "github-models": "openai",
    "huggingface": "huggingface_together",
}
"""Our name of a provider → the price list's, where they differ."""

LIST_DATES = {"0.2.3": "2026-11-09"}
"""Version of genai-prices, which states no date → the day of its newest prices; what starts later was announced."""

PRICE_LISTS = Registry("price list", "toolkit.prices", given=3, wants="a function of model, provider and moment")
"""Each returns a `Price`, or None for what it does not know; they are asked before what is built in."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per token: uncached input, input read from a cache, input written to one, output."""

    input: float
    cached: float
    write: float
    output: float

    def cost(self, uncached: float, cached: float, cache_write: float, output: float) -> float:
        return uncached * self.input + cached * self.cached + cache_write * self.write + output * self.output


@dataclass(frozen=True, slots=True)
class Price:
    """The price of one model on one day, with its source.

    Attributes:
        model: The name in the price list.
        base: USD per token of a request below every tier.
        tiers: (n, rates) ascending: a request of more than n prompt tokens pays `rates` for all its tokens.
        source: The list and its version, or `override`.
        date: The day (ISO) whose prices these are.
    """

    model: str
    base: Rates
    tiers: tuple[tuple[int, Rates], ...] = ()
    source: str = ""
    date: str = ""

    @property
    def input(self) -> float:
        return self.base.input

    @property
    def cached(self) -> float:
        return self.base.cached

    @property
    def write(self) -> float:
        return self.base.write

    @property
    def output(self) -> float:
        return self.base.output

    def rates(self, prompt_tokens: float) -> Rates:
        """Return the rates of a request with so many prompt tokens, cached ones included."""
        held = [rates for start, rates in self.tiers if prompt_tokens > start]
        return held[-1] if held else self.base

    def cost(self, uncached: float, cached: float = 0, cache_write: float = 0, output: float = 0) -> float:
        """Return the USD of one request; the four kinds of tokens are disjoint.

        >>> price = Price("m", Rates(2e-6, 5e-7, 2e-6, 8e-6))
        >>> round(price.cost(1_000_000, cached=1_000_000, output=500_000), 6)
        6.5
        """
        return self.rates(uncached + cached + cache_write).cost(uncached, cached, cache_write, output)


USUAL = Price("usual ratios", Rates(1e-6, 1e-7, 1.25e-6, 5e-6), source="ratios common to many models")
"""For a model whose price nobody knows: only the ratios of its prices count."""


def price_or_usual(model: str | None) -> Price:
    """Return a model's price by the newest list, or the usual ratios without a model, a price for it or a list."""
    try:
        return price(model) if model else USUAL
    except (UnknownNameError, MissingExtraError):
        return USUAL


def price(model: str, provider: str | None = None, at: str | date | datetime | None = None) -> Price:
    """Return the price of `model` on a day.

    A list without a cached or a write price charges such tokens as plain input.

    Args:
        model: The name sent to the API, with or without the vendor before a slash.
        provider: Who serves it (`openai`, `bedrock`, `vertex`…); the maker's own API by default.
        at: ISO text, date or datetime; a day without a time means 12:00 UTC; that of the price list by
            default, so that the same run costs the same on another day.

    Raises:
        UnknownNameError: No list has the model; the message names the nearest.
        InputError: `at` is no date.
        MissingExtraError: genai-prices is not installed.
    """
    model, when = model.strip().lower(), _moment(at)
    told = (one for ask in PRICE_LISTS.all() if (one := ask(model, provider, when)) is not None)
    return next(told, None) or _stated(model, when) or _listed(model, provider, when)


def _stated(model: str, when: datetime) -> Price | None:
    """Return the price that `models.toml` or a provider's own rows state for a day."""
    for row in sorted(facts(model).prices, key=lambda row: str(row["from"]), reverse=True):
        if when.date().isoformat() >= str(row["from"]):
            rates = Rates(*(row[key] / 1e6 for key in ("input", "cached", "write", "output")))
            tail = model.rpartition("/")[2]
            return Price(tail, rates, (), f"override of {row['from']}", when.date().isoformat())
    return None


@lru_cache(maxsize=512)
def _listed(model: str, provider: str | None, when: datetime) -> Price:
    need("genai_prices")
    from genai_prices import __version__

    for vendor, info in _listings(model, provider):
        prices = info.get_prices(when)
        if getattr(prices, "input_mtok", None) is not None:
            base, tiers = _rates(prices)
            return Price(info.id, base, tiers, f"genai-prices {__version__} ({vendor})", when.date().isoformat())
    raise UnknownNameError("model", model, _nearest_models(model))


@lru_cache(maxsize=1)
def list_date() -> date:
    """Return the day of the installed price list; of a version that `LIST_DATES` lacks, when it was installed."""
    need("genai_prices")
    import genai_prices

    known = LIST_DATES.get(genai_prices.__version__)
    installed = datetime.fromtimestamp(Path(genai_prices.__file__).stat().st_mtime, UTC).date()
    return date.fromisoformat(known) if known else installed


def window(model: str, provider: str | None = None) -> int | None:
    """Return how many tokens of context a model reads, or None where neither `models.toml` nor a list knows."""
    name = model.strip().lower()
    try:
        return facts(name).window or _listed_window(name, provider)
    except MissingExtraError:
        return None


@lru_cache(maxsize=512)
def _listed_window(model: str, provider: str | None) -> int | None:
    need("genai_prices")
    return next((info.context_window for _, info in _listings(model, provider) if info.context_window), None)


def _listings(model: str, provider: str | None) -> Iterator[tuple[str, Any]]:
    """Yield what the list has under each spelling of a model: the vendor's id, and its entry."""
    from genai_prices.data_snapshot import get_snapshot

    for provider_id, name in _spellings(model, provider):
        with suppress(LookupError):
            vendor, info = get_snapshot().find_provider_model(name, None, provider_id, None)
            yield vendor.id, info


def _spellings(model: str, provider: str | None) -> Iterator[tuple[str | None, str]]:
    model = facts(model).price or model
    vendor, slash, tail = model.rpartition("/")
    for provider_id in dict.fromkeys((PROVIDERS.get(provider or "", provider), vendor or None, None)):
        yield provider_id, model
        if slash:
            yield provider_id, tail
    if slash:
        yield "openrouter", model
    yield "aws", model


def _rates(prices: Any) -> tuple[Rates, tuple[tuple[int, Rates], ...]]:
    starts = sorted({tier.start for key in _KEYS for tier in getattr(getattr(prices, key, None), "tiers", ())})
    base, *above = (_rates_at(prices, start) for start in (-1, *starts))
    return base, tuple(zip(starts, above, strict=True))


_KEYS = ("input_mtok", "cache_read_mtok", "cache_write_mtok", "output_mtok")


def _rates_at(prices: Any, start: int) -> Rates:
    plain, *others = (_amount(getattr(prices, key, None), start) for key in _KEYS)
    read, write, output = others
    return Rates(plain or 0.0, _or(read, plain), _or(write, plain), output or 0.0)


def _or(amount: float | None, otherwise: float | None) -> float:
    return (otherwise or 0.0) if amount is None else amount


def _amount(value: Any, start: int) -> float | None:
    if value is None:
        return None
    base = getattr(value, "base", value)
    held = [tier.price for tier in getattr(value, "tiers", ()) if tier.start <= start]
    return float(held[-1] if held else base) / 1e6


def _nearest_models(model: str) -> list[str]:
    from genai_prices.data_snapshot import get_snapshot

    names = {info.id for provider in get_snapshot().providers for info in provider.models}
    return get_close_matches(model, sorted(names), n=5, cutoff=0.3) or ["gpt-5", "claude-sonnet-4-5"]


def _moment(at: str | date | datetime | None) -> datetime:
    at = list_date() if at is None else at
    if isinstance(at, str):
        at = _parsed(at)
    if not isinstance(at, datetime):
        at = datetime.combine(at, time(12), tzinfo=UTC)
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def _parsed(text: str) -> date | datetime:
    try:
        return date.fromisoformat(text) if len(text) == 10 else datetime.fromisoformat(text)
    except ValueError as error:
        raise InputError(f"a date like 2026-08-31 was expected, not {text!r}.") from error
