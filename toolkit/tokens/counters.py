"""Which counter counts for a provider, an API and a model; one more is found by entry point `toolkit.counters`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from toolkit.tokens.calibration import calibrated
from toolkit.tokens.models import PROVIDERS, facts
from toolkit.tokens.providers import anthropic, gemini, generic, openai, openai_family
from toolkit.tokens.request import Request, TokenCounter

OPENAI_HOSTS = ("", "openai", "azure", "github-models", "databricks", "other", "openrouter", "vercel", "bedrock")
CLAUDE_HOSTS = ("", "anthropic", "databricks", "openrouter", "vertex", "bedrock", "vercel", "other")
register = PROVIDERS.register
"""Registers a maker of counters, or a `Provider`, under a name; the last registered is asked first."""


def counter(provider: str | None = None, api: str | None = None, model: str = "") -> TokenCounter:
    """Return the token counter of a model, in line with the user's bills where those were given (`calibration`).

    Args:
        provider: Who serves it; its maker by default.
        api: `chat`, `responses`, `messages`, `gemini`, `converse`…; the provider's usual one by default.
        model: The name that is sent to the API. An unknown one gets an estimate with a wide band.
    """
    provider, api = provider or "", api or ""
    return calibrated(uncalibrated(provider, api, model), provider, api, model)


def uncalibrated(provider: str, api: str, model: str) -> TokenCounter:
    """Return the token counter of a model as its provider's rules have it."""
    return _counter(provider, api, model, tuple(PROVIDERS.all()))


@lru_cache(maxsize=512)
def _counter(provider: str, api: str, model: str, makers: tuple[Any, ...]) -> TokenCounter:
    made = (make(provider, api, model) for make in makers)
    return next((one for one in made if one is not None), None) or generic.counter(model, provider)


def counter_for(request: Request) -> TokenCounter:
    """Return the counter of a request's provider, API and model."""
    return counter(request.provider, request.api, request.model)


def notes(found: TokenCounter) -> tuple[str, ...]:
    """Return codes for what a count of this counter leans on.

    `encoding_fallback`: the vocabulary stands in for one that is missing or unknown; `template_unknown`: the
    constants are those of other models.
    """
    words = getattr(found, "words", None)
    guessed = isinstance(found, generic.GenericCounter) and facts(found.model).family == "any"
    stands_in = guessed or (words is not None and not words.real)
    return ("encoding_fallback",) * stands_in + ("template_unknown",) * guessed


def _openai(provider: str, api: str, model: str) -> TokenCounter | None:
    """Exact where OpenAI bills, calibrated elsewhere and at its counting endpoint; a name of one's own is a guess."""
    kind = api.removesuffix("_count") or "chat"
    if provider not in OPENAI_HOSTS or kind not in ("chat", "responses"):
        return None
    rules = openai_family.family(model, provider)
    own = provider in ("", "openai", "azure", "github-models") and not api.endswith("_count")
    if rules is None:
        named_by_user = provider in ("openai", "azure") and facts(model).family == "any"
        return openai.OpenAICounter(model, kind, openai_family.named("4"), 0.5, provider) if named_by_user else None
    spread = 0.0 if own else 0.5 if provider == "other" else 0.1
    return openai.OpenAICounter(model, kind, rules, spread, provider or "openai")


def _anthropic(provider: str, api: str, model: str) -> TokenCounter | None:
    if facts(model).counter != "anthropic" or provider not in CLAUDE_HOSTS:
        return None
    return anthropic.counter(model, provider or "anthropic")


def _google(provider: str, api: str, model: str) -> TokenCounter | None:
    if facts(model).counter != "google" or provider not in ("", "google", "vertex"):
        return None
    return gemini.counter(model.lower(), "vertex" if provider == "vertex" else "google")


PROVIDERS.built_in.update(openai=_openai, anthropic=_anthropic, google=_google)
