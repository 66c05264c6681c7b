"""Which counter counts for a provider, an API and a model; one more is found by entry point `toolkit.counters`."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from importlib.metadata import entry_points

from toolkit.tokens.providers import anthropic, gemini, generic, openai, openai_family
from toolkit.tokens.request import Request, TokenCounter

Maker = Callable[[str, str, str], TokenCounter | None]
"""Gets provider, API and model; returns a counter, or None where it does not answer for them."""

OPENAI_HOSTS = ("", "openai", "azure", "github-models", "databricks", "other", "openrouter", "vercel", "bedrock")
CLAUDE_HOSTS = ("", "anthropic", "databricks", "openrouter", "vertex", "bedrock", "vercel", "other")
_registered: dict[str, Maker] = {}


def register(name: str) -> Callable[[Maker], Maker]:
    """Register a maker of counters under a name; the last registered is asked first."""

    def put(maker: Maker) -> Maker:
        _registered[name] = maker
        counter.cache_clear()
        return maker

    return put


@lru_cache(maxsize=512)
def counter(provider: str | None = None, api: str | None = None, model: str = "") -> TokenCounter:
    """Return the token counter of a model.

    Args:
        provider: Who serves it; its maker by default.
        api: `chat`, `responses`, `messages`, `gemini`, `converse`…; the provider's usual one by default.
        model: The name that is sent to the API. An unknown one gets an estimate with a wide band.
    """
    provider, api = provider or "", api or ""
    for make in (*reversed(_registered.values()), *_plugged(), *_BUILT_IN):
        found = make(provider, api, model)
        if found is not None:
            return found
    return generic.counter(model, provider)


def counter_for(request: Request) -> TokenCounter:
    """Return the counter of a request's provider, API and model."""
    return counter(request.provider, request.api, request.model)


def notes(found: TokenCounter) -> tuple[str, ...]:
    """Return codes for what a count of this counter leans on.

    `encoding_fallback`: the vocabulary stands in for one that is missing or unknown; `template_unknown`: the
    constants are those of other models.
    """
    words = getattr(found, "words", None)
    guessed = isinstance(found, generic.GenericCounter) and generic.family_of(found.model) == "any"
    stands_in = guessed or (words is not None and not words.real)
    return ("encoding_fallback",) * stands_in + ("template_unknown",) * guessed


@lru_cache(maxsize=1)
def _plugged() -> tuple[Maker, ...]:
    return tuple(point.load() for point in entry_points(group="toolkit.counters"))


def _openai(provider: str, api: str, model: str) -> TokenCounter | None:
    """Exact where OpenAI bills, calibrated elsewhere and at its counting endpoint; a name of one's own is a guess."""
    kind = api.removesuffix("_count") or "chat"
    if provider not in OPENAI_HOSTS or "oss" in model or kind not in ("chat", "responses"):
        return None
    rules = openai_family.family(model, provider)
    own = provider in ("", "openai", "azure", "github-models") and not api.endswith("_count")
    if rules is None:
        named_by_user = provider in ("openai", "azure") and generic.family_of(model) == "any"
        return openai.OpenAICounter(model, kind, openai_family.named("4"), 0.5, provider) if named_by_user else None
    spread = 0.0 if own else 0.5 if provider == "other" else 0.1
    return openai.OpenAICounter(model, kind, rules, spread, provider or "openai")


def _anthropic(provider: str, api: str, model: str) -> TokenCounter | None:
    if "claude" not in model.lower() or provider not in CLAUDE_HOSTS:
        return None
    return anthropic.counter(model, provider or "anthropic")


def _gemini(provider: str, api: str, model: str) -> TokenCounter | None:
    name = model.lower().rpartition("/")[2]
    if not name.startswith("gemini") or provider not in ("", "google", "vertex"):
        return None
    return gemini.counter(name, "vertex" if provider == "vertex" else "google")


_BUILT_IN: tuple[Maker, ...] = (_openai, _anthropic, _gemini)
