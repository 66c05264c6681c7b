"""Prices are dated, tiered, and say where they come from."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import genai_prices
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import InputError, UnknownNameError
from toolkit.prices.price import LIST_DATES, Price, Rates, list_date, price

DAY = "2026-11-01"


def test_a_price_is_per_token_with_its_source_and_day() -> None:
    found = price("gpt-4.1", at=DAY)
    assert (found.input, found.cached, found.output) == (2e-6, 5e-7, 8e-6)
    assert found.source.startswith("genai-prices") and found.date == DAY


def test_a_list_without_a_write_price_charges_plain_input() -> None:
    assert price("gpt-5", at=DAY).write == price("gpt-5", at=DAY).input
    assert price("claude-sonnet-4-6", at=DAY).write == pytest.approx(3.75e-6)


def test_above_a_tier_every_token_pays_the_tier() -> None:
    found = price("gpt-5.4", at=DAY)
    assert found.cost(272_000) == pytest.approx(0.68) and found.cost(272_001) == pytest.approx(1.360005)
    assert found.cost(1, cached=272_000) == pytest.approx(5e-6 + 272_000 * 5e-7)


@pytest.mark.parametrize(
    "at", [DAY, date(2026, 11, 1), datetime(2026, 11, 1, 12), datetime(2026, 11, 1, 12, tzinfo=UTC)]
)
def test_a_day_may_come_as_text_date_or_datetime(at: object) -> None:
    assert price("gpt-5", at=at).date == DAY  # type: ignore[arg-type]


@pytest.mark.parametrize("model", ["deepseek-v4-pro", "gpt-5"])
def test_no_day_is_that_of_the_price_list_whatever_the_clock_says(model: str) -> None:
    assert price(model).date == LIST_DATES[genai_prices.__version__] == list_date().isoformat()
    assert price(model) == price(model, at=list_date())


def test_a_price_list_without_a_known_date_has_that_of_its_installation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(genai_prices, "__version__", "99.0")
    list_date.cache_clear()
    installed = datetime.fromtimestamp(Path(genai_prices.__file__).stat().st_mtime, UTC).date()
    assert list_date() == installed
    list_date.cache_clear()


def test_an_override_wins_from_its_day_on() -> None:
    assert price("deepseek-chat", at="2026-07-31").source.startswith("genai-prices")
    assert price("deepseek/deepseek-chat", at=DAY).source == "override of 2026-08-01"


@pytest.mark.parametrize(
    ("model", "provider"),
    [
        ("anthropic/claude-sonnet-4-5", None),
        ("us.anthropic.claude-3-7-sonnet-20250219-v1:0", "bedrock"),
        ("gpt-4o", "azure"),
        ("gemini-2.5-flash", "vertex"),
        ("gemini-3.1-pro", None),
        ("glm-5.1", "zai"),
        ("openai/gpt-4o-mini", "openrouter"),
    ],
)
def test_other_spellings_of_a_model_find_its_price(model: str, provider: str | None) -> None:
    assert price(model, provider, DAY).input > 0


def test_an_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="gpt-5"):
        price("gpt-99")


def test_a_day_that_is_none_says_what_is_expected() -> None:
    with pytest.raises(InputError, match="2026-08-31"):
        price("gpt-5", at="last week")


amounts = st.integers(0, 10_000_000)


@given(amounts, amounts, amounts, amounts)
def test_without_tiers_the_cost_is_the_sum_of_its_parts(uncached: int, cached: int, write: int, output: int) -> None:
    one = Price("m", Rates(1e-6, 1e-7, 2e-6, 4e-6))
    parts = one.cost(uncached) + one.cost(0, cached) + one.cost(0, 0, write) + one.cost(0, 0, 0, output)
    assert one.cost(uncached, cached, write, output) == pytest.approx(parts)
