"""The ledger agrees to the token with a naive twin that builds and counts every prompt anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, DATASET, LOG, MAIL, READ, SELECTORS, call, event, note, replayed, said, session, turn
from tests.naive_ledger import NaiveLedger
from tests.strategies import sessions
from tests.whole_requests import requests
from toolkit.bench import Bench
from toolkit.formats.sessions import load_sessions
from toolkit.ledger import PassRow, ledger
from toolkit.replaying import Setting, prepare
from toolkit.replaying.habits import Searching
from toolkit.replaying.search_billing import SearchBilling
from toolkit.session import Billed, Pass, Session, Turn
from toolkit.tokens.counter import Counter
from toolkit.tokens.providers.anthropic import family as claude_family
from toolkit.tokens.request import Request
from toolkit.tool import Catalog, Tool, definition_text

BUCKETS = PassRow._fields[5:11]
COUNTER = Counter()
MODELS = ["gpt-5", "claude-sonnet-4-5", "gemini-2.5-pro"]


def split_in_three(visible: Any, host: Any) -> Any:
    """A selector whose offer changes from turn to turn."""
    names = [tool.name for tool in visible]
    return names[host.turn_no % 3 :: 3], names[(host.turn_no + 1) % 3 :: 3]


def rows(recorded: Session, selector: Any = "all", **options: Any) -> list[PassRow]:
    trace = replayed(recorded, selector, **options)
    return ledger(prepare(recorded, COUNTER), trace, COUNTER)


def differences(recorded: Session, selector: Any, **options: Any) -> list[tuple[int, str, int, int]]:
    trace = replayed(recorded, selector, **options)
    made = ledger(prepare(recorded, COUNTER), trace, COUNTER)
    naive = NaiveLedger(recorded, trace).rows()
    assert len(made) == len(naive)
    return [
        (number, key, getattr(mine, key), value)
        for number, (mine, theirs) in enumerate(zip(made, naive, strict=True))
        for key, value in theirs.items()
        if getattr(mine, key) != value
    ]


@pytest.mark.parametrize("recorded", load_sessions(DATASET), ids=lambda one: one.id)
def test_the_history_told_to_a_selector_is_what_its_turn_finds_before_its_input(recorded: Session) -> None:
    tokens = prepare(recorded, COUNTER)
    first = {row.turn_no: row for row in reversed(rows(recorded, "oracle"))}
    found = {number: row.system_tokens + row.history_tokens for number, row in first.items()}
    told = dict(enumerate(tokens.history_before(), 1))
    assert found == {number: told[number] + tokens.turns[number - 1].passes[0].before_tokens for number in found}


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from([*SELECTORS, split_in_three]))
def test_every_row_agrees_with_the_naive_twin_on_random_sessions(recorded: Session, selector: Any) -> None:
    assert differences(recorded, selector) == []


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from(["lazy", "deferred", split_in_three]), st.integers(0, 99))
def test_refused_passes_and_passes_of_several_searches_agree_with_the_naive_twin(
    recorded: Session, selector: Any, seed: int
) -> None:
    assert differences(recorded, selector, searching=Searching(0.6, 0.7, 0.5, seed=seed)) == []


def test_searches_of_one_pass_are_one_row_and_each_pays_the_trip_of_a_hosted_search() -> None:
    recorded = session(turn("create a branch", said("show the log", call(BRANCH.name))))
    trace = replayed(recorded, "lazy", searching=Searching(parallel=1.0))
    tokens = prepare(recorded, COUNTER)
    plain, billed = (ledger(tokens, trace, COUNTER, billing=SearchBilling(1, trip=one)) for one in (0, 7))
    assert [row.kind for row in billed] == ["search", "recorded"]
    assert billed[1].search_history_tokens - plain[1].search_history_tokens == 2 * 7


def test_a_refused_pass_is_billed_even_where_a_search_is_not_a_pass_of_its_own() -> None:
    one = turn("create a branch", said("", call(BRANCH.name)))
    recorded = session(one, one)
    trace = replayed(recorded, "lazy", searching=Searching(stale=1.0))
    made = ledger(prepare(recorded, COUNTER), trace, COUNTER, billing=SearchBilling(own_pass=False))
    assert [row.kind for row in made if row.prompt_tokens] == ["recorded", "refused", "recorded"]
    assert [row.billed_prompt_tokens for row in made] == [None] * 5
    refused, last = made[2], made[4]
    assert refused.output_tokens > 0 and last.search_history_tokens > refused.search_history_tokens


@pytest.mark.parametrize("selector", SELECTORS)
def test_every_row_agrees_with_the_naive_twin_on_the_packaged_data_set(selector: str) -> None:
    found = {one.id: different for one in load_sessions(DATASET) if (different := differences(one, selector))}
    assert found == {}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from(SELECTORS))
def test_the_six_buckets_add_up_to_the_prompt_and_cached_and_uncached_too(recorded: Session, selector: str) -> None:
    for row in rows(recorded, selector):
        assert sum(getattr(row, bucket) for bucket in BUCKETS) == row.prompt_tokens
        assert row.cached_prompt_tokens + row.uncached_prompt_tokens == row.prompt_tokens


def test_a_pass_shares_the_whole_prompt_before_it_while_the_offer_stays() -> None:
    recorded = session(turn("one", said("a", call(READ.name)), said("b")), turn("two", said("c")))
    made = rows(recorded)
    assert [row.cached_prompt_tokens for row in made] == [0, made[0].prompt_tokens, made[1].prompt_tokens]


def test_after_a_compaction_only_the_definitions_and_the_system_prompt_are_shared() -> None:
    recorded = session(turn("one", said("a")), turn("two", said("b"), events=(event("compaction"),)), system="Be kind.")
    last = rows(recorded)[-1]
    assert last.cached_prompt_tokens == last.declared_tokens + last.system_tokens > 0
    assert last.history_tokens == 0


def test_after_a_changed_offer_only_the_leading_equal_definitions_are_shared() -> None:
    recorded = session(turn("one", said("a")), turn("two", said("b"), events=(event("server_down", server="mail"),)))
    last = rows(recorded)[-1]
    assert last.cached_prompt_tokens == last.declared_tokens < last.prompt_tokens


def test_a_tool_whose_flag_changed_alone_reads_the_same_and_stays_shared() -> None:
    row = {
        "name": BRANCH.name,
        "description": BRANCH.description,
        "input_schema": BRANCH.input_schema,
        "deferred": True,
    }
    recorded = session(turn("one", said("a")), turn("two", said("b"), events=(event("tools_changed", changed=[row]),)))
    first, last = rows(recorded)
    assert last.cached_prompt_tokens == first.prompt_tokens


def test_a_search_and_its_answer_are_paid_for_on_every_later_pass() -> None:
    recorded = session(turn("make it", said("create a branch", call(BRANCH.name)), said("ok")), turn("more", said("x")))
    search, *later = rows(recorded, "lazy")
    assert (search.kind, search.search_history_tokens) == ("search", 0)
    assert len({row.search_history_tokens for row in later}) == 1 and later[0].search_history_tokens > 0


def test_reasoning_is_output_and_never_history() -> None:
    plain = session(turn("x", said("a"), said("b")))
    thinking = session(turn("x", said("a", reasoning="because of this"), said("b")))
    (a, b), (c, d) = rows(plain), rows(thinking)
    assert c.output_tokens - a.output_tokens == COUNTER.text("because of this")
    assert (b.history_tokens, b.prompt_tokens) == (d.history_tokens, d.prompt_tokens)


def test_a_blocked_call_is_charged_one_more_pass_with_every_visible_tool_declared() -> None:
    recorded = session(turn("x", said("a", call(BRANCH.name))))
    (row,) = rows(recorded, "builtin-only")
    everything = sum(COUNTER.text(definition_text(one)) for one in recorded.catalog)
    assert row.fallback_passes == 1
    assert row.fallback_prompt_tokens == row.prompt_tokens - row.declared_tokens + everything


def test_context_between_turns_joins_the_history_before_the_input() -> None:
    plain, more = session(turn("x", said("a"))), session(turn("x", said("a"), context=(note("the summary"),)))
    assert rows(more)[0].history_tokens - rows(plain)[0].history_tokens == COUNTER.text("the summary")


def test_a_bill_is_carried_over_with_the_predicted_difference() -> None:
    catalog = Catalog([Tool("builtin.a", "A tool."), Tool("mcp.x.b", "Another tool, with a longer description.")])
    one = Pass("Hello.", usage=Billed(prompt=500), declared=("builtin.a", "mcp.x.b"))
    recorded = Session("s", catalog, (Turn("hi", (one,)),))
    everything, few = (rows(recorded, selector)[0] for selector in ("all", "builtin-only"))
    assert everything.anchored_prompt_tokens == 500
    assert few.anchored_prompt_tokens == 500 - COUNTER.definition(catalog["mcp.x.b"])


def test_a_recording_without_a_bill_is_not_anchored() -> None:
    assert rows(session(turn("hi", said("Hello."))))[0].anchored_prompt_tokens is None


def in_turns(visible: Any, host: Any) -> Any:
    """A selector that declares one tool, then another, then the first again."""
    names = [tool.name for tool in visible]
    return names[host.turn_no % 2 :: 2], []


def test_an_offer_that_comes_back_shares_what_it_sent_before_the_other_one() -> None:
    recorded = session(*(turn(words, said("so")) for words in ("one", "two", "three")))
    first, second, third = rows(recorded, in_turns)
    assert (second.cached_prompt_tokens, third.cached_prompt_tokens) == (0, first.prompt_tokens)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from([*SELECTORS, split_in_three, in_turns]), st.sampled_from(MODELS))
def test_an_ideal_cache_never_costs_more_than_the_cache_of_a_provider(
    recorded: Session, selector: Any, model: str
) -> None:
    bench = Bench.of(Setting("lexical", model=model))
    prepared = bench.prepare(recorded)
    for row in bench.rows(prepared, bench.replay(prepared, bench.setting.system(selector))):
        cost = bench.costs(row)
        assert cost.cost_ideal_cache_usd <= cost.cost_usd * (1 + 1e-9)
        assert row.cache_read_tokens <= row.cached_prompt_tokens


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from([*SELECTORS, split_in_three]), st.sampled_from([*MODELS, "gpt-4o", "qwen3-32b"]))
def test_the_prompt_of_every_pass_is_what_toolkit_count_says_of_the_same_request(
    recorded: Session, selector: Any, model: str
) -> None:
    bench = Bench.of(Setting("lexical", model=model, searching=Searching(0.6, 0.7, 0.5)))
    prepared = bench.prepare(recorded)
    trace = bench.replay(prepared, bench.setting.system(selector))
    for row, request in zip(bench.rows(prepared, trace), requests(prepared, trace, model), strict=True):
        if usual(request, bool(recorded.system)):
            assert row.prompt_tokens == bench.counter.rules.count(request).tokens - opening(request)


def usual(request: Request, system: bool) -> bool:
    """Say whether a request ends in what the model is to answer, and has a system message in its first place alone."""
    roles = [message.role for message in request.messages]
    return roles[-1:] != ["assistant"] and not {"system", "developer"} & set(roles[int(system) :])


def opening(request: Request) -> int:
    """Return the token that Claude's first request has more for a system message beside tools, until a call is made."""
    called = any(message.of_kind("call") for message in request.messages)
    system = request.messages[:1] and request.messages[0].role == "system"
    plain = request.model.startswith("claude") and system and request.tools and not called
    return claude_family(request.model).system if plain else 0


def test_a_search_stays_in_the_history_as_the_messages_that_it_is() -> None:
    recorded = session(turn("make it", said("create a branch", call(BRANCH.name))), system="Be kind.")
    bench = Bench.of(Setting("lexical", model="claude-sonnet-4-5"))
    prepared = bench.prepare(recorded)
    trace = bench.replay(prepared, bench.setting.system("lazy"))
    made = next(trace.passes()).made
    last = bench.rows(prepared, trace)[-1]
    assert last.search_history_tokens == bench.counter.message("assistant", "", made) > 0


def test_a_fallback_is_charged_once_a_pass_and_its_tool_is_known_until_the_turn_ends() -> None:
    both, one = said("", call(BRANCH.name), call(LOG.name)), said("", call(BRANCH.name))
    recorded = session(turn("x", both, one, said("", call(MAIL.name))), turn("y", one))
    assert [row.fallback_passes for row in rows(recorded, "builtin-only")] == [1, 0, 1, 1]


@pytest.mark.parametrize("model", ["gpt-5", "gpt-4o", "claude-sonnet-4-5", "gemini-2.5-flash", "qwen3-32b"])
@pytest.mark.parametrize("answers", [("", None), (None, "x"), ("x", "y"), ("x", None, "y")])
def test_a_reply_of_which_some_calls_were_never_answered_is_counted_as_the_request_is(
    answers: tuple[Any, ...], model: str
) -> None:
    made = [call(READ.name, answer, f"c{n}") for n, answer in enumerate(answers)]
    recorded = session(turn("hello", said("", *made), said("done")))
    bench = Bench.of(Setting("lexical", model=model))
    prepared = bench.prepare(recorded)
    trace = bench.replay(prepared, bench.setting.system("all"))
    for row, request in zip(bench.rows(prepared, trace), requests(prepared, trace, model), strict=True):
        assert row.prompt_tokens == bench.counter.rules.count(request).tokens - opening(request)
