"""Anthropic Messages without a framework: a request goes in and comes out; a reply goes in, and answers come out.

    reply = client.messages.create(**request(selecting, body))
    done = replied(selecting, body, reply.to_dict())
    results = [*done.answers, *(run(call) for call in done.to_run)]
    body["messages"] += [{"role": "assistant", "content": reply.content}, {"role": "user", "content": results}]

The API holds back a definition that is marked `defer_loading` until a `tool_reference` in a search's answer names
it. What is searchable is sent so, and answered by a search of ours: the definitions of a turn stay the same bytes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from toolkit.adapters.conversation import Called, Now, Replied, Said, Selecting, ToRun
from toolkit.engine.calls import Verdict
from toolkit.tool import SEARCH_NAMES, Tool, wire_name


def request(selecting: Selecting, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request body with the tools of this turn: the search, declared, deferred; other kinds stay.

    Args:
        selecting: Made with `call_tool=False`.
        body: A request as it would be sent without a selector, every tool in `tools`.
    """
    now = selecting.now(_tools(body), conversation(body.get("messages") or []))
    rows = {row["name"]: row for row in _own(body)}
    told = [rows.get(tool.name) or _row(tool) for tool in now.declared]
    deferred = [{**rows[now.named(name)], "defer_loading": True} for name in now.turn.searchable]
    foreign = [row for row in body.get("tools") or [] if not _is_own(row)]
    return {**body, "tools": [*told, *deferred, *foreign]}


def replied(selecting: Selecting, body: Mapping[str, Any], reply: Mapping[str, Any]) -> Replied:
    """Return the answers to a reply's searches and refused calls, as `tool_result` blocks, and the calls to run.

    Args:
        selecting: As for `request`.
        body: The request before the reply.
        reply: The reply, as a mapping.
    """
    now = selecting.now(_tools(body), conversation(body.get("messages") or []))
    answers: list[Any] = []
    to_run: list[ToRun] = []
    for block in reply.get("content") or []:
        if block.get("type") != "tool_use":
            continue
        verdict = now.judge(block["name"], block.get("input"))
        if verdict.executed and block["name"] not in SEARCH_NAMES:
            to_run.append(ToRun(block["id"], block["name"], block.get("input")))
        else:
            answers.append({"type": "tool_result", "tool_use_id": block["id"], **_told(now, verdict)})
    return Replied(answers, to_run)


def conversation(messages: Sequence[Mapping[str, Any]]) -> list[Said]:
    """Return the turns that messages hold: each user's words, and the calls of the replies that follow."""
    blocks = [(message["role"], _blocks(message.get("content"))) for message in messages]
    answers = {b["tool_use_id"]: _answer(b) for _, given in blocks for b in given if b.get("type") == "tool_result"}
    turns: list[tuple[str, list[tuple[Called, ...]]]] = []
    for role, given in blocks:
        words = [block["text"] for block in given if block.get("type") == "text"]
        if role == "user" and words:
            turns.append(("\n".join(words), []))
        elif role == "assistant":
            turns = turns or [("", [])]
            made = [block for block in given if block.get("type") == "tool_use"]
            turns[-1][1].append(tuple(Called(b["name"], b.get("input"), answers.get(b["id"], "")) for b in made))
    return [Said(words, tuple(replies)) for words, replies in turns]


def _told(now: Now, verdict: Verdict) -> dict[str, Any]:
    """Return the body of a result: references to what a search found, or the text of a refusal."""
    references = [{"type": "tool_reference", "tool_name": now.named(name)} for name in verdict.names]
    if references:
        return {"content": references}
    return {"content": now.told(verdict), **({} if verdict.answer is not None else {"is_error": True})}


def _answer(result: Mapping[str, Any]) -> str:
    """Return what a call was answered; references, as one line a tool."""
    blocks = _blocks(result.get("content"))
    names = [{"name": block["tool_name"]} for block in blocks if block.get("type") == "tool_reference"]
    return "\n".join([*map(json.dumps, names), *(block["text"] for block in blocks if block.get("type") == "text")])


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, Mapping)]


def _is_own(row: Mapping[str, Any]) -> bool:
    """Say whether a row is a tool that the host runs, not one of the provider's."""
    return row.get("type", "custom") == "custom" and isinstance(row.get("name"), str)


def _own(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [row for row in body.get("tools") or [] if _is_own(row)]


def _tools(body: Mapping[str, Any]) -> list[Tool]:
    return [Tool(row["name"], row.get("description"), row.get("input_schema")) for row in _own(body)]


def _row(tool: Tool) -> dict[str, Any]:
    return {"name": wire_name(tool.name), "description": tool.description, "input_schema": tool.input_schema}
