"""`check_retriever` passes every retriever of the toolkit, and finds what breaks each rule."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Sequence
from importlib.util import find_spec
from typing import Any

import pytest

from toolkit.errors import UnknownNameError
from toolkit.search import Lexical, Ranking
from toolkit.search.retrievers.registry import RETRIEVERS
from toolkit.testing import check_retriever
from toolkit.testing.retriever_rules import RULES
from toolkit.tool import Tool

models = pytest.mark.skipif(find_spec("sentence_transformers") is None, reason="needs the extra `embed`")
WITHOUT_A_MODEL = {"lexical", "regex"}


@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=[] if one in WITHOUT_A_MODEL else [models]) for one in RETRIEVERS.built_in]
)
def test_every_registered_retriever_keeps_the_rules(name: str) -> None:
    assert check_retriever(name, seconds=10).failures == ()


def broken(change: Callable[[Ranking, str, int], Ranking]) -> Any:
    """Return a lexical retriever whose answer is changed, given the query and k."""

    class Broken:
        def __init__(self, tools: Sequence[Tool]) -> None:
            self.inner = Lexical(tools)

        def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
            return change(self.inner.rank(query, among, k), query, k)

    return Broken


def ranking(pairs: Any) -> Ranking:
    pairs = list(pairs)
    return Ranking(tuple(name for name, _ in pairs), tuple(score for _, score in pairs))


def stray(found: Ranking, query: str, k: int) -> Ranking:
    return ranking([*found, ("mcp.stray.tool", 0.1)][:k])


def named_twice(found: Ranking, query: str, k: int) -> Ranking:
    return ranking([*found, *list(found)[-1:]][:k])


def zero(found: Ranking, query: str, k: int) -> Ranking:
    return ranking((name, 0.0) for name, _ in found)


def endless(found: Ranking, query: str, k: int) -> Ranking:
    return ranking((name, float("nan")) for name, _ in found)


def one_more(found: Ranking, query: str, k: int) -> Ranking:
    return found if k else Ranking(("x",), (1.0,))


def turned(found: Ranking, query: str, k: int) -> Ranking:
    return ranking(list(found)[::-1])


def twins_turned(found: Ranking, query: str, k: int) -> Ranking:
    return ranking(sorted(found, key=lambda one: (-one[1], [-ord(letter) for letter in one[0]])))


def choking(found: Ranking, query: str, k: int) -> Ranking:
    if "🫖" in query:
        raise ValueError("tea")
    return found


def failing(found: Ranking, query: str, k: int) -> Ranking:
    raise ValueError("always")


@pytest.mark.parametrize(
    ("change", "rule", "says"),
    [
        (failing, "answers", "ValueError: always"),
        (endless, "answers", "scores nan"),
        (stray, "within", "it names 'mcp.stray.tool'"),
        (named_twice, "within", "twice"),
        (zero, "zero", "scores 0"),
        (one_more, "k", "with k=0"),
        (turned, "ties", "scores more than"),
        (twins_turned, "ties", "with the same score"),
        (choking, "edges", "ValueError: tea"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
def test_what_breaks_a_rule_is_told_with_an_example(change: Any, rule: str, says: str) -> None:
    found = check_retriever(broken(change), report=True)
    assert says in next(one.why for one in found.findings if one.rule == rule)
    with pytest.raises(AssertionError, match="Broken breaks"):
        found.check()


class Ordered(Lexical):
    """Ties in the order of the catalog, and every tool when it is asked among none."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        super().__init__(tools)
        self.place = {tool.name: place for place, tool in enumerate(tools)}

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        found = super().rank(query, among or None, len(self.place))
        return ranking(sorted(found, key=lambda one: (-one[1], self.place[one[0]]))[:k])


class Counting(Lexical):
    """Scores grow with every query."""

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        self.asked = getattr(self, "asked", 0) + 1
        return ranking((name, score + self.asked) for name, score in super().rank(query, among, k))


class Shared(Lexical):
    """Answers nothing while another thread asks."""

    busy = threading.Lock()

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        if not self.busy.acquire(blocking=False):
            return Ranking()
        try:
            threading.Event().wait(0.001)
            return super().rank(query, among, k)
        finally:
            self.busy.release()


def needs_a_tool(tools: Sequence[Tool]) -> Lexical:
    return Lexical([tools[0], *tools[1:]])


@pytest.mark.parametrize(
    ("build", "rules"),
    [(Ordered, {"none", "order", "ties"}), (Counting, {"repeats"}), (Shared, {"threads"}), (needs_a_tool, {"edges"})],
)
def test_a_retriever_that_leans_on_order_or_on_what_came_before_is_found(build: Any, rules: set[str]) -> None:
    assert rules <= {one.rule for one in check_retriever(build, report=True).failures}


def test_a_slow_one_is_told_and_every_rule_has_its_line() -> None:
    found = check_retriever("lexical", seconds=0, report=True)
    assert [one.rule for one in found.failures] == ["time"] and len(str(found).splitlines()) == 1 + len(RULES)


def test_what_cannot_be_built_is_told_before_any_rule() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'lexical'"):
        check_retriever("lexicl")


def test_a_catalog_and_queries_of_ones_own_are_asked() -> None:
    found = check_retriever(broken(choking), tools=[Tool("tide")], queries=["tide 🫖"], report=True)
    assert found.failures[0].rule == "answers" and "tide 🫖" in found.failures[0].why
