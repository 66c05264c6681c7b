"""OpenAI Responses without a framework: a request goes in and comes out; a reply goes in, and answers come out.

    reply = client.responses.create(**request(selecting, body))
    done = replied(selecting, body, reply.to_dict())
    body["input"] += [*reply.to_dict()["output"], *done.answers, *(run(call) for call in done.to_run)]

The API holds back a function that is marked `defer_loading` until a `tool_search_output` names it. What is
searchable is sent so, and answered by a search of ours (`execution: client`): the definitions of a turn stay the
same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.adapters.conversation import Called, Now, Replied, Said, Selecting, ToRun
from toolkit.host import SEARCH_TOOL
from toolkit.tool import SEARCH, Tool

_SEARCH_CALL, _SEARCH_OUTPUT = "tool_search_call", "tool_search_output"


def request(selecting: Selecting, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request body with the tools of this turn: declared, deferred, and the search; other kinds stay.

    Args:
        selecting: Made with `call_tool=False`.
        body: A request as it would be sent without a selector, every function in `tools`.
    """
    now = selecting.now(_tools(body), conversation(body.get("input") or []))
    rows = {row["name"]: row for row in _functions(body)}
    told = [rows[tool.name] for tool in now.declared if tool.name in rows]
    deferred = [{**rows[now.named(name)], "defer_loading": True} for name in now.turn.searchable]
    search = [_search_tool()] if now.searches else []
    foreign = [row for row in body.get("tools") or [] if not _is_function(row)]
    return {**body, "tools": [*search, *told, *deferred, *foreign]}


def replied(selecting: Selecting, body: Mapping[str, Any], reply: Mapping[str, Any]) -> Replied:
    """Return the answers to a reply's searches and refused calls, as input items, and the calls that are to run.

    Args:
        selecting: As for `request`.
        body: The request before the reply.
        reply: The reply, as a mapping.
    """
    now = selecting.now(_tools(body), conversation(body.get("input") or []))
    answers: list[Any] = []
    to_run: list[ToRun] = []
    rows = {row["name"]: row for row in _functions(body)}
    for item in reply.get("output") or []:
        if item.get("type") == _SEARCH_CALL and item.get("execution") == "client":
            answers.append(_searched(now, item, rows))
        elif item.get("type") == "function_call":
            given = arguments_of(item.get("arguments") or "")
            verdict = now.judge(item["name"], given)
            if verdict.executed:
                to_run.append(ToRun(item["call_id"], item["name"], given))
            else:
                output = {"type": "function_call_output", "call_id": item["call_id"], "output": now.told(verdict)}
                answers.append(output)
    return Replied(answers, to_run)


def _searched(now: Now, item: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a search's answer: the definitions of what it found; one that fails finds none (Q8)."""
    found = now.judge(SEARCH, arguments_of(item.get("arguments") or "")).names
    tools = [{**rows[now.named(name)], "defer_loading": True} for name in found]
    kept = {"call_id": item.get("call_id"), "execution": "client", "status": "completed"}
    return {"type": _SEARCH_OUTPUT, **kept, "tools": tools}


def _search_tool() -> dict[str, Any]:
    told = {"description": SEARCH_TOOL.description, "parameters": SEARCH_TOOL.input_schema}
    return {"type": "tool_search", "execution": "client", **told}


def _is_function(row: Mapping[str, Any]) -> bool:
    return row.get("type") == "function" and isinstance(row.get("name"), str)


def _functions(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in body.get("tools") or [] if _is_function(row)]


def _tools(body: Mapping[str, Any]) -> list[Tool]:
    return [Tool(row["name"], row.get("description"), row.get("parameters")) for row in _functions(body)]


def conversation(input: str | Sequence[Any]) -> list[Said]:
    """Return the turns that Responses items hold: each user's words, and the calls of the replies that follow.

    Calls that stand side by side are one reply.
    """
    items = [{"role": "user", "content": input}] if isinstance(input, str) else [_plain(item) for item in input]
    answers = {str(item.get("call_id")): _answer(item) for item in items if str(item.get("type")).endswith("_output")}
    turns: list[tuple[str, list[list[Called]]]] = []
    before = ""
    for item in items:
        kind = item.get("type") or "message"
        if kind == "message" and item.get("role") == "user":
            turns.append((_text(item.get("content")), []))
        elif kind in ("function_call", _SEARCH_CALL):
            turns = turns or [("", [])]
            if before not in ("function_call", _SEARCH_CALL) or not turns[-1][1]:
                turns[-1][1].append([])
            turns[-1][1][-1].append(_called(item, answers))
        before = kind
    return [Said(words, tuple(map(tuple, replies))) for words, replies in turns]


def _called(item: Mapping[str, Any], answers: Mapping[str, str]) -> Called:
    name = SEARCH if item["type"] == _SEARCH_CALL else item["name"]
    return Called(name, arguments_of(item.get("arguments") or ""), answers.get(str(item.get("call_id")), ""))


def _answer(item: Mapping[str, Any]) -> str:
    """Return what a call was answered; a search's, as one line a tool."""
    if item["type"] != _SEARCH_OUTPUT:
        return _text(item.get("output"))
    return "\n".join(json.dumps({"name": row.get("name")}) for row in item.get("tools") or [])


def arguments_of(text: Any) -> Any:
    """Return the arguments of a call; what is no JSON stays the text that it is."""
    if not isinstance(text, str):
        return text
    try:
        return json.loads(text or "{}")
    except ValueError:
        return text


def _plain(item: Any) -> Mapping[str, Any]:
    return item if isinstance(item, Mapping) else item.model_dump(exclude_none=True)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(part["text"] for part in parts if isinstance(part, Mapping) and isinstance(part.get("text"), str))
