"""A prepared session keeps what every system's replay shares, and leaves the recorded host's searches out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from tests.builders import BRANCH, READ, call, event, note, said, searched, session, turn
from toolkit.replaying.prepared import Prepared, prepare, query_of
from toolkit.session import Call, Message, call_text, text_of
from toolkit.tokens.counter import Counter, counter_of


def made(*passes: object) -> Prepared:
    return prepare(session(turn("do it", *passes)))  # type: ignore[arg-type]


def test_a_pass_that_only_searched_is_left_out_and_its_words_carry_over() -> None:
    found = made(said("I look for branches", searched("branch", BRANCH.name)), said("now", call(BRANCH.name)))
    (only,) = found.turns[0].passes
    assert (only.pass_no, only.words, found.left_out) == (2, "I look for branches\nnow", 1)
    assert only.reply == Message("assistant", "now", (call(BRANCH.name),))


def test_a_search_beside_a_call_is_left_out_alone() -> None:
    (only,) = made(said("both", searched("x"), call(READ.name))).turns[0].passes
    assert [one.name for one in only.calls] == [READ.name]
    assert only.messages == 2


def test_a_call_to_the_search_tool_by_wire_name_is_a_search_too() -> None:
    assert made(said("x", call("tools_search"))).left_out == 1


def test_what_the_host_was_asked_stands_at_the_pass_that_waited_for_it_older_ones_behind() -> None:
    passes = (said("", searched("a")), said("", searched("b")), said("", call(READ.name), searched("c")))
    first, second = made(*passes, said("", call(READ.name))).turns[0].passes
    assert (first.searched, second.searched) == (("a", "b"), ("c", "b", "a"))


def test_what_the_host_was_asked_is_forgotten_with_the_turn() -> None:
    found = prepare(session(turn("a", said("", searched("x"))), turn("b", said("", call(READ.name)))))
    assert found.turns[1].passes[0].searched == ()


def texts(messages: Sequence[Message]) -> list[str]:
    return [text_of(one.content) for one in messages]


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ({"query": "a b"}, "a b"),
        ({"queries": ["a", "b"]}, "a b"),
        ({"pattern": "a|b", "limit": 3}, "a|b"),
        ({"query": "<ask>\na\n</ask>"}, "a"),
        ({"query": None}, ""),
        ({}, ""),
    ],
)
def test_a_recorded_search_is_read_in_the_forms_that_hosts_have(arguments: Any, asked: str) -> None:
    assert query_of(Call("s", "find", arguments, "search")) == asked


def test_carried_words_stay_in_their_turn() -> None:
    found = prepare(session(turn("a", said("I search", searched("x"))), turn("b", said("fresh", call(READ.name)))))
    assert found.turns[1].passes[0].words == "fresh"


def test_a_pass_that_no_model_wrote_is_history_before_the_next_pass() -> None:
    first, *rest = made(said("canned", call(READ.name), requested=False), said("real")).turns[0].passes
    assert not rest
    assert first.before == (Message("assistant", "canned", (call(READ.name),)),)


def test_what_follows_the_last_pass_joins_the_history_behind_it() -> None:
    (only,) = made(said("real"), said("canned", requested=False)).turns
    assert texts(only.after) == ["canned"]


def test_an_event_of_a_pass_that_is_left_out_waits_for_the_next_pass() -> None:
    down = event("server_down", server="git")
    (only,) = made(said("", searched("x"), events=(down,)), said("b")).turns[0].passes
    assert only.events == (down,)


def test_an_event_behind_the_last_pass_waits_for_the_next_turn() -> None:
    down, hide = event("server_down", server="git"), event("hide", extension="a", patterns=["*"])
    first = turn("a", said("x"), said("canned", requested=False, events=(down,)))
    found = prepare(session(first, turn("b", said("y"), events=(hide,))))
    assert found.turns[0].events == ()
    assert found.turns[1].events == (down, hide)


def test_a_compaction_forgets_what_waited_before_it() -> None:
    first, second = said("canned", requested=False), said("real", events=(event("compaction"),), context=(note("sum"),))
    assert made(first, second).turns[0].passes[0].before == (note("sum"),)


def test_copied_context_is_history_and_no_pass() -> None:
    one = turn("a", said("x", context=(note("late"),)), context=(note("early"),))
    found = prepare(session(one)).turns[0]
    assert (texts(found.before), texts(found.passes[0].before)) == (["early"], ["late"])


def test_reasoning_is_kept_apart_from_the_reply() -> None:
    (only,) = made(said("x", reasoning="hm")).turns[0].passes
    assert text_of(only.reply.content) == "x"


def test_arguments_that_were_no_object_stand_as_the_model_wrote_them() -> None:
    assert call_text(Call("c", "a", raw_arguments="{oh")) == '{"name":"a","arguments":"{oh"}'


def test_the_called_names_of_a_turn_are_told_once_each() -> None:
    one = said("", call(READ.name), call(BRANCH.name), call(READ.name))
    assert made(one).turns[0].called == (READ.name, BRANCH.name)


@pytest.mark.parametrize("model", ["gpt-4.1", "claude-sonnet-4-5", "gemini-2.5-pro"])
def test_copied_context_is_counted_by_its_roles_calls_and_results(model: str) -> None:
    counter = counter_of(model)
    asked, noted = call(READ.name, "the file", path="a.txt"), note("a note")
    copied = (Message("agent", "I read it", (asked,)), Message("user", "thanks"), noted)
    (only,) = prepare(session(turn("go", said("x"), context=copied)), counter).turns
    by_rule = counter.message("assistant", "I read it", (asked,)) + counter.message("user", "thanks")
    assert only.before_tokens == by_rule + counter.message("system", "a note")


def test_a_copied_message_costs_what_the_same_reply_costs_as_a_pass() -> None:
    counter, reply = counter_of("gpt-4.1"), said("I read it", call(READ.name, "the file", path="a.txt"))
    copied = Message("agent", reply.content, reply.calls)
    before = prepare(session(turn("go", said("x"), context=(copied,))), counter).turns[0].before_tokens
    (one,) = prepare(session(turn("go", reply)), counter).turns[0].passes
    assert before == one.reply_tokens + one.results_tokens


def test_a_reply_that_no_model_wrote_is_counted_as_a_reply() -> None:
    counter, reply = counter_of("claude-sonnet-4-5"), said("canned", call(READ.name))
    canned = said("canned", call(READ.name), requested=False)
    (waited,) = prepare(session(turn("go", canned, said("real"))), counter).turns[0].passes
    (own,) = prepare(session(turn("go", reply)), counter).turns[0].passes
    assert waited.before_tokens == own.reply_tokens + own.results_tokens


def test_the_counts_of_texts_alone_are_the_sums_of_the_texts() -> None:
    counter = Counter()
    (one,) = prepare(session(turn("go", said("x", call(READ.name), reasoning="hm"))), counter).turns[0].passes
    counted = (one.reply_tokens, one.results_tokens, one.hidden_tokens)
    said_tokens = counter.text("x") + counter.text(call_text(call(READ.name)))
    assert counted == (said_tokens, counter.text("done"), counter.text("hm"))


def test_without_a_counter_nothing_is_counted() -> None:
    assert made(said("x")).turns[0].passes[0].reply_tokens == 0
