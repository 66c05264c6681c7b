"""Whatever a searcher does, the turn goes on and nothing is shown that may not be seen (Q8)."""

from __future__ import annotations

import json
from asyncio import CancelledError
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from toolkit import Host, load_sessions
from toolkit.engine import Answer, Verdict
from toolkit.host import text_of
from toolkit.replaying.rerun import rerun
from toolkit.tool import Tool

TOOLS = [Tool(f"mcp.git.tool_{number:02}", deferred=True) for number in range(60)]
SECRET = TOOLS[1].name
FAILED = '{"error":"search_failed"'


def raising(error: BaseException) -> Callable[..., Any]:
    def search(query: Any, searchable: Any, declared: Any, limit: Any) -> Any:
        raise error

    return search


def answering(answer: Any) -> Callable[..., Any]:
    return lambda query, searchable, declared, limit: answer


def searched(searcher: Any, **options: Any) -> tuple[Host, Verdict]:
    host = Host(TOOLS, retriever=searcher, policy={SECRET: "deny"}, **options)
    return host, host.start_turn("look").start_pass().search("tool")


BROKEN = {
    "none": answering(None),
    "a list": answering([("mcp.git.tool_00", 1.0)]),
    "an error": raising(RuntimeError("no index")),
    "an interrupted task": raising(CancelledError()),
    "an end of a generator": raising(GeneratorExit()),
    "an exit": raising(SystemExit(3)),
    "hits that are no pairs": answering(Answer(("mcp.git.tool_00",))),  # type: ignore[arg-type]
    "a score that is none": answering(Answer(((TOOLS[0].name, "high"),))),  # type: ignore[arg-type]
    "no hits": answering(Answer(None)),  # type: ignore[arg-type]
    "words that are none": answering(Answer(unmatched_words=None)),  # type: ignore[arg-type]
    "words that are numbers": answering(Answer(unmatched_words=(5,))),  # type: ignore[arg-type]
    "a notice that is one text": answering(Answer(notices="poor")),  # type: ignore[arg-type]
    "a number of matches that is none": answering(Answer(matched=None)),  # type: ignore[arg-type]
    "nothing that can be hashed": answering(Answer((([], 1.0),))),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("searcher", BROKEN.values(), ids=BROKEN)
def test_a_searcher_that_gives_no_answer_is_an_error_result(searcher: Any) -> None:
    host, verdict = searched(searcher)
    assert verdict.code == "search_failed" and text_of(verdict).startswith(FAILED)
    assert verdict.names == () and host.start_turn("go on").start_pass().call(TOOLS[0].name).code == "not_found_yet"


def test_of_fifty_hits_only_those_that_are_visible_and_no_more_than_asked_for_count() -> None:
    names = [SECRET, "mcp.other.ghost", *(tool.name for tool in TOOLS[2:52])]
    found = Answer(tuple((name, 1.0) for name in names), 500, declared_matches=(SECRET, TOOLS[3].name))
    host, verdict = searched(answering(found))
    assert verdict.names == tuple(tool.name for tool in TOOLS[2:7])
    assert verdict.answer is not None and verdict.answer.matched == 59
    assert not {"ghost", SECRET} & set(text_of(verdict).split('"')) and verdict.answer.declared_matches == ()


def test_what_is_denied_while_a_search_runs_is_not_in_its_answer() -> None:
    def search(query: str, searchable: Any, declared: Any, limit: int) -> Answer:
        host.set_policy({"mcp.git.tool_0?": "deny"})
        return Answer(tuple((tool.name, 1.0) for tool in searchable), len(searchable))

    host = Host(TOOLS, retriever=search)
    verdict = host.start_turn("look").start_pass().search("tool")
    assert verdict.names == tuple(tool.name for tool in TOOLS[10:15])
    assert json.loads(text_of(verdict).splitlines()[-1])["matched"] == 50


def test_a_failed_search_runs_again_to_the_same(tmp_path: Path) -> None:
    path = tmp_path / "live.json"
    searched(raising(GeneratorExit()), record=path)
    again = rerun(load_sessions(path), retriever=raising(ValueError()))
    assert again.same and again.answers == 1, again.differences
