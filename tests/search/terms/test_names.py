import pytest
from hypothesis import given

from tests.search.strategies import catalogs, phrases
from toolkit.search.terms.names import Names, spellings, squash
from toolkit.tool import Tool

TOOL = Tool("mcp.git.create_issue")


@pytest.mark.parametrize("query", ["Create Issue!", "`create-issue`", "(mcp.git.create_issue)", "run createIssue."])
def test_a_name_is_found_whatever_its_case_separators_and_punctuation(query: str) -> None:
    assert Names([TOOL]).named(query, {TOOL.name}) == {TOOL.name}


@pytest.mark.parametrize("query", ["recreate_issue", "create_issues", "create an issue", ""])
def test_a_name_within_other_words_is_not_found(query: str) -> None:
    assert not Names([TOOL]).named(query, {TOOL.name})


@given(catalogs, phrases)
def test_names_found_are_those_of_a_plain_scan(tools: list[Tool], query: str) -> None:
    words = query.replace("-", " ").split()
    runs = {squash(" ".join(words[i:j])) for i in range(len(words)) for j in range(i + 1, len(words) + 1)}
    expected = {tool.name for tool in tools if spellings(tool) & runs}
    assert Names(tools).named(query, {tool.name for tool in tools}) == expected
