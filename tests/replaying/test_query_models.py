"""Query models ask in what the model had seen; only the optimistic one may use the called tool's name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, TOOLS, call, fates, queries, replayed, said, searched, session, turn
from tests.strategies import sessions
from toolkit.errors import InputError, UnknownNameError
from toolkit.replaying import prepare
from toolkit.replaying import query_models as module
from toolkit.replaying.query_models import MODELS, MOST_TRIES, NoQueryError, Seen, asked, check_query_model, query_model
from toolkit.session import Call, Pass, Session, Turn
from toolkit.tool import Catalog

TEXTS = st.sampled_from(["", " ", "alpha", "beta", "gamma"])


@given(st.sampled_from([*sorted(MODELS), "short_phrase", "short_phrase(words=1)"]), TEXTS, TEXTS, TEXTS)
def test_queries_are_distinct_never_blank_and_at_most_three(name: str, words: str, given: str, last: str) -> None:
    made, _ = asked(query_model(name), Seen(words, given, last, "mcp.git.create_branch", (words, given, last)))
    assert len(made) == len(set(made)) <= MOST_TRIES
    assert all(query == query.strip() != "" for query in made)


def test_own_words_come_first_then_the_input_then_what_was_said_last() -> None:
    assert query_model("own_words")(Seen("w", "i", "l")) == ["w", "i", "l"]
    assert query_model("own_words")(Seen("", "i", "i")) == ["i"]


def test_turn_input_leaves_the_models_own_words_out() -> None:
    assert query_model("turn_input")(Seen("w", "i", "l")) == ["i", "l"]


def test_what_was_said_last_and_the_input_are_asked_at_once_then_alone() -> None:
    assert query_model("last_words+input")(Seen("w", "i", "l")) == ["l\ni", "i", "l"]
    assert query_model("last_words+input")(Seen("w", "i", "")) == ["i"]


def test_pessimistic_asks_once_in_the_input_or_not_at_all() -> None:
    assert query_model("pessimistic")(Seen("w", "i", "l")) == ["i"]
    assert query_model("pessimistic")(Seen("w", " ", "l")) == []


def test_a_recorded_query_is_asked_where_there_is_one_and_own_words_are_counted_elsewhere() -> None:
    assert asked(query_model("recorded"), Seen("w", "i", recorded=("q1", "q2"))) == (["q1", "q2"], "")
    made, why = asked(query_model("recorded"), Seen("w", "i"))
    assert made == ["w", "i"] and "no search in the turn" in why
    with pytest.raises(NoQueryError):
        query_model("recorded")(Seen("w", "i"))


def test_optimistic_asks_by_the_words_of_the_name_first() -> None:
    assert query_model("optimistic")(Seen("w", "", called="mcp.x.makeNewBranch"))[0] == "make new branch"


def test_an_unknown_query_model_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="own_words"):
        query_model("own_word")


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("last_word+input", "Did you mean 'last_words\\+input'"),
        ("shortphrase(words=3)", "Did you mean 'short_phrase'"),
        ("short_phrase(word=3)", "Did you mean 'words'"),
        ("short_phrase(words=0)", "words of at least 1, not 0"),
        ("short_phrase(1, 2)", "It takes: words"),
        ("own_words(3)", "has no options"),
        ("llm", "It takes: endpoint, model"),
        ("tests.nowhere:ask", "cannot be imported"),
        ("short_phrase(", "is not a spec"),
    ],
)
def test_a_wrong_spec_says_what_was_expected(spec: str, says: str) -> None:
    with pytest.raises((InputError, UnknownNameError), match=says):
        check_query_model(spec)


def shouting(seen: Seen) -> list[str]:
    return [seen.turn_input.upper()]


def test_a_function_of_ones_own_is_found_by_its_place_or_by_the_name_it_is_registered_under(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "QUERY_MODELS", replace(module.QUERY_MODELS, registered={}))
    assert query_model(f"{__name__}:shouting") is shouting
    assert module.register("loud")(shouting) is shouting
    assert query_model("loud")(Seen("", "i")) == ["I"]
    assert "loud" in module.QUERY_MODELS.known()
    query_model.cache_clear()


@pytest.mark.parametrize("given", ["a", ["a"], ("a", " ", "a ")])
def test_what_a_function_of_ones_own_gives_is_read_as_distinct_queries(given: Any) -> None:
    assert asked(lambda seen: given, Seen("", "")) == (["a"], "")


def renamed(recorded: Session, names: dict[str, str]) -> Session:
    """Return the session with tools renamed in the catalog and in the calls, and nowhere else."""

    def of_call(one: Call) -> Call:
        return Call(one.id, names.get(one.name, one.name), one.arguments, one.kind, one.result, one.raw_arguments)

    def of_pass(one: Pass) -> Pass:
        made = tuple(map(of_call, one.calls))
        return Pass(one.content, one.reasoning, made, context=one.context, requested=one.requested)

    turns = tuple(Turn(one.input, tuple(map(of_pass, one.passes)), (), one.context) for one in recorded.turns)
    catalog = Catalog(tool.renamed(names.get(tool.name, tool.name)) for tool in recorded.catalog)
    return Session(recorded.id, catalog, turns, recorded.system)


def nothing_declared(visible: object, host: object) -> tuple[list[str], list[str]]:
    return [], [tool.name for tool in visible]  # type: ignore[attr-defined]


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from(["own_words", "turn_input", "pessimistic"]))
def test_renaming_the_called_tools_changes_no_first_query(recorded: Session, model: str) -> None:
    """What follows a first query may differ, since another name may be found sooner or later; what is asked may not."""
    plain = renamed(recorded, {})
    other = renamed(recorded, {tool.name: f"mcp.zz.q{n}" for n, tool in enumerate(TOOLS)})
    asked = [queries_by_pass(one, model) for one in (plain, other)]
    for mine, theirs in zip(*asked, strict=True):
        shorter = min(len(mine), len(theirs))
        assert mine[:1] == theirs[:1] or shorter == 0
        assert set(theirs) <= allowed(plain) and set(mine) <= allowed(plain)


def queries_by_pass(recorded: Session, model: str) -> list[list[str]]:
    trace = replayed(recorded, nothing_declared, query_model=model)
    found: list[list[str]] = []
    for turn_trace in trace.turns:
        asked: list[str] = []
        for one in turn_trace.passes:
            if one.query is not None:
                asked.append(one.query)
            else:
                found.append(asked)
                asked = []
    return found


def allowed(recorded: Session) -> set[str]:
    """Return every text that a model could have seen or said, and how a pass joins them."""
    made = prepare(recorded)
    texts = {turn.input for turn in made.turns}
    texts |= {text for turn in made.turns for one in turn.passes for text in (one.words, one.last_words)}
    return {text.strip() for text in texts}


def test_the_called_tools_own_text_reaches_the_optimistic_model_only() -> None:
    recorded = session(turn("do it", said("hm", call(BRANCH.name))))
    assert queries(replayed(recorded, "lazy")) == ["hm", "do it"]
    assert queries(replayed(recorded, "lazy", query_model="optimistic")) == ["create branch"]


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions(), st.sampled_from(["own_words", "turn_input", "optimistic"]), st.sampled_from(["lazy", "deferred"]))
def test_no_call_is_served_to_the_pessimistic_model_that_is_missed_by_another(
    recorded: Session, other: str, selector: str
) -> None:
    worst, better = (replayed(recorded, selector, query_model=one) for one in ("pessimistic", other))
    for low, high in zip(fates(worst), fates(better), strict=True):
        assert low[1] == high[1] or (low[1], high[1]) == ("missed", "searched")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(sessions())
def test_no_query_model_sees_the_called_tools_own_text_but_the_optimistic_one(recorded: Session) -> None:
    other = renamed(recorded, {tool.name: f"mcp.zz.q{n}" for n, tool in enumerate(TOOLS)})
    for one, two in zip(prepare(recorded).turns, prepare(other).turns, strict=True):
        for mine, theirs in zip(one.passes, two.passes, strict=True):
            assert (mine.words, mine.last_words, mine.searched) == (theirs.words, theirs.last_words, theirs.searched)


def test_queries_of_a_recording_are_asked_in_their_order_and_where_there_are_none_it_is_reported() -> None:
    told: list[tuple[str, str]] = []
    passes = said("hm", searched("zzz")), said("so", searched("create a branch")), said("", call(BRANCH.name))
    recorded = session(turn("x", *passes), turn("y", said("make a branch", call(BRANCH.name))))
    trace = replayed(recorded, "lazy", query_model="recorded", report=lambda code, text: told.append((code, text)))
    assert queries(trace) == ["zzz", "create a branch", "make a branch"]
    assert told == [
        ("no_query", "the recording holds no search in the turn before the call; 1 times own words were asked instead.")
    ]


def test_an_optimistic_system_says_so_in_its_name() -> None:
    assert replayed(session(turn("x")), "lazy", query_model="optimistic").system == "lazy [optimistic]"
    assert replayed(session(turn("x")), "lazy").system == "lazy"


def test_words_of_a_recorded_search_carry_over_into_the_query() -> None:
    recorded = session(turn("x", said("I need a branch", searched("q")), said("", call(BRANCH.name))))
    assert queries(replayed(recorded, "lazy")) == ["I need a branch"]
