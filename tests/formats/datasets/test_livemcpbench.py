"""LiveMCPBench becomes a catalog, queries with annotated gold, and the recorded runs as sessions."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.formats.datasets.wheels import wheel
from toolkit.formats.datasets.converted import Converted
from toolkit.formats.datasets.livemcpbench import RUNS, TOOLS, convert, parameter
from toolkit.formats.datasets.livemcpbench_runs import EXECUTE, ROUTE
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem

FOUND = (
    "meta=None content=[TextContent(type='text', text=\"success: true\\nmatched_tools:\\n- server_name: Big Disk\\n"
    '  tool_name: write_file\\n  tool_description: Writes.\\n", annotations=None)] isError=False'
)


def server(name: str, *tools: str) -> dict[str, Any]:
    listed = [{"name": tool, "description": "Does it.", "parameter": {"path": "(string) Where."}} for tool in tools]
    return {"server_name": name, "tools": listed}


def asked(id: str, name: str, **arguments: Any) -> dict[str, Any]:
    called = {"id": id, "function": {"name": name, "arguments": json.dumps(arguments)}}
    return {"role": "assistant", "content": None, "tool_calls": [called]}


def answered(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def task(*messages: Any, tools: str = "1. write_file", **more: Any) -> dict[str, Any]:
    first = {"role": "system", "content": "Be brief."}, {"role": "user", "content": "Write it."}
    return {
        "task_id": "t1",
        "Question": "Write it.",
        "category": "work",
        "Annotator Metadata": {"Tools": tools},
        "messages": [*first, *messages],
        "task_success": "success",
        **more,
    }


def converted(folder: Path, *runs: Any) -> tuple[Converted, list[Problem]]:
    servers = [
        server("Big Disk", "write_file", "read_file"),
        server("Big_Disk", "write_file"),
        server("s", "write_file"),
    ]
    problems: list[Problem] = []
    path = wheel(folder / "live-1-py3-none-any.whl", {TOOLS: servers, RUNS: list(runs)})
    return convert(Package(path), problems), problems


def test_a_server_written_in_two_ways_is_one(tmp_path: Path) -> None:
    found, _ = converted(tmp_path)
    assert {tool["id"] for tool in found.tools} == {"Big_Disk::write_file", "Big_Disk::read_file", "s::write_file"}


def test_gold_is_the_tool_that_the_run_used_else_that_of_the_smallest_server(tmp_path: Path) -> None:
    used = asked("1", "execute-tool", server_name="Big Disk", tool_name="write_file", params={})
    found, _ = converted(tmp_path, task(used), task())
    assert [query["gold"] for query in found.queries] == [["Big_Disk::write_file"], ["s::write_file"]]


def test_a_name_that_no_server_has_is_kept_apart(tmp_path: Path) -> None:
    found, problems = converted(tmp_path, task(tools="1. read_file\n 2.  fly \n3. read_file"))
    (query,) = found.queries
    assert (query["gold"], query["gold_unresolved"]) == (["Big_Disk::read_file"], ["fly"])
    assert not problems


def test_route_is_a_search_and_what_execute_tool_ran_stands_under_its_own_name(tmp_path: Path) -> None:
    run = task(
        asked("1", "route", query="write"),
        answered("1", FOUND.replace("\n", "\\n")),
        asked("2", "execute-tool", server_name="Big Disk", tool_name="write_file", params={"path": "a"}),
        answered("2", "meta=None content=[] isError=True"),
        {"role": "assistant", "content": "Done."},
    )
    found, _ = converted(tmp_path, run)
    (session,) = found.sessions
    (turn,) = session.turns
    search, call = session.calls()
    assert (session.system, turn.words, turn.passes[-1].words) == ("Be brief.", "Write it.", "Done.")
    assert (search.name, search.kind, search.arguments) == (ROUTE.name, "search", {"query": "write"})
    assert search.result is not None and search.result.returned == ("mcp.Big_Disk.write_file",)
    assert (call.name, call.kind, call.arguments) == ("mcp.Big_Disk.write_file", "call", {"path": "a"})
    assert call.result is not None and call.result.is_error
    assert session.outcome == {"success": True}


def test_two_tools_are_declared_and_those_of_all_servers_searchable(tmp_path: Path) -> None:
    found, _ = converted(tmp_path, task({"role": "assistant", "content": "No."}, task_success="failure"))
    (session,) = found.sessions
    (one,) = session.passes()
    assert one.declared == (ROUTE.name, EXECUTE.name)
    assert one.searchable is not None and len(one.searchable) == 3
    assert [tool.name for tool in session.catalog if not tool.deferred] == [ROUTE.name, EXECUTE.name]
    assert session.outcome == {"success": False}


def test_a_run_that_is_not_of_the_form_is_skipped_and_counted(tmp_path: Path) -> None:
    broken = task(asked("1", "execute-tool", tool_name="write_file"))
    found, problems = converted(tmp_path, broken)
    assert not found.sessions and not found.queries
    assert {one.code for one in problems} == {"bad_row"}


@pytest.mark.parametrize(
    ("text", "schema", "needed"),
    [
        ("(string) ", {"type": "string", "description": ""}, True),
        ("(Optional, any) One\nor more.", {"description": "One\nor more."}, False),
        ("Without a type.", {"description": "Without a type."}, True),
    ],
)
def test_a_parameter_text_becomes_a_schema(text: str, schema: dict[str, str], needed: bool) -> None:
    assert parameter(text) == (schema, needed)
