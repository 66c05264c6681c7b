"""LiveMCPBench: one file of servers with their tools, one of tasks with the annotators' tools and the recorded run."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from typing import Any

from toolkit.formats.datasets.converted import JSON_TYPES, Converted, Row, kept, row
from toolkit.formats.datasets.livemcpbench_runs import executed, run_session, server_name
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem
from toolkit.tool import Tool

TOOLS = "baseline/mcp_copilot/config/mcp_arg_Qwen3-Embedding-0.6B_qwen25_72b_int4_instruct.json"
RUNS = "baseline/annotation/claude-sonnet-4-20250514_Qwen3-Embedding-0.6B.json"
_PARAMETER = re.compile(r"\((Optional, )?(\w+)\)\s*(.*)\Z", re.DOTALL)
_NUMBERED = re.compile(r"^\s*\d+\.\s*(\S.*?)\s*$", re.MULTILINE)
Names = Mapping[str, list[str]]
"""The ids of the tools that have a name, those of small servers first."""


def convert(package: Package, problems: list[Problem]) -> Converted:
    """Return the tools of all servers, the tasks as queries, and the runs as sessions."""
    servers = kept(package.json(TOOLS), _tools, problems, TOOLS)
    tools = list({tool["id"]: tool for own in servers for tool in own}.values())
    sizes = Counter(tool["server"] for tool in tools)
    names: defaultdict[str, list[str]] = defaultdict(list)
    for tool in sorted(tools, key=lambda tool: sizes[tool["server"]]):
        names[tool["name"]].append(tool["id"])
    runs = package.json(RUNS)
    queries = list(kept(runs, partial(_query, names), problems, RUNS))
    offered = [_offered(tool) for tool in tools]
    return Converted(tools, queries, list(kept(runs, partial(run_session, offered), problems, RUNS)))


def _tools(server: Mapping[str, Any]) -> list[Row]:
    name = server_name(server["server_name"])
    return [
        row(f"{name}::{tool['name']}", tool["name"], tool["description"] or "", _schema(tool["parameter"]), name)
        for tool in server["tools"]
    ]


def _schema(given: Mapping[str, str]) -> Row:
    found = {name: parameter(text) for name, text in given.items()}
    return {
        "type": "object",
        "properties": {name: schema for name, (schema, _) in found.items()},
        "required": [name for name, (_, needed) in found.items() if needed],
    }


def parameter(text: str) -> tuple[Row, bool]:
    """Return a parameter's schema, and whether it is required.

    >>> parameter("(Optional, integer) How many.")
    ({'type': 'integer', 'description': 'How many.'}, False)
    """
    match = _PARAMETER.match(text)
    optional, kind, description = match.groups() if match else (None, "any", text)
    return {**({"type": kind} if kind in JSON_TYPES else {}), "description": description}, not optional


def _offered(tool: Row) -> Tool:
    name = f"mcp.{tool['server']}.{tool['name']}"
    return Tool(name, tool["description"], tool["input_schema"], f"mcp:{tool['server']}", deferred=True, id=tool["id"])


def _query(names: Names, task: Mapping[str, Any]) -> Row:
    used = {f"{server}::{tool}" for server, tool in executed(task["messages"])}
    wanted = list(dict.fromkeys(_NUMBERED.findall(task["Annotator Metadata"]["Tools"])))
    gold = [min(names[name], key=lambda id: id not in used) for name in wanted if name in names]
    found = {"id": task["task_id"], "query": task["Question"], "gold": gold, "category": task["category"]}
    unknown = [name for name in wanted if name not in names]
    return {**found, **({"gold_unresolved": unknown} if unknown else {})}
