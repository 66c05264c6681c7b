"""What a diagnosis finds in sessions whose answers are known."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.builders import BRANCH, DATASET, LOG, MAIL, READ, call, event, said, searched, session, tool, turn
from toolkit.errors import InputError, UnknownNameError
from toolkit.experiment.diagnosis import diagnose as module
from toolkit.experiment.diagnosis.diagnose import Diagnosis, diagnose, model_of
from toolkit.experiment.diagnosis.findable import Needs, Try, missing_words
from toolkit.experiment.diagnosis.replays import Deferring, Part, Replayed, Replays
from toolkit.experiment.diagnosis.servers import candidates
from toolkit.experiment.diagnosis.staying import Trips
from toolkit.experiment.diagnosis.weight import ToolUse
from toolkit.formats.sessions import load_sessions
from toolkit.prices.price import price
from toolkit.replaying.system import Setting
from toolkit.replaying.trace import Trace
from toolkit.session import Call, Session
from toolkit.tool import Catalog

LARGE = tuple(tool(f"mcp.sea.tide_{n}", "Says how high the tide is at a place. " * 30, False) for n in range(20))


def branching(id: str, *more: Any, tools: Any = (READ, BRANCH, LOG, MAIL), **options: Any) -> Session:
    """Return a session of two passes that makes a branch, in words that find it."""
    made = turn("create a branch", said("I make a new branch", call(BRANCH.name)), said("done"))
    return session(made, *more, tools=tools, id=id, **options)


def diagnosed(*sessions: Session, **options: Any) -> Diagnosis:
    asked: dict[str, Any] = {"retriever": "lexical", "model": "gpt-5", "progress": False, **options}
    return diagnose(sessions, **asked)


def row(frame: Any, name: str, column: str = "name") -> dict[str, Any]:
    return dict(next(one for one in frame.to_dict("records") if one[column] == name))


def test_what_is_told_and_never_called_is_dead_weight_priced_by_its_tokens_and_passes() -> None:
    found = diagnosed(branching("a"), branching("b"))
    assert set(found.dead_weight["name"]) == {READ.name, LOG.name, MAIL.name}
    mail = row(found.weight, MAIL.name)
    assert (mail["sessions"], mail["turns"], mail["passes"], mail["calls"]) == (2, 2, 4, 0)
    assert mail["tokens_paid"] == 4 * mail["tokens"]
    assert mail["usd_paid"] == pytest.approx(mail["tokens_paid"] * price("gpt-5").input)


def test_definitions_that_are_read_from_the_cache_cost_its_price() -> None:
    found = diagnosed(branching("a", tools=(BRANCH, *LARGE)), model="claude-sonnet-4-5")
    tide, rates = row(found.weight, LARGE[0].name), price("claude-sonnet-4-5")
    assert tide["usd_paid"] == pytest.approx(tide["tokens"] * (rates.write + rates.cached))


def test_what_only_searched_in_the_recorded_host_is_no_tool_of_it() -> None:
    router = tool("mcp.router.route", "Finds tools.")
    asked = said("looking", Call("r1", router.name, {"query": "branch"}, "search"))
    found = diagnosed(session(turn("go", asked, said("", call(BRANCH.name))), tools=(BRANCH, router)))
    assert router.name not in set(found.weight["name"])


def test_a_tool_that_no_query_ranks_is_out_of_reach_and_the_reasons_are_said() -> None:
    recorded = session(turn("", said("Ann should hear of the parcel", call(MAIL.name))))
    found = diagnosed(recorded, branching("b"))
    assert list(found.unfindable["name"]) == [MAIL.name]
    mail = row(found.findable, MAIL.name)
    assert (mail["needed_turns"], mail["found_turns"], mail["queries_from"]) == (1, 0, "modelled")
    assert "no word of the query is in it" in mail["why"] and "no tool has 'ann'" in mail["why"]
    assert "'parcel'" in mail["hint"]
    assert row(found.findable, BRANCH.name) | {"why": "", "hint": "", "best_rank": 1.0} == row(
        found.findable, BRANCH.name
    )
    assert row(found.staying, MAIL.name)["must_stay"] and "no query finds it" in row(found.staying, MAIL.name)["why"]


def test_recorded_searches_are_asked_in_place_of_modelled_ones() -> None:
    asked = said("hm", searched("send a letter", MAIL.name))
    found = diagnosed(session(turn("x", asked, said("y", call(MAIL.name)))))
    mail = row(found.findable, MAIL.name)
    assert (mail["found_turns"], mail["queries_from"], mail["best_query"]) == (1, "recorded", "send a letter")


def test_k_decides_what_counts_as_found() -> None:
    tools = (BRANCH, *(tool(f"mcp.git.branch_{n}", "Makes a branch, a new branch.") for n in range(4)))
    ranks = row(diagnosed(branching("a", tools=tools)).findable, BRANCH.name)["best_rank"]
    for k, reached in ((int(ranks), 1), (int(ranks) - 1, 0)):
        if k:
            assert row(diagnosed(branching("a", tools=tools), k=k).findable, BRANCH.name)["found_turns"] == reached


def test_a_large_server_that_nobody_calls_is_worth_deferring_and_a_busy_one_is_not() -> None:
    found = diagnosed(*(branching(f"s{n}", tools=(READ, BRANCH, *LARGE)) for n in range(3)))
    assert found.defer == ("sea",)
    assert (
        row(found.servers, "sea", "server")["alone_saves_usd"]
        > 0
        > row(found.servers, "git", "server")["alone_saves_usd"]
    )
    saving = found.savings[0]
    assert 0 < saving.share_low <= saving.share <= saving.share_high < 1 and len(found.savings) == 1


def test_of_a_server_that_is_used_the_tools_that_must_stay_are_pinned() -> None:
    mixed = (READ, BRANCH, *(one.renamed(one.name.replace("sea", "git")).sourced("mcp:git") for one in LARGE))
    found = diagnosed(*(branching(f"s{n}", tools=mixed) for n in range(3)))
    assert found.defer == ("git",) and found.savings[0].pins == (BRANCH.name,)
    assert found.savings[0].deferred.search_trips == 0


def test_with_enough_sessions_the_saving_is_also_measured_on_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ENOUGH", 4)
    made = (branching(f"s{n}", turn(f"task {n}"), tools=(BRANCH, *LARGE)) for n in range(4))
    ours = [Session(one.id, one.catalog, (turn(f"task {n}"), *one.turns)) for n, one in enumerate(made)]
    found = diagnosed(*ours)
    assert [saving.sessions for saving in found.savings] == [4, 2]
    assert found.savings[1].how == "chosen on 2 earlier sessions, measured on 2 later ones"
    assert "no_times" in {one.code for one in found.problems}


def test_what_a_search_put_into_the_history_is_written_once_though_another_search_follows() -> None:
    paid = SimpleNamespace(price=SimpleNamespace(rates=lambda prompt: SimpleNamespace(cached=0.1, write=1.0)))
    paid.costs = lambda one: (one.usd,) * 4
    passes = [("search", 0, 1.0), ("search", 100, 2.0), ("recorded", 250, 9.0)]
    rows = [
        SimpleNamespace(kind=kind, search_history_tokens=held, usd=usd, prompt_tokens=1, fallback_passes=0)
        for kind, held, usd in passes
    ]
    trips = Trips(cast(Any, paid))
    trips.add(Replayed(Trace("a", "all", ()), cast(Any, rows)))
    assert trips.trips == 2
    assert trips.trips_usd == pytest.approx(1.0 + 2.0 + 250 * 0.1 + 150 * 0.9), "the second search wrote the first 100"


@pytest.mark.parametrize("parts", [{"excel"}, {"everything", "memory"}, {"git"}, {"sqlite", "time", "fetch"}])
def test_a_session_that_never_searches_is_billed_as_its_whole_replay_would_be(parts: set[str]) -> None:
    recorded = load_sessions(DATASET, limit=12)
    replays = Replays(recorded, Setting("lexical", model="gpt-5"))
    chosen = frozenset(map(Part, parts))
    for one in recorded:
        whole = replays.paid(replays.replay(one, Deferring(chosen)))
        assert replays.paid(replays.deferred(one, chosen)) == whole == replays.bill(one, chosen)


def test_deferring_is_what_a_host_does_with_the_flags_of_its_file() -> None:
    recorded = branching("a", turn("mail", said("send a letter", call(MAIL.name))), tools=(READ, BRANCH, MAIL))
    flagged = Session("b", recorded.catalog.deferring(lambda name: name == MAIL.name), recorded.turns)
    replays = Replays([recorded], Setting("lexical", model="gpt-5"))
    assert replays.bill(recorded, frozenset({Part("mail")})) == replays.paid(replays.replay(flagged, "deferred"))


def test_servers_without_calls_are_one_candidate_and_others_stand_with_and_without_pins() -> None:
    uses = [ToolUse("mcp.a.x", "a", calls=1), ToolUse("mcp.a.y", "a"), ToolUse("mcp.b.z", "b"), ToolUse("mcp.c.z", "c")]
    a, pinned = frozenset({Part("a")}), frozenset({Part("a", ("mcp.a.x",))})
    idle = frozenset({Part("b"), Part("c")})
    assert set(candidates(uses, {"mcp.a.x"}, "abc")) == {idle, a, pinned}
    assert set(candidates(uses, (), "abc")) == {idle, a}


def test_words_of_one_tool_tell_more_than_words_of_all() -> None:
    mail = Needs(MAIL, turns=[[Try("kindly post it", 0)], [Try("kindly post this", 0)]])
    log = Needs(LOG, turns=[[Try("kindly look", 0)]])
    assert missing_words(mail, [log])[:2] == ["post", "kindly"]


def test_more_tools_around_are_weighed_too() -> None:
    found = diagnosed(branching("a"), catalog=Catalog(LARGE))
    assert found.about["around"] == 20 and "sea" in found.defer


def test_what_could_not_be_replayed_as_recorded_is_told_once() -> None:
    odd = turn("create a branch", said("a new branch", call(BRANCH.name)), events=(event("earthquake"),))
    (told,) = diagnosed(session(odd)).problems
    assert told.code == "bad_event" and "session 's': unknown event 'earthquake'" in told.message


def test_the_model_is_the_one_that_most_sessions_name_if_its_price_is_known() -> None:
    named = [branching(f"s{n}", model=model) for n, model in enumerate(("nobody-knows", "nobody-knows", "gpt-4.1"))]
    assert model_of(named) == "gpt-4.1"
    assert model_of(named[:2]) == model_of([branching("a")]) == "gpt-5"


def test_wrong_names_and_no_sessions_are_errors_before_anything_runs() -> None:
    wrong: list[dict[str, Any]] = [
        {"retriever": "lexicul"},
        {"model": "gpt-99x"},
        {"profile": "x"},
        {"query_model": "y"},
    ]
    for options in wrong:
        with pytest.raises(UnknownNameError):
            diagnosed(branching("a"), **options)
    with pytest.raises(InputError, match="k must be at least 1"):
        diagnosed(branching("a"), k=0)
    for none in ((), (session(tools=()),)):
        with pytest.raises(InputError, match="no session with tools"):
            diagnosed(*none)


def test_what_no_model_takes_with_everything_declared_is_told() -> None:
    wide = tuple(tool(f"mcp.sea.tide_{n}", "Says how high the tide is at a place. " * 60, False) for n in range(40))
    found = diagnosed(branching("a"), catalog=Catalog(wide), model="gpt-4")
    told = [one.message for one in found.problems if one.code == "over_window"]
    assert len(told) == 1 and "2 requests would not fit the context window (8,192)" in told[0]
    assert not [one for one in diagnosed(branching("a"), model="gpt-4").problems if one.code == "over_window"]
