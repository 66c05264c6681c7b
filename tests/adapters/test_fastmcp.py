"""The transform over the real library: what is listed, what a search finds, what runs."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.adapters.drivers import TEXTS, ran

fastmcp = pytest.importorskip("fastmcp")
base = pytest.importorskip("fastmcp.server.transforms.search.base")


def served(selector: Any, **options: Any) -> Any:
    """Return a server with the tools of the drivers behind a selection."""
    from toolkit.adapters.fastmcp import ToolSelection

    server = fastmcp.FastMCP("tests")

    def read_file(path: str) -> str:
        return ran("read_file", {"path": path})

    def mcp__git__close_issue(number: int) -> str:
        return ran("mcp__git__close_issue", {"number": number})

    def mcp__git__list_issues(state: str) -> str:
        return ran("mcp__git__list_issues", {"state": state})

    for function in (read_file, mcp__git__close_issue, mcp__git__list_issues):
        server.tool(function, name=function.__name__, description=TEXTS[function.__name__])
    server.add_transform(ToolSelection(selector, retriever="lexical", **options))
    return server


def played(server: Any, *calls: tuple[str, dict[str, Any]]) -> tuple[list[str], list[str]]:
    """Return the names that a client is listed, and the texts that calls are answered."""

    async def scenario() -> tuple[list[str], list[str]]:
        async with fastmcp.Client(server) as client:
            listed = [tool.name for tool in await client.list_tools()]
            answers = [await client.call_tool(name, given, raise_on_error=False) for name, given in calls]
            return listed, ["\n".join(part.text for part in one.content) for one in answers]

    return asyncio.run(scenario())


def test_a_client_searches_and_calls_what_it_found() -> None:
    close = {"name": "mcp__git__close_issue", "arguments": {"number": 7}}
    listed, (found, closed) = played(
        served("lazy"), ("tools_search", {"query": "close an issue"}), ("tools_call", close)
    )
    assert listed == ["tools_search", "tools_call", "read_file"]
    assert [row["name"] for row in json.loads(found)][0] == "mcp__git__close_issue"
    assert closed == ran("mcp__git__close_issue", {"number": 7})


def test_what_is_declared_is_not_found_and_without_anything_to_find_there_is_no_search() -> None:
    listed, (found,) = played(served("lazy"), ("tools_search", {"query": "read a file"}))
    assert "read_file" in listed and "read_file" not in found
    assert sorted(played(served("all"))[0]) == ["mcp__git__close_issue", "mcp__git__list_issues", "read_file"]


@pytest.mark.parametrize("options", [{"policy": {"mcp.git.close_*": "deny"}}, {"hide": ["mcp.git.close_*"]}])
def test_policy_and_hides_hold_for_what_is_listed_found_and_called(options: dict[str, Any]) -> None:
    given, name = {"number": 7}, "mcp__git__close_issue"
    asked = [("tools_search", {"query": "close an issue"}), (name, given)]
    _, (found, direct, through) = played(
        served("lazy", **options), *asked, ("tools_call", {"name": name, "arguments": given})
    )
    assert "close_issue" not in found and "list_issues" in found
    assert not direct.startswith("ran") and not through.startswith("ran")


def test_a_call_that_needs_a_person_does_not_run() -> None:
    given, name = {"number": 7}, "mcp__git__close_issue"
    server = served("lazy", policy={"mcp.git.close_*": "ask"})
    _, answers = played(server, (name, given), ("tools_call", {"name": name, "arguments": given}))
    assert not any(answer.startswith("ran") for answer in answers)


def test_the_library_still_has_what_the_transform_builds_on() -> None:
    names = {
        "transform_tools",
        "_make_search_tool",
        "_make_call_tool",
        "_search",
        "_render_results",
        "get_tool_catalog",
    }
    assert names <= set(dir(base.BaseSearchTransform))
