"""Tiny builders: a tool, a call, a pass, a turn, a session, and the same as ATIF on disk."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from toolkit.replaying import Setting, System, Trace, fold, prepare
from toolkit.session import Call, Event, Message, Pass, Result, Session, Turn
from toolkit.tool import Catalog, Tool

DATASET = Path(__file__).parents[1] / "datasets" / "mcp-servers" / "sessions.atif.jsonl.gz"
SELECTORS = ("all", "lazy", "builtin-only", "deferred", "oracle")
ALWAYS = {"all", "none", "oracle", "oracle_cost"}
"""The bounds, which stand in every table."""


def tool(name: str, description: str = "", deferred: bool = False, /, **properties: str) -> Tool:
    typed = {key: {"type": kind} for key, kind in properties.items()}
    return Tool(name, description, {"type": "object", "properties": typed}, deferred=deferred)


READ = tool("builtin.read_file", "Reads a file.", path="string")
BRANCH = tool("mcp.git.create_branch", "Makes a new branch.", name="string")
LOG = tool("mcp.git.show_log", "Lists commits.", True, limit="integer")
MAIL = tool("mcp.mail.send_message", "Sends a letter to somebody.", to="string", body="string")
TOOLS = (READ, BRANCH, LOG, MAIL)


def call(name: str, answer: str | None = "done", id: str = "c1", /, **arguments: Any) -> Call:
    return Call(id, name, arguments, result=None if answer is None else Result(answer))


def searched(query: str, *names: str, id: str = "s1") -> Call:
    return Call(id, "tools.search", {"query": query}, "search", Result("hits", returned=names))


def said(words: str, *calls: Call, **more: Any) -> Pass:
    return Pass(words, calls=calls, **more)


def turn(words: str, *passes: Pass, **more: Any) -> Turn:
    return Turn(words, passes, **more)


def event(type: str, **body: Any) -> Event:
    return Event(type, {"type": type, **body})


def note(words: str, role: str = "system") -> Message:
    return Message(role, words)


def session(*turns: Turn, tools: Any = TOOLS, id: str = "s", **more: Any) -> Session:
    return Session(id, Catalog(tools), turns, **more)


def replayed(recorded: Session, selector: Any = "lazy", around: Any = None, defer: Any = (), **options: Any) -> Trace:
    report = options.pop("report", None)
    system = System(selector, "lexical", **options)
    return fold(prepare(recorded), system, Setting(catalog=around, defer=tuple(defer)), report=report)


def fates(trace: Trace) -> list[tuple[str, str]]:
    return [(made.name, made.fate) for one in trace.passes() for made in one.calls]


def queries(trace: Trace) -> list[str]:
    return [one.query for one in trace.passes() if one.query is not None]


# --- the same on disk ------------------------------------------------------------------------------------------------


def atif(id: str = "s", calls: Any = ("builtin.read_file",), tools: Any = TOOLS, **changes: Any) -> dict[str, Any]:
    """Return a small trajectory: one turn, one pass that calls, one that answers."""
    made = [{"tool_call_id": f"c{n}", "function_name": name, "arguments": {}} for n, name in enumerate(calls)]
    results = [{"source_call_id": one["tool_call_id"], "content": "done"} for one in made]
    steps = [
        {"step_id": 1, "source": "user", "message": "read it"},
        {
            "step_id": 2,
            "source": "agent",
            "message": "I read it",
            "tool_calls": made,
            "observation": {"results": results},
        },
        {"step_id": 3, "source": "agent", "message": "done"},
    ]
    agent = {"name": "tester", "version": "1", "tool_definitions": [definition(one) for one in tools]}
    return {"schema_version": "ATIF-v1.7", "session_id": id, "agent": agent, "steps": steps, **changes}


def definition(one: Tool) -> dict[str, Any]:
    function = {"name": one.name, "description": one.description, "parameters": one.input_schema}
    return {"type": "function", "function": function}


def line(row: Any) -> bytes:
    return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"


def written(path: Path, *rows: Any) -> Path:
    """Write rows as lines: bytes as they are, everything else as JSON."""
    path.write_bytes(b"".join(row if isinstance(row, bytes) else line(row) for row in rows))
    return path


def many_turns(id: str, names: Any = ("builtin.read_file", "mcp.git.create_branch")) -> dict[str, Any]:
    """Return a trajectory with one turn a name."""
    steps: list[dict[str, Any]] = []
    for name in names:
        steps.append({"source": "user", "message": f"please use {name.rpartition('.')[2]} for {id}"})
        made = {"tool_call_id": "c", "function_name": name, "arguments": {}}
        answer = {"results": [{"source_call_id": "c", "content": f"the answer to {id}"}]}
        steps.append({"source": "agent", "message": "", "tool_calls": [made], "observation": answer})
        steps.append({"source": "agent", "message": "That is done."})
    return atif(id, steps=[{"step_id": number, **step} for number, step in enumerate(steps, 1)])
