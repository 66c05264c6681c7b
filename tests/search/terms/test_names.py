import pytest
from hypothesis import given

from tests.engine.naive import identifier_words
from tests.search.strategies import catalogs, phrases
from toolkit.search.terms.names import Names, spellings, squash
from toolkit.tool import Tool

TOOL = Tool("mcp.git.create_issue")


@pytest.mark.parametrize("query", ["Create Issue!", "`create-issue`", "(mcp.git.create_issue)", "run createIssue."])
def test_a_name_is_found_whatever_its_case_separators_and_punctuation(query: str) -> None:
    assert Names([TOOL]).named(query, {TOOL.name}) == {TOOL.name}


@pytest.mark.parametrize(
    "query", ["recreate_issue", "create_issues", "create an issue", "create issue please", "createissue 7", "a_b", ""]
)
def test_plain_words_and_parts_of_others_name_nothing(query: str) -> None:
    assert not Names([TOOL]).named(query, {TOOL.name})


@given(catalogs, phrases)
def test_names_found_are_those_of_a_plain_scan(tools: list[Tool], query: str) -> None:
    asked = {squash(query), *map(squash, identifier_words(query))}
    expected = {tool.name for tool in tools if spellings(tool) & asked}
    assert Names(tools).named(query, {tool.name for tool in tools}) == expected
