"""A search pays from some catalog size on, and a host that breaks its prefix pays later."""

from __future__ import annotations

from bisect import bisect
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolkit.errors import UnknownNameError
from toolkit.experiment.break_even.price_model import Outline, outcome
from toolkit.prices.price import price
from toolkit.prompt_cache.rules import rules_for
from toolkit.replaying.search_billing import BILLINGS, billing

SONNET, RULES = price("claude-sonnet-4-5", at="2026-11-01"), rules_for("claude-sonnet-4-5")


def ratio(profile: str, tools: int) -> float:
    return outcome(replace(Outline(), tools=tools), SONNET, RULES, billing(profile)).ratio


def test_a_search_costs_more_in_a_small_catalog_and_less_in_a_large_one() -> None:
    for profile in BILLINGS:
        assert ratio(profile, 6) > 1 > ratio(profile, 600)


def test_adding_found_tools_to_the_definitions_flips_its_sign_between_sixty_and_a_hundred_and_twenty_tools() -> None:
    assert ratio("bigtool", 60) > 1 > ratio("bigtool", 120)


def test_breaking_the_prefix_or_sampling_twice_makes_the_search_pay_later() -> None:
    pays = {p: lambda tools, p=p: ratio(p, tools) < 1 for p in ("reference", "anthropic-api", "bigtool")}
    plain, hosted, breaks = (bisect(range(4096), False, key=one) for one in pays.values())
    assert 0 < plain < hosted < breaks < 4096


def test_a_search_that_saves_no_definition_never_pays() -> None:
    assert outcome(Outline(4096, definition=0, searches=3), SONNET, RULES, billing("reference")).ratio >= 1


@given(st.integers(1, 200), st.integers(1, 4), st.sampled_from(sorted(BILLINGS)))
def test_more_tools_never_make_the_full_declaration_cheaper(tools: int, turns: int, profile: str) -> None:
    plan = Outline(tools=tools, turns=turns, passes=2)
    less, more = (outcome(replace(plan, tools=n), SONNET, RULES, billing(profile)) for n in (tools, tools + 1))
    assert less.cost_all < more.cost_all


def test_a_hosted_search_bills_the_prompt_once_more() -> None:
    assert billing("anthropic-api").extra(702, searches=2) == 702 and billing("anthropic-api").extra(702, 0) == 0
    assert billing("openai-responses").extra(702, searches=1) == 0


def test_found_definitions_stay_in_the_history_only_where_the_host_puts_them_there() -> None:
    assert billing("claude-code").history(1, [75]) == 12 + 85 and billing("bigtool").history(1, [75]) == 12


def test_an_unknown_profile_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="claude-code"):
        billing("claude-coed")
