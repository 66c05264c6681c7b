"""The recorded runs of LiveMCPBench: chat messages of a model that had a search tool and a tool that runs others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from toolkit.session import Call, Pass, Result, Session, Turn
from toolkit.tool import Catalog, Tool

MODEL = "claude-sonnet-4-20250514"
_SERVER = "mcp-copilot"
ROUTE = Tool(
    f"mcp.{_SERVER}.route",
    "Searches all servers for tools that fit the query.",
    {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
)
EXECUTE = Tool(
    f"mcp.{_SERVER}.execute-tool",
    "Runs a tool of a server that route has found.",
    {
        "type": "object",
        "properties": {
            "server_name": {"type": "string"},
            "tool_name": {"type": "string"},
            "params": {"type": "object"},
        },
        "required": ["server_name", "tool_name"],
    },
)
_HIT = re.compile(r"server_name: (.+?)\\n\s+tool_name: (.+?)\\n")
_FAILED = re.compile(r"isError=True\s*\Z|\ATool call .*timed out", re.DOTALL)
Message = Mapping[str, Any]


def server_name(written: str) -> str:
    """Return the one name of a server that the source writes with spaces or with underscores."""
    return written.replace(" ", "_")


def run_session(offered: Sequence[Tool], task: Mapping[str, Any]) -> Session:
    """Return the session of a task's run: two tools declared, those of all servers searchable."""
    messages = task["messages"]
    answers = {one["tool_call_id"]: one["content"] for one in messages if one["role"] == "tool"}
    catalog = Catalog((ROUTE, EXECUTE, *offered))
    offer = Pass(declared=(ROUTE.name, EXECUTE.name), searchable=tuple(tool.name for tool in offered), model=MODEL)
    said = [one for one in messages if one["role"] == "assistant"]
    passes = tuple(replace(offer, content=one["content"] or "", calls=_calls(one, answers)) for one in said)
    return Session(
        task["task_id"],
        catalog,
        (Turn(_words(messages, "user"), passes),),
        system=_words(messages, "system"),
        model=MODEL,
        agent={"name": _SERVER},
        definitions="joined",
        outcome={"success": task["task_success"] == "success"},
        extra={"dataset": {"set": "livemcpbench", "kind": "recorded model run", "category": task["category"]}},
    )


def _words(messages: Sequence[Message], role: str) -> str:
    return "\n\n".join(one["content"] for one in messages if one["role"] == role)


def _calls(message: Message, answers: Mapping[str, str]) -> tuple[Call, ...]:
    return tuple(_call(one, answers.get(one["id"])) for one in message.get("tool_calls") or ())


def _call(raw: Mapping[str, Any], answer: str | None) -> Call:
    function = raw["function"]
    given = json.loads(function["arguments"] or "{}")
    if function["name"] == "route":
        hits = tuple(_name(server, tool) for server, tool in _HIT.findall(answer or ""))
        return Call(raw["id"], ROUTE.name, given, "search", _result(answer, hits))
    name = _name(given["server_name"], given["tool_name"])
    via = {"dataset": {"via": "execute-tool"}}
    return Call(raw["id"], name, given.get("params") or {}, result=_result(answer), extra=via)


def _name(server: str, tool: str) -> str:
    return f"mcp.{server_name(server)}.{tool}"


def _result(answer: str | None, hits: tuple[str, ...] = ()) -> Result | None:
    return None if answer is None else Result(answer, _FAILED.search(answer) is not None, hits)


def executed(messages: Sequence[Message]) -> Iterator[tuple[str, str]]:
    """Yield server and tool of each run of a tool."""
    for message in messages:
        for call in message.get("tool_calls") or ():
            if call["function"]["name"] == "execute-tool":
                given = json.loads(call["function"]["arguments"] or "{}")
                yield server_name(given["server_name"]), given["tool_name"]
