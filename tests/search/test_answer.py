import random
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.strategies import catalogs, phrases
from toolkit.search import Lexical, ToolSearch, default_retriever
from toolkit.search.shared import searcher
from toolkit.tool import Tool
from toolkit.toolset import ToolSet, toolset

ISSUES = [
    Tool("mcp.git.create_issue", "Opens a ticket."),
    Tool("mcp.git.list_issues", "Shows tickets."),
    Tool("mcp.sea.tide", "Shows high and low water."),
    Tool("builtin.read", "Reads issues issues issues from a file."),
]


@pytest.mark.parametrize(
    "query",
    ["create_issue", "CREATE-ISSUE", "createIssue", "use mcp.git.create_issue", "mcp__git__create_issue"],
)
def test_a_tool_that_is_named_comes_first(query: str) -> None:
    assert ToolSearch("lexical")(query, ISSUES, [], 5).names[0] == "mcp.git.create_issue"


def test_a_name_inside_a_word_is_not_named() -> None:
    assert "mcp.sea.tide" not in ToolSearch("lexical")("tidetable", ISSUES, [], 5).names


def test_a_named_tool_is_answered_even_with_score_zero() -> None:
    answer = ToolSearch(lambda tools: Lexical(tools, min_coverage=1.0))(
        "mcp.sea.tide issue ticket water file", ISSUES, [], 5
    )
    assert answer.hits == (("mcp.sea.tide", 0.0),)


def test_the_answer_tells_what_matched_in_all_what_is_declared_and_which_words_are_unknown() -> None:
    answer = ToolSearch("lexical")("the issues flurbometer", ISSUES[:2], ISSUES[2:], 1)
    assert (len(answer.hits), answer.matched) == (1, 2)
    assert answer.unmatched_words == ("flurbometer",)
    assert answer.declared_matches == ("builtin.read",)


def test_an_index_is_built_once_for_a_catalog_and_its_parts() -> None:
    built = []
    search = ToolSearch(lambda tools: built.append(len(tools)) or Lexical(tools))  # type: ignore[func-returns-value]
    search.prepare(ISSUES)
    search("issue", ISSUES[:2], ISSUES[2:3], 5)
    search("issue", [Tool(t.name, t.description) for t in ISSUES], [], 5)
    search.rank("issue", ISSUES[1:], 3)
    assert built == [4]
    search.rank("issue", [Tool("mcp.git.list_issues", "Another text.")], 3)
    assert built == [4, 1]


def test_old_indexes_are_forgotten() -> None:
    search = ToolSearch("lexical", size=2)
    for i in range(10):
        search.rank("tool", [Tool(f"tool_{i}")])
    assert len(search._indexes) == 2


@given(catalogs, phrases, st.integers(0, 2**32))
def test_a_prepared_superset_changes_no_answer(tools: list[Tool], query: str, seed: int) -> None:
    part = random.Random(seed).sample(tools, len(tools) // 2)
    prepared = ToolSearch("lexical")
    prepared.prepare(tools)
    ours, theirs = prepared(query, part, [], 5), ToolSearch("lexical")(query, part, [], 5)
    assert ours.names == theirs.names and ours.matched == theirs.matched
    assert set(ours.names) <= {tool.name for tool in part}


@given(catalogs, st.text())
def test_any_query_is_answered(tools: list[Tool], query: str) -> None:
    assert len(ToolSearch("lexical")(query, tools, [], 5).hits) <= 5


def test_threads_share_one_search() -> None:
    search, answers = ToolSearch("lexical"), []
    threads = [threading.Thread(target=lambda: answers.append(search("issue", ISSUES, [], 5))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8 and len(set(answers)) == 1


def test_the_repr_builds_it() -> None:
    assert repr(ToolSearch("lexical(min_coverage=0.5)")) == "ToolSearch('lexical(min_coverage=0.5)')"


def test_select_answers_the_named_tools_in_their_order_and_no_others() -> None:
    answer = ToolSearch("lexical")("select:tide, list_issues, nobody", ISSUES, [], 5)
    assert answer.names == ("mcp.sea.tide", "mcp.git.list_issues")


def test_all_tools_of_a_server_are_listed_with_their_number() -> None:
    answer = ToolSearch("lexical")("all tools of git", ISSUES, [], 1)
    assert (answer.names, answer.matched) == (("mcp.git.create_issue",), 2)


def test_a_union_takes_the_hits_of_its_queries_in_turn() -> None:
    answer = ToolSearch("lexical").union(["list issues", "high water", "gnu"], ISSUES, [], 2)
    assert answer.names == ("mcp.git.list_issues", "mcp.sea.tide")
    assert answer.unmatched_words == ("gnu",)


def test_a_search_says_why_a_tool_is_ranked() -> None:
    reasons = ToolSearch("lexical").explain("high water", "mcp.sea.tide", ISSUES)
    assert {reason.term for reason in reasons} == {"high", "water"}
    assert {reason.field for reason in reasons} == {"description"}


def test_a_few_more_tools_make_an_index_grow_and_its_answers_stay() -> None:
    built: list[int] = []
    search = ToolSearch(lambda tools: built.append(len(tools)) or Lexical(tools))  # type: ignore[func-returns-value]
    many = [Tool(f"mcp.sea.tide_{i}", f"Reads tide {i}.") for i in range(8)]
    before = search("tide 3", many, [], 5)
    more = [*many, Tool("mcp.sea.kiln", "Heats.")]
    assert search("heats", more, [], 5).names == ("mcp.sea.kiln",)
    assert search("tide 3", list(many), [], 5) == before == ToolSearch("lexical")("tide 3", many, [], 5)
    assert built == [8, 9]


def test_a_tool_that_changed_gets_an_index_of_its_own() -> None:
    search = ToolSearch("lexical")
    assert search("heats", [Tool("mcp.sea.kiln", "Heats.")], [], 5).names == ("mcp.sea.kiln",)
    assert search("heats", [Tool("mcp.sea.kiln", "Cools.")], [], 5).names == ()


def test_a_ranking_is_asked_for_once_and_again_after_a_fallback() -> None:
    class Counted(Lexical):
        notices: tuple[str, ...] = ()
        asked = 0

        def rank(self, query: str, among: Any = None, k: int = 10) -> Any:
            Counted.asked += 1
            return super().rank(query, among, k)

    search, tools = ToolSearch(Counted), tuple(ISSUES)
    assert search("issue", tools, (), 2) == search("issue", tools, (), 2)
    assert search.rank("issue", tools, 1).names == search("issue", tools, (), 1).names and Counted.asked == 1
    Counted.notices = ("semantic_unavailable",)
    search("file", tools, (), 2), search("file", tools, (), 2)
    assert Counted.asked == 3


def test_the_default_retriever_and_its_name_share_their_indexes() -> None:
    assert searcher(None) is searcher(default_retriever())


@pytest.mark.parametrize("query", ["🌊🌊", "??? !!!", "42", "…", "1-2-3"])
def test_a_query_of_signs_alone_finds_nothing(query: str) -> None:
    tools = toolset([Tool("mcp.sea.tide", "Reads tides."), Tool("mcp.air.wind", "Reads winds.")])
    for spec in ("lexical", "hybrid(static)"):
        answer = ToolSearch(spec)(query, tools, ToolSet(), 5)
        assert answer.hits == () and answer.matched == 0
    assert ToolSearch("hybrid(static)")("tide 42", tools, ToolSet(), 5).hits


@pytest.mark.parametrize("spec", ["lexical", "hybrid(static)"])
def test_a_number_that_a_tool_is_named_by_or_holds_finds_it(spec: str) -> None:
    tools = toolset([Tool("mcp.err.404", "Explains a missing page."), Tool("mcp.ms.office", "Opens Microsoft 365.")])
    search = ToolSearch(spec)
    assert search("404", tools, ToolSet(), 5).names[0] == "mcp.err.404"
    assert search("365", tools, ToolSet(), 5).names[0] == "mcp.ms.office"
