"""`frequent` and `next_tool` learn from earlier sessions, and say so when they have not."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS, call, said, session, tool, turn
from tests.selectors.views import declared, split, view
from toolkit import Host
from toolkit.engine.view import EarlierTurn
from toolkit.errors import InputError
from toolkit.replaying import System, replay
from toolkit.selectors import ready, resolve
from toolkit.selectors.usage import Usage


def used(id: str, *turns: tuple[str, str], tools: Any = TOOLS) -> Any:
    return session(*(turn(words, said("", call(name))) for words, name in turns), id=id, tools=tools)


HABIT = [used(f"s{n}", ("what changed?", LOG.name), ("go on", BRANCH.name), ("tell Ann", MAIL.name)) for n in range(3)]
FITTED = ("frequent(k=2)", "next_tool(k=2, retriever='lexical')")


def test_the_tools_of_most_turns_are_declared_each_against_how_often_it_was_there() -> None:
    rare = used("r1", ("a", READ.name), ("b", READ.name), tools=(READ,))
    often = [used(f"o{n}", ("a", LOG.name), ("b", MAIL.name)) for n in range(4)]
    fitted = resolve("frequent(k=2)").fit([rare, *often, used("x", ("a", LOG.name))])
    assert declared(fitted) == [LOG.name, MAIL.name]
    assert declared(fitted, visible=(READ, MAIL)) == [MAIL.name, READ.name]
    assert split(fitted)[1] == {one.name for one in TOOLS}


def test_what_follows_the_last_turn_is_declared_first() -> None:
    fitted = resolve("next_tool(k=1, retriever='lexical')").fit(HABIT)
    for before, then in ((LOG, BRANCH), (BRANCH, MAIL)):
        assert declared(fitted, view("so", EarlierTurn("x", (before.name,)))) == [then.name]


def test_what_was_called_for_inputs_like_this_one_is_declared_first() -> None:
    fitted = resolve("next_tool(k=1, retriever='lexical')").fit(HABIT)
    assert declared(fitted, view("tell Bob, please")) == [MAIL.name]
    assert declared(fitted, view("what has changed")) == [LOG.name]


def test_without_words_and_past_the_most_used_are_left() -> None:
    often = [*HABIT, used("m", ("x", MAIL.name))]
    assert declared(resolve("next_tool(k=1, retriever='lexical')").fit(often), view("")) == [MAIL.name]


@pytest.mark.parametrize("spec", FITTED)
def test_what_is_not_told_is_never_declared(spec: str) -> None:
    fitted = resolve(spec).fit(HABIT)
    assert declared(fitted, view("what changed?", EarlierTurn("x", (LOG.name,))), (READ, MAIL)) == [MAIL.name]


@pytest.mark.parametrize("spec", FITTED)
def test_a_saved_one_is_built_again_by_its_repr_and_chooses_the_same(spec: str, tmp_path: Path) -> None:
    fitted = resolve(spec).fit(HABIT)
    saved = fitted.save(tmp_path / "u.json")
    assert resolve(repr(saved)) == saved and pickle.loads(pickle.dumps(saved)) == saved
    assert resolve(repr(saved))(TOOLS, view("tell")) == fitted(TOOLS, view("tell"))


def test_one_that_holds_what_it_learnt_is_asked_once_and_one_that_reads_a_file_each_turn(tmp_path: Path) -> None:
    fitted = resolve("frequent(k=1)").fit(HABIT)
    saved = fitted.save(tmp_path / "u.json")
    assert (fitted.static, saved.static) == (True, False)
    offers = [Host(TOOLS, saved).start_turn("x").declared]
    resolve("frequent(k=1)").fit([used("m", ("x", MAIL.name))]).save(tmp_path / "u.json")
    offers.append(Host(TOOLS, saved).start_turn("x").declared)
    assert offers == [("tools.search", BRANCH.name), ("tools.search", MAIL.name)]


@pytest.mark.parametrize("spec", [*FITTED, "sticky(frequent(k=3) | lazy).pin('x')", "lazy | next_tool"])
def test_one_that_was_never_fitted_is_refused_before_a_run(spec: str) -> None:
    with pytest.raises(InputError, match=r"has not learnt from any session. Fit it first") as raised:
        ready(spec)
    assert ".fit(sessions).save('usage.json')" in str(raised.value)
    with pytest.raises(InputError, match="has not learnt from any session"):
        System(spec).check()
    assert ready(resolve(spec).fit(HABIT))


def test_one_that_was_fitted_and_not_saved_says_so_in_short() -> None:
    fitted = resolve("frequent(k=2)").fit(HABIT)
    assert repr(fitted) == f"frequent(k=2, usage=<3 sessions, {fitted.usage.digest[:8]}>)"
    with pytest.raises(InputError, match="is not a spec"):
        resolve(repr(fitted))


def test_one_that_needs_no_fit_is_ready() -> None:
    assert ready("lazy | recent(n=2)") == resolve("lazy | recent(n=2)")


@pytest.mark.parametrize("name", ["frequent", "next_tool"])
def test_a_file_that_is_none_is_told_when_the_selector_is_made(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no usage file"):
        resolve(f"{name}(usage='none.json')")
    (tmp_path / "u.json").write_text("{}", "utf-8")
    with pytest.raises(InputError, match="is no usage file"):
        resolve(name).__class__(usage=tmp_path / "u.json")
    with pytest.raises(InputError, match="usage must be a file or a Usage, not 3"):
        resolve(f"{name}(usage=3)")


@pytest.mark.parametrize("spec", FITTED)
def test_what_was_learnt_of_other_tools_alone_is_noted(spec: str) -> None:
    fitted = resolve(spec).fit([used("s", ("x", "mcp.sea.tide"), tools=(tool("mcp.sea.tide"),))])
    assert Host(TOOLS, fitted).start_turn("x").notices == ("usage_foreign",)
    assert Host((*TOOLS, tool("mcp.sea.tide")), fitted).start_turn("x").notices == ()
    assert Host([], fitted).start_turn("x").notices == ()


def test_a_replay_runs_what_was_fitted() -> None:
    trace = replay(HABIT[0], resolve("frequent(k=3)").fit(HABIT), retriever="lexical")
    assert [fate for made in trace.passes() for fate in (one.fate for one in made.calls)] == ["served"] * 3


def test_an_empty_usage_chooses_nothing() -> None:
    for spec in FITTED:
        assert declared(resolve(spec).fit([]), view("x")) == []
    assert Usage.of([]) == Usage()


@pytest.mark.parametrize("spec", ["frequent(k=0)", "next_tool(k=0)", "next_tool(near=0)"])
def test_what_is_out_of_range_is_refused(spec: str) -> None:
    with pytest.raises(InputError, match="whole number of at least 1"):
        resolve(spec)
