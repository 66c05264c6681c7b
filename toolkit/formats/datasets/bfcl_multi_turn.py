"""BFCL, multi turn: tasks of several turns whose reference calls are written as Python; functions lie by class."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any

from toolkit.errors import InputError
from toolkit.formats.datasets.bfcl_single import FOLDER, json_schema
from toolkit.formats.datasets.converted import Converted, Row, kept, row
from toolkit.formats.datasets.package import Package
from toolkit.formats.files import Problem
from toolkit.session import Call, Event, Pass, Session, Turn
from toolkit.tool import Catalog, Tool

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")
CLASSES = {
    "GorillaFileSystem": "gorilla_file_system",
    "MathAPI": "math_api",
    "MessageAPI": "message_api",
    "TwitterAPI": "posting_api",
    "TicketAPI": "ticket_api",
    "TradingBot": "trading_bot",
    "TravelAPI": "travel_booking",
    "VehicleControlAPI": "vehicle_control",
}


def convert(package: Package, problems: list[Problem]) -> Converted:
    """Return the functions of all classes and a session for each task."""
    rows = [tool for name in CLASSES for tool in _functions(package, name, problems)]
    tools = {name: [_tool(one) for one in rows if one["server"] == name] for name in CLASSES}
    sessions: list[Session] = []
    for category in CATEGORIES:
        file = f"BFCL_v4_multi_turn_{category}.json"
        answers = {
            one["id"]: one["ground_truth"] for one in package.lines(f"{FOLDER}/possible_answer/{file}", problems)
        }
        tasks = package.lines(f"{FOLDER}/{file}", problems)
        sessions += kept(tasks, partial(_session, category, answers, tools), problems, f"{FOLDER}/{file}")
    return Converted(rows, sessions=sessions)


def _functions(package: Package, server: str, problems: list[Problem]) -> Iterator[Row]:
    member = f"{FOLDER}/multi_turn_func_doc/{CLASSES[server]}.json"

    def function(one: Mapping[str, Any]) -> Row:
        name = one["name"]
        return row(name, name, one["description"], json_schema(one["parameters"]), server)

    yield from kept(package.lines(member, problems), function, problems, member)


def _tool(one: Row) -> Tool:
    return Tool(f"mcp.{one['server']}.{one['name']}", one["description"], one["input_schema"], id=one["id"])


def _session(
    category: str,
    answers: Mapping[str, Sequence[Sequence[str]]],
    tools: Mapping[str, Sequence[Tool]],
    task: Mapping[str, Any],
) -> Session:
    excluded = set(task.get("excluded_function") or ())
    own = [tool for name in task["involved_classes"] for tool in tools[name] if tool.leaf not in excluded]
    ids = count(1)
    by_leaf = {tool.leaf: tool for tool in own}
    calls = [[reference_call(f"c{next(ids)}", text, by_leaf) for text in texts] for texts in answers[task["id"]]]
    late = {int(turn): [by_leaf[leaf].name for leaf in names] for turn, names in _withheld(task).items()}
    turns = tuple(_turns(task["question"], calls, [tool.name for tool in own], late))
    return Session(task["id"], Catalog(own), turns, agent={"name": "bfcl-reference"}, **_facts(category))


def _withheld(task: Mapping[str, Any]) -> Mapping[str, list[str]]:
    """Return the functions that are handed over late, by the turn that they come with."""
    return task.get("missed_function") or {}


def _turns(
    question: Sequence[Sequence[Mapping[str, str]]],
    calls: Sequence[Sequence[Call]],
    names: Sequence[str],
    late: Mapping[int, list[str]],
) -> Iterator[Turn]:
    """Yield the turns: a pass for each call, which declares all but what comes with a later turn."""
    for number, (messages, made) in enumerate(zip(question, calls, strict=True)):
        still = {name for turn, own in late.items() if turn > number for name in own}
        declared = tuple(name for name in names if name not in still)
        come = [Event("tools_changed", {"type": "tools_changed", "added": late[number]})] if number in late else []
        words = "\n".join(message["content"] for message in messages)
        yield Turn(words, tuple(Pass(calls=(one,), declared=declared) for one in made), tuple(come))


def _facts(category: str) -> dict[str, Any]:
    about = {"set": "bfcl-multi-turn", "category": category, "kind": "reference answer (not a model run)"}
    return {"definitions": "joined", "extra": {"dataset": about}}


def reference_call(id: str, text: str, tools: Mapping[str, Tool]) -> Call:
    """Return the call that a line of Python writes; values without a name take the schema's parameters in order.

    >>> tools = {"log": Tool("mcp.x.log", "", {"properties": {"file": {}, "n": {}}})}
    >>> found = reference_call("c1", "log('a', n=2)", tools)
    >>> found.name, found.arguments
    ('mcp.x.log', {'file': 'a', 'n': 2})

    Raises:
        InputError: It calls none of the tools.
    """
    node = ast.parse(text.strip(), mode="eval").body
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id not in tools:
        raise InputError(f"{text!r} calls none of the task's functions.")
    tool = tools[node.func.id]
    named = {one.arg: ast.literal_eval(one.value) for one in node.keywords if one.arg}
    unnamed = zip(tool.input_schema.get("properties", {}), map(ast.literal_eval, node.args), strict=False)
    return Call(id, tool.name, {**dict(unnamed), **named})
