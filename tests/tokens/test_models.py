"""One table of what is known of models: the same answers as before it, each row with its source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from toolkit.errors import InputError, UnknownNameError
from toolkit.prices.price import PRICE_LISTS, Price, Rates, price, window
from toolkit.prompt_cache.rules import rules_for
from toolkit.tokens.counters import counter
from toolkit.tokens.models import PROVIDERS, Provider, checked, facts, table
from toolkit.tokens.providers import anthropic, gemini, generic, openai, openai_family
from toolkit.tokens.providers.openai import OpenAICounter
from toolkit.tokens.vocabulary.tables import DEFAULT
from toolkit.tokens.vocabulary.vocabulary import NAMES, fit

KNOWN = json.loads((Path(__file__).parents[1] / "golden" / "models.json").read_text("utf-8"))
"""What counters, families and cache rules said of 850 names when each had a table of its own."""


def told(model: str) -> list[Any]:
    found, rules = counter(None, None, model), rules_for(model)
    return [_kind(found), facts(model).family, [rules.mode, rules.minimum, rules.step, rules.lifetime]]


def _kind(found: Any) -> list[Any]:
    if isinstance(found, openai.OpenAICounter):
        return ["openai", found.rules.name, found.rules.encoding, found.api, found.spread]
    if isinstance(found, anthropic.AnthropicCounter):
        one = found.rules
        return ["anthropic", found.words.name, one.frame, one.auto, one.any, one.named, one.pair, one.spread]
    if isinstance(found, gemini.GeminiCounter):
        return ["google", found.style, found.each, found.typed > 0]
    assert isinstance(found, generic.GenericCounter)
    return ["generic", found.words.name, found.rules.base, found.rules.tools, found.rules.slack]


@pytest.mark.parametrize("row", KNOWN, ids=lambda row: row["models"][0])
def test_every_model_is_told_as_it_was(row: dict[str, Any]) -> None:
    assert {model: told(model) for model in row["models"]} == dict.fromkeys(row["models"], row["told"])


def test_every_row_says_its_source_and_what_it_names_exists() -> None:
    for row in table():
        assert row["source"] and row["match"] and checked(row) is row
        maker, rules = row.get("counter"), str(row.get("rules"))
        if maker == "openai":
            assert "rules" not in row or openai_family.named(rules)
        if rules.startswith("claude"):
            assert rules in {one["name"] for one in fit("anthropic")["families"]}
        assert row.get("vocabulary", DEFAULT) in NAMES


def test_the_vocabulary_of_openais_families_is_that_of_the_table() -> None:
    for row in KNOWN:
        for model in row["models"]:
            found = counter(None, None, model)
            if isinstance(found, OpenAICounter):
                assert found.rules.encoding == facts(model).vocabulary


def test_a_misspelt_fact_names_the_nearest_and_a_row_without_source_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'vocabulary'"):
        checked({"match": ["a"], "source": "s", "vocabluary": "x"})
    with pytest.raises(UnknownNameError, match="Did you mean 'minimum'"):
        checked({"match": ["a"], "source": "s", "cache": {"minimun": 1}})
    for row in ({"match": ["a"]}, {"source": "s"}, {"match": "a*", "source": "s"}):
        with pytest.raises(InputError, match="match, a list of patterns, and source"):
            checked(row)


def test_windows_come_from_the_price_list_and_are_none_where_nobody_knows() -> None:
    assert window("claude-sonnet-4-5") == 200_000 and window("openai/gpt-4o") == 128_000
    assert window("zeta-9") is None


ACME = Provider(
    counter=lambda provider, api, model: (
        OpenAICounter(model, "chat", openai_family.named("4")) if model.startswith("acme") else None
    ),
    models=(
        {
            "match": ["acme-*"],
            "window": 5000,
            "cache": {"mode": "longest_prefix", "minimum": 7, "step": 1, "lifetime": 60},
            "prices": [{"from": "2020-01-01", "input": 1.0, "cached": 0.5, "write": 1.0, "output": 4.0}],
            "source": "Acme's price page",
        },
    ),
)


@pytest.fixture
def acme() -> Iterator[None]:
    PROVIDERS.register("acme")(ACME)
    yield
    del PROVIDERS.registered["acme"]


def test_one_value_brings_counter_cache_rules_window_and_prices(acme: None) -> None:
    assert isinstance(counter(None, None, "acme-1"), OpenAICounter)
    assert rules_for("acme-1").minimum == 7 and window("acme-1") == 5000
    assert price("acme-1").output == pytest.approx(4e-6)
    assert facts("gpt-4o").counter == "openai"


def test_what_a_provider_brought_is_forgotten_with_it() -> None:
    assert rules_for("acme-1").minimum == 1024
    with pytest.raises(UnknownNameError):
        price("acme-1")


def test_a_price_list_that_is_registered_is_asked_first_and_may_not_know() -> None:
    PRICE_LISTS.register("acme")(lambda model, provider, when: ACME_PRICE if model == "gpt-4o" else None)
    try:
        assert price("gpt-4o") is ACME_PRICE and price("gpt-5").source.startswith("genai-prices")
    finally:
        del PRICE_LISTS.registered["acme"]


ACME_PRICE = Price("gpt-4o", Rates(1e-6, 1e-6, 1e-6, 1e-6), source="ours")


def test_a_price_must_state_all_of_its_rates() -> None:
    row = {"match": ["acme-*"], "source": "a page", "prices": [{"from": "2026-01-01", "input": 1.0, "output": 2.0}]}
    with pytest.raises(InputError, match="lacks cached, write"):
        checked(row)
