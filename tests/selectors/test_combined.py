"""`a | b`, `a & "pattern"`, `a.cap(tokens)`, `a.pin(patterns)`: what they select, and that their `repr` builds them."""

from __future__ import annotations

import pickle
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, READ, TOOLS, session
from tests.selectors.views import Ranker, declared, split, view
from toolkit.engine import Selection
from toolkit.engine.offer import as_selection
from toolkit.engine.view import EarlierTurn
from toolkit.errors import InputError, UnknownNameError
from toolkit.host import Host
from toolkit.hosts.config import read_config
from toolkit.patterns import matches_any
from toolkit.selectors import combine, label, parts, registry, resolve
from toolkit.selectors.combined import Capped, Either, Narrowed, Pinning
from toolkit.tool import SEARCH

NAMES = [one.name for one in TOOLS]
SIZES = dict(zip(NAMES, (30, 50, 70, 90), strict=True))
PATTERNS = st.sampled_from(["*", "mcp.*", "mcp.git.*", "builtin.*", "none", LOG.name])
LEAVES = st.sampled_from(
    [
        *("lazy", "all", "builtin-only", "deferred", "recent", "recent(n=3)", "pinned('mcp.git.*')"),
        *("lexical(k=2)", "pinned(['builtin.*', 'mcp.mail.*'])", "tests.selectors.test_combined:last_two"),
    ]
)


def last_two(visible: Any, host: Any) -> Any:
    return {"declared": [one.name for one in visible[-2:]], "searchable": []}


def grown(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    several = PATTERNS | st.lists(PATTERNS, min_size=2, max_size=3, unique=True)
    return st.one_of(
        st.builds(lambda a, b: combine(a) | b, inner, inner),
        st.builds(lambda a, p: combine(a) & p, inner, several),
        st.builds(lambda a, n: combine(a).cap(n), inner, st.integers(0, 200)),
        st.builds(lambda a, p: combine(a).pin(p), inner, several),
    )


TREES = st.recursive(LEAVES.map(resolve), grown, max_leaves=6)
HOSTS = [
    view("send it", ranker=Ranker(MAIL.name, LOG.name), tokens=SIZES.__getitem__),
    view("again", EarlierTurn("x", (BRANCH.name, "mcp.gone.x")), EarlierTurn("y", (LOG.name,))),
]


def naive(selector: Any, host: Any) -> tuple[list[str], set[str]]:
    """Return what a combination declares, in order of preference, and what it leaves reachable, by sets alone."""
    if isinstance(selector, Either):
        (one, reach), (other, beyond) = naive(selector.first, host), naive(selector.second, host)
        return one + [name for name in other if name not in one], reach | beyond
    if not isinstance(selector, Narrowed | Capped | Pinning):
        found = as_selection(selector(TOOLS, host))
        return list(found.declared), {*found.declared, *found.searchable}
    names, reach = naive(selector.of, host)
    if isinstance(selector, Narrowed):
        return [name for name in names if matches_any(selector.patterns, name)], reach
    if isinstance(selector, Pinning):
        pinned = [name for name in sorted(NAMES) if matches_any(selector.patterns, name)]
        return pinned + [name for name in names if name not in pinned], reach | set(pinned)
    sizes = [host.tokens(name) or len_of(name) for name in names]
    return [name for place, name in enumerate(names) if sum(sizes[: place + 1]) <= selector.tokens], reach


def len_of(name: str) -> int:
    from toolkit.tool import definition_text

    return len(definition_text(TOOLS[NAMES.index(name)])) // 4


@given(TREES, st.sampled_from(HOSTS))
def test_a_combination_selects_what_its_sets_say(tree: Any, host: Any) -> None:
    found = as_selection(tree(TOOLS, host))
    names, reach = naive(tree, host)
    assert list(found.declared) == names
    assert {*found.declared, *found.searchable} == reach


@given(TREES)
def test_its_repr_builds_it_again(tree: Any) -> None:
    again = resolve(label(combine(tree)))
    assert combine(again) == combine(tree) and hash(combine(again)) == hash(combine(tree))
    assert [again(TOOLS, host) for host in HOSTS] == [tree(TOOLS, host) for host in HOSTS]
    assert pickle.loads(pickle.dumps(tree)) == tree


@given(TREES)
def test_it_is_asked_once_a_told_set_exactly_when_all_its_parts_are(tree: Any) -> None:
    looks_on = ("recent", "lexical", ".cap", "last_two")
    assert getattr(tree, "static", False) == (not any(word in label(combine(tree)) for word in looks_on))


@given(TREES.filter(lambda tree: not getattr(tree, "is_default", False)))
def test_in_a_host_it_is_one_selector_trip_and_offers_only_what_is_told(tree: Any) -> None:
    host = Host(TOOLS, tree, ["mcp.*"], retriever="lexical")
    offer = host.start_turn("send it").offer
    assert host.selector_trips == 1 and {tool.name for tool in offer.declared} - {SEARCH} <= set(NAMES) - {READ.name}


def test_text_python_and_both_at_once_make_the_same_selector() -> None:
    text = resolve("lazy | recent(n=2)")
    assert text == (resolve("lazy") | "recent(n=2)") == ("lazy" | resolve("recent(n=2)"))
    assert repr(last_two | resolve("lazy")) == "tests.selectors.test_combined:last_two | lazy"
    assert combine(last_two)(TOOLS, view()) == Selection((LOG.name, MAIL.name), ())


def test_brackets_stand_only_where_they_are_needed() -> None:
    for text in (
        *("lazy | all | recent(n=2)", "lazy | (all | recent(n=2))", "(lazy | all) & 'mcp.*'", "lazy | all & 'mcp.*'"),
        *("(lazy | all).cap(5)", "(all & ('a', 'b')).pin('c').cap(1)", "all.cap(5) & 'x' & 'y'"),
    ):
        assert repr(resolve(text)) == text


def test_a_tool_is_withheld_only_when_both_withhold_it() -> None:
    assert split("builtin-only | builtin-only") == ({READ.name}, set())
    assert split("builtin-only | pinned('mcp.git.*')")[1] == set(NAMES)


def test_a_tool_off_the_declared_list_is_searchable() -> None:
    assert split("all & 'mcp.git.*'") == ({BRANCH.name, LOG.name}, set(NAMES))
    assert split("all.cap(0)") == (set(), set(NAMES))


def test_a_cap_drops_the_least_wanted_and_never_puts_a_smaller_one_in_its_place() -> None:
    host = view("x", ranker=Ranker(MAIL.name, LOG.name, READ.name), tokens=SIZES.__getitem__)
    assert declared("lexical(k=3).cap(159)", host) == [MAIL.name]
    assert declared("lexical(k=3).cap(160)", host) == [MAIL.name, LOG.name]
    assert declared("lexical(k=3).cap(190)", host) == [MAIL.name, LOG.name, READ.name]


def test_what_is_pinned_is_wanted_most() -> None:
    host = view("x", ranker=Ranker(MAIL.name, LOG.name), tokens=SIZES.__getitem__)
    assert declared("lexical(k=2).pin('builtin.*').cap(120)", host) == [READ.name, MAIL.name]


def test_notices_of_both_are_passed_on_once() -> None:
    def noting(visible: Any, host: Any) -> Selection:
        return Selection([], [], ("mode_changed",))

    assert (combine(noting) | noting)(TOOLS, view()).notices == ("mode_changed",)
    assert combine(noting).cap(0).pin("a")(TOOLS, view()).notices == ("mode_changed",)


def test_a_function_that_returns_no_two_lists_fails_as_it_would_alone() -> None:
    host = Host(TOOLS, combine(lambda visible, host: 3) | "lazy")
    turn = host.start_turn("x")
    assert turn.notices == ("selector_failed",) and "two lists" in turn.details["selector_failed"]


def test_a_named_function_stands_by_its_name_and_options(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(registry.SELECTORS.registered, "two", last_two)
    assert repr(resolve("two | lazy")) == "two | lazy"
    assert repr(combine(partial(last_two, n=3)) | "lazy") == "two(n=3) | lazy"


def test_the_parts_of_a_combination_are_all_that_it_is_made_of() -> None:
    tree = resolve("(lazy | all).cap(3)")
    assert [label(one) for one in parts(tree)] == ["(lazy | all).cap(3)", "lazy | all", "lazy", "all"]


@pytest.mark.parametrize("text", ["lazy.cap(-1)", "lazy.cap(1.5)", "lazy.cap(True)", "lazy.cap('x')"])
def test_a_cap_is_a_whole_number_of_tokens(text: str) -> None:
    with pytest.raises(InputError, match="^cap: tokens must be a whole number of at least 0"):
        resolve(text)


@pytest.mark.parametrize("wrong", [3, None, [], [1], {}])
def test_a_pattern_is_text(wrong: Any) -> None:
    with pytest.raises(InputError, match="a pattern or a list of them was expected"):
        resolve("lazy") & wrong
    with pytest.raises(InputError, match="a pattern or a list of them was expected"):
        resolve("lazy").pin(wrong)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("lazy.capp(3)", "Did you mean '.cap'"),
        ("lazy().pim('a')", "Did you mean '.pin'"),
        ("lazy | lazi", "Did you mean 'lazy'"),
        ("lazy | semantik(k=2)", "semantic takes: k"),
    ],
)
def test_a_misspelt_part_is_told_with_the_nearest(text: str, says: str) -> None:
    with pytest.raises(UnknownNameError) as raised:
        resolve(text)
    assert says in str(raised.value)


def test_a_hosts_file_may_combine_selectors_and_a_misspelt_part_is_told(tmp_path: Path) -> None:
    file = tmp_path / "host.toml"
    file.write_text("[tools]\nselector = \"lazy | recent(n=3).pin('mcp.mail.*')\"\n", "utf-8")
    assert read_config(file).selector == "lazy | recent(n=3).pin('mcp.mail.*')"
    file.write_text("[tools]\nselector = 'lazy | recnt(n=3)'\n", "utf-8")
    with pytest.raises(InputError, match="unknown selector 'recnt'"):
        read_config(file)


def test_what_has_nothing_to_learn_has_no_fit() -> None:
    assert not hasattr(resolve("lazy | recent"), "fit")
    assert not hasattr(resolve("lazy | recent"), "save")
    fitted = resolve("(frequent(k=1) | lazy).pin('x')").fit(iter([session()]))
    assert {one.usage.sessions for one in parts(fitted) if hasattr(one, "usage")} == {1}
