"""Where a selector begins to pay: growing hosts, crossings, and the same figures as a comparison has."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import ALWAYS, BRANCH, LOG, MAIL, READ, call, said, session, tool, turn
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.break_even.pays import crossing, span
from toolkit.experiment.break_even.price_model import Outline, outcome, over_turns
from toolkit.experiment.break_even.study import BreakEven, break_even
from toolkit.experiment.comparison import study as compare
from toolkit.experiment.comparison.options import study
from toolkit.experiment.growing import LADDER, grown, pool_of, sizes_in
from toolkit.prices.price import price
from toolkit.prompt_cache.rules import rules_for
from toolkit.replaying.search_billing import billing
from toolkit.tool import Catalog

SESSIONS = [
    session(turn("create a branch", said("", call(BRANCH.name)), said("ok")), turn("thanks", said("bye")), id="a"),
    session(turn("read it", said("", call(READ.name))), turn("list commits", said("", call(LOG.name))), id="b"),
]
MORE = Catalog(tool(f"mcp.sea.tide_{n}", f"Says how high tide {n} is, and when.", harbour="string") for n in range(60))
GROWTH: dict[str, Any] = {"selectors": ("lazy",), "sizes": (4, 30, 60), "retriever": "lexical", "progress": False}
ALONE = study(("lazy",), retriever="lexical", model="gpt-5", progress=False)


@cache
def found() -> BreakEven:
    return break_even(SESSIONS, catalog=MORE, **GROWTH)


def test_a_host_grows_around_what_the_session_calls_and_the_host_has() -> None:
    pool = pool_of(SESSIONS, MORE)
    names = [{one.name for one in grown(SESSIONS[0], pool, size, 0).catalog} for size in (1, 3, 4, 20, 64)]
    assert names[0] == {BRANCH.name, READ.name}
    assert all(one < other for one, other in zip(names, names[1:], strict=False))
    assert names[2] == {READ.name, BRANCH.name, LOG.name, MAIL.name} and len(names[4]) == 64


def test_the_draw_is_the_seeds() -> None:
    pool = pool_of(SESSIONS, MORE)
    one, again, other = (grown(SESSIONS[0], pool, 20, seed).catalog for seed in (0, 0, 1))
    assert one == again != other


def test_sizes_are_a_ladder_up_to_all_there_is() -> None:
    assert sizes_in(MORE) == (20, 30, 45, 60)
    assert sizes_in(Catalog(tool(f"t{n}") for n in range(1000))) == LADDER
    assert sizes_in(MORE, (30, 10, 30)) == (10, 30)


@pytest.mark.parametrize(("size", "words"), [(0, "at least 1"), (61, "hold 60. Give more of them with --catalog")])
def test_a_size_that_cannot_be_is_an_error(size: int, words: str) -> None:
    with pytest.raises(InputError, match=words):
        sizes_in(MORE, (size,))


def test_each_size_has_the_bounds_and_the_selectors() -> None:
    board = found().summary
    assert [set(rows) for _, rows in board.groupby("size")["system"]] == [{*ALWAYS, "lazy"}] * 3
    everything = board[board["system"] == "all"]
    assert (everything["ratio"] == 1).all() and everything["usd_per_turn"].is_monotonic_increasing


def test_the_cost_is_that_of_a_comparison_of_the_same_hosts() -> None:
    pool = pool_of(SESSIONS, MORE)
    same = compare.measure(
        [grown(one, pool, 30, 0) for one in SESSIONS],
        ALONE,
    ).summary.set_index("system")
    mine = found().summary.query("size == 30").set_index("system")
    assert mine["usd_per_turn"].to_dict() == pytest.approx((same["cost_usd"] / same["turns"]).to_dict())


def test_lazy_pays_from_a_size_between_two_that_were_measured() -> None:
    row = found().crossings.set_index("system").loc["lazy"]
    ratios = found().summary.query("system == 'lazy'")["ratio"].to_list()
    assert ratios[0] > 1 > ratios[-1] and row["smallest"] < row["pays_from_tools"] < row["largest"]


def test_the_model_goes_on_to_larger_sizes_and_longer_sessions() -> None:
    rows = found().modelled
    assert rows["tools"].max() == 4 * 60 and rows["turns"].max() == 40
    assert rows.query("usual")["turns"].unique().tolist() == [2]
    largest = rows.query("tools == 240")["ratio"].to_list()
    assert largest[0] < largest[-1]  # a search pays in short sessions first


def test_what_the_figures_are_of_is_said() -> None:
    about = found().about
    assert about["sessions"] == 2 and about["pool_tools"] == 64 and about["counter"] == "openai/chat/gpt-5"
    assert about["prices"].startswith("genai-prices") and about["sizes"] == [4, 30, 60]


def odd(visible: object, host: object) -> tuple[list[str], list[str]]:
    return ["no.such_tool"], []


def test_what_is_doubted_at_every_size_is_said_once_under_the_sessions_own_name() -> None:
    growth = {**GROWTH, "selectors": (odd,), "sizes": (4, 30)}
    said = [
        one.message
        for one in break_even(SESSIONS, catalog=MORE, **growth).problems
        if one.code == "selector_unknown_name"
    ]
    assert len(said) == 2 and "session 'a' under odd" in said[0] and "session 'b' under odd" in said[1]


def test_nothing_runs_with_an_unknown_name_or_without_a_session(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("toolkit.experiment.break_even.study.measure", lambda *_: pytest.fail("it ran"))
    for wrong in ({"model": "gpt-55x"}, {"selectors": ("lasy",)}, {"profile": "x"}, {"retriever": "x"}):
        with pytest.raises(UnknownNameError):
            break_even(SESSIONS, catalog=MORE, **{**GROWTH, **wrong})
    with pytest.raises(InputError, match="no session"):
        break_even([], **GROWTH)


@given(st.lists(st.floats(0.5, 1.5), min_size=1, max_size=6))
def test_a_crossing_lies_right_before_the_sizes_that_all_pay(ratios: list[float]) -> None:
    tools = [10.0 * (place + 1) for place in range(len(ratios))]
    at = crossing(tools, ratios)
    paying = [size for size in tools if all(ratio < 1 for ratio in ratios[tools.index(size) :])]
    assert math.isnan(at) if not paying else paying[0] - 10 <= at <= paying[0]


@given(st.lists(st.booleans(), max_size=8))
def test_a_span_is_the_last_unbroken_row(pays: list[bool]) -> None:
    first, last = span(pays)
    if first is None or last is None:
        assert True not in pays
    else:
        assert all(pays[first : last + 1]) and True not in pays[last + 1 :] and (not first or not pays[first - 1])


@given(st.integers(1, 5), st.booleans(), st.sampled_from(["reference", "bigtool"]))
def test_a_shorter_session_is_the_front_of_a_longer_one(turns: int, fresh: bool, profile: str) -> None:
    plan, rates = Outline(turns=turns, fresh=fresh), (price("gpt-5"), rules_for("gpt-5"), billing(profile))
    alone = [outcome(replace(plan, turns=length), *rates) for length in range(1, turns + 1)]
    for one, other in zip(alone, over_turns(plan, *rates), strict=True):
        assert one.turns == other.turns
        assert (one.cost_all, one.cost_search) == pytest.approx((other.cost_all, other.cost_search))


def test_declaring_other_tools_at_every_turn_costs_more() -> None:
    rates = price("claude-sonnet-4-5"), rules_for("claude-sonnet-4-5"), billing("reference")
    assert outcome(Outline(fresh=True), *rates).cost_search > outcome(Outline(), *rates).cost_search
