"""Query models ask in what the model had seen; only the optimistic one may use the called tool's name."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.builders import BRANCH, TOOLS, call, queries, replayed, said, searched, session, turn
from tests.strategies import sessions
from toolkit.errors import UnknownNameError
from toolkit.replay.queries import MODELS, MOST_TRIES, Seen, query_model
from toolkit.session import Call, Pass, Session, Turn
from toolkit.tool import Catalog

TEXTS = st.sampled_from(["", " ", "alpha", "beta", "gamma"])


@given(st.sampled_from(sorted(MODELS)), TEXTS, TEXTS, TEXTS)
def test_queries_are_distinct_never_blank_and_at_most_three(name: str, words: str, given: str, last: str) -> None:
    asked = list(query_model(name)(Seen(words, given, last, "mcp.git.create_branch")))
    assert len(asked) == len(set(asked)) <= MOST_TRIES
    assert all(query == query.strip() != "" for query in asked)


def test_own_words_come_first_then_the_input_then_what_was_said_last() -> None:
    assert query_model("own_words")(Seen("w", "i", "l")) == ["w", "i", "l"]
    assert query_model("own_words")(Seen("", "i", "i")) == ["i"]


def test_turn_input_leaves_the_models_own_words_out() -> None:
    assert query_model("turn_input")(Seen("w", "i", "l")) == ["i", "l"]


def test_optimistic_asks_by_the_words_of_the_name_first() -> None:
    assert query_model("optimistic")(Seen("w", "", called="mcp.x.makeNewBranch"))[0] == "make new branch"


def test_an_unknown_query_model_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match="own_words"):
        query_model("own_word")


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
@given(sessions(), st.sampled_from(["own_words", "turn_input"]))
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
    from toolkit.replay.script import script

    made = script(recorded)
    texts = {turn.input for turn in made.turns}
    texts |= {text for turn in made.turns for one in turn.passes for text in (one.words, one.last_words)}
    return {text.strip() for text in texts}


def test_the_called_tools_own_text_reaches_the_optimistic_model_only() -> None:
    recorded = session(turn("do it", said("hm", call(BRANCH.name))))
    assert queries(replayed(recorded, "lazy")) == ["hm", "do it"]
    assert queries(replayed(recorded, "lazy", query_model="optimistic")) == ["create branch"]


def test_an_optimistic_system_says_so_in_its_name() -> None:
    assert replayed(session(turn("x")), "lazy", query_model="optimistic").system == "lazy [optimistic]"
    assert replayed(session(turn("x")), "lazy").system == "lazy"


def test_words_of_a_recorded_search_carry_over_into_the_query() -> None:
    recorded = session(turn("x", said("I need a branch", searched("q")), said("", call(BRANCH.name))))
    assert queries(replayed(recorded, "lazy")) == ["I need a branch"]
