"""`sticky(selector)` changes the declared set when that is cheaper than to keep it, request by request."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS
from tests.selectors.views import Ranker, split, view
from toolkit.engine import Selection
from toolkit.engine.view import EarlierTurn
from toolkit.errors import InputError
from toolkit.host import Host
from toolkit.selectors import resolve
from toolkit.selectors.sticky import Sticky
from toolkit.tool import SEARCH

NAMES = tuple(one.name for one in TOOLS)
SOME = st.sets(st.sampled_from(NAMES)).map(sorted)


def priced(declared: list[str], history: int, passes: int, fresh: bool, sizes: Any, prices: Sticky) -> float:
    """Return what the definitions and the history cost over some requests, one after the other."""
    prompt = history + sum(sizes[name] for name in declared)
    return sum(prompt * (prices.write if fresh and number == 0 else prices.read) for number in range(passes))


def naive(before: list[str], wanted: list[str], history: int, sizes: Any, prices: Sticky) -> list[str]:
    """Return the cheaper set: the requests as a ledger, and a search trip for each tool that is used and missing."""
    keep = priced(before, history, int(prices.passes), False, sizes, prices)
    for name in set(wanted) - set(before):
        trip = priced(before, history, 1, False, sizes, prices) + sizes[name] * prices.write + prices.trip
        keep += prices.used * trip
    change = priced(wanted, history, int(prices.passes), True, sizes, prices)
    return wanted if change < keep - 1e-9 else before


@given(
    SOME, SOME, st.integers(0, 4000), st.dictionaries(st.sampled_from(NAMES), st.integers(1, 3000)), st.integers(1, 9),
    st.sampled_from([0.0, 0.15, 1.0]), st.sampled_from([0.0, 300.0, 5000.0]),
)  # fmt: skip
def test_it_is_what_a_ledger_of_both_choices_says(
    before: list[str], wanted: list[str], history: int, some: dict[str, int], passes: int, used: float, trip: float
) -> None:
    sizes = {name: some.get(name, 100) for name in NAMES}
    made = Sticky(lambda visible, host: (wanted, list(NAMES)), passes=passes, used=used, trip=trip)
    past = EarlierTurn("x")
    host = view("y", past, declared_before=(SEARCH, *before), history_tokens=history, tokens=sizes.__getitem__)
    assert sorted(made(TOOLS, host).declared) == sorted(naive(before, wanted, history, sizes, made))


def test_a_long_history_holds_the_set_and_a_short_one_lets_it_go() -> None:
    ranker = Ranker(LOG.name)
    for history, expected in ((50_000, MAIL.name), (0, LOG.name)):
        host = view(
            "log", "x", ranker=ranker, declared_before=(SEARCH, MAIL.name), history_tokens=history, tokens=lambda n: 100
        )
        assert split("sticky(lexical(k=1), used=0.3)", host)[0] == {expected}


def test_what_it_keeps_off_the_declared_list_is_searchable() -> None:
    host = view("log", "x", ranker=Ranker(LOG.name), declared_before=(MAIL.name,), history_tokens=90_000)
    assert split("sticky(lexical(k=1))", host)[1] == set(NAMES)
    assert split(Sticky(lambda visible, host: ([LOG.name], [MAIL.name])), host) == (
        {MAIL.name},
        {LOG.name, MAIL.name},
    )


@pytest.mark.parametrize(
    ("visible", "selected"),
    [
        ((READ, BRANCH, LOG), ([LOG.name], [])),
        (TOOLS, ([LOG.name], [READ.name])),
    ],
    ids=["no longer told", "now withheld"],
)
def test_a_kept_tool_that_is_gone_has_broken_the_prefix_already(visible: Any, selected: Any) -> None:
    host = view("log", "x", declared_before=(MAIL.name,), history_tokens=90_000)
    assert split(Sticky(lambda visible, host: selected), host, visible)[0] == {LOG.name}


def test_the_first_turn_follows_the_selector() -> None:
    assert split("sticky(lexical(k=1))", view("log", ranker=Ranker(LOG.name), history_tokens=90_000))[0] == {LOG.name}


def test_in_a_host_the_declared_bytes_stand_while_inputs_change() -> None:
    plain, kept = Host(TOOLS, "lexical(k=1)", retriever="lexical"), Host(TOOLS, "sticky(lexical(k=1))")
    offers = [
        [
            host.start_turn(words, history).declared
            for words, history in (("send", 0), ("log", 90_000), ("file", 95_000))
        ]
        for host in (plain, kept)
    ]
    assert [len(set(made)) for made in offers] == [3, 1]


def test_notices_of_the_selector_are_passed_on() -> None:
    host = view("log", "x", declared_before=(MAIL.name,), history_tokens=90_000)
    chosen = Sticky(lambda visible, host: Selection([LOG.name], NAMES, ("mode_changed",)))(TOOLS, host)
    assert (chosen.declared, chosen.notices) == ([MAIL.name], ("mode_changed",))


@pytest.mark.parametrize(
    "spec",
    ["sticky(read=-1)", "sticky(write='x')", "sticky(passes=0)", "sticky(used=1.5)", "sticky(trip=True)"],
)
def test_what_is_out_of_range_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="^sticky: "):
        resolve(spec)


def test_its_selector_may_be_a_spec_and_a_wrong_one_is_told() -> None:
    assert resolve("sticky('lazy | recent')") == resolve("sticky(lazy | recent(n=2))")
    with pytest.raises(Exception, match="Did you mean 'lexical'"):
        resolve("sticky(lexicl(k=2))")
