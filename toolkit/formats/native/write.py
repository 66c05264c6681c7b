"""Writing sessions as ATIF 1.7 that a strict reader accepts: nothing outside `extra` is invented."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolkit.errors import InputError, need
from toolkit.session import Billed, Call, Content, Event, Message, Pass, Result, Session, Turn
from toolkit.store import write_whole
from toolkit.tool import Tool, compact_json, source_of

VERSION = "ATIF-v1.7"


def trajectory(session: Session, inner: Mapping[str | None, Sequence[Session]] = {}) -> dict[str, Any]:
    """Return a session as an ATIF trajectory, with the sessions that `inner` lists as started by it."""
    names = {tool.name: index for index, tool in enumerate(session.catalog)}
    steps = [{"step_id": number, **step} for number, step in enumerate(_steps(session, names), 1)]
    whole = {
        "schema_version": VERSION,
        "session_id": session.id,
        "trajectory_id": session.id if session.parent is not None else None,
        "agent": _agent(session),
        "steps": steps,
        **session.extra.get("atif", {}),
        "subagent_trajectories": [trajectory(one, inner) for one in inner.get(session.id, ())] or None,
        "extra": {**{key: value for key, value in session.extra.items() if key != "atif"}, "toolkit": _root(session)},
    }
    return _without_none(whole)


def write_sessions(sessions: Iterable[Session], path: str | Path) -> None:
    """Write sessions to `.json` (one), `.jsonl`, `.jsonl.gz` or `.jsonl.zst`, all or nothing.

    A session whose parent is written too stands inside it.

    Raises:
        InputError: The name has another ending.
    """
    path = check_name(Path(path))
    write_whole(path, packed(b"".join(row + b"\n" for row in rows_of(sessions)), path.name))


def rows_of(sessions: Iterable[Session]) -> Iterator[bytes]:
    """Yield the JSON of each session that no other one started, those that it started inside it."""
    sessions = tuple(sessions)
    ids = {session.id for session in sessions}
    inner: dict[str | None, list[Session]] = {}
    for session in sessions:
        inner.setdefault(session.parent if session.parent in ids else None, []).append(session)
    for session in inner.get(None, ()):
        yield compact_json(trajectory(session, inner)).encode("utf-8", "replace")


def check_name(path: Path) -> Path:
    """Return a path whose ending says how a session file is packed.

    Raises:
        InputError: It has another ending.
    """
    packed(b"", path.name)
    return path


def packed(data: bytes, name: str) -> bytes:
    """Return bytes as a file of that name holds them; packed pieces may stand one behind the other."""
    if name.endswith(".gz"):
        return gzip.compress(data, mtime=0)
    if name.endswith(".zst"):
        need("zstandard")
        import zstandard

        return zstandard.compress(data)
    if name.endswith((".json", ".jsonl")):
        return data
    raise InputError(f"{name!r} ends in no known way.", hint="Expected .json, .jsonl, .jsonl.gz or .jsonl.zst.")


def _agent(session: Session) -> dict[str, Any]:
    agent = {
        "name": session.agent.get("name") or "unknown",
        "version": session.agent.get("version") or "unknown",
        "model_name": session.model,
        "tool_definitions": [_definition(tool) for tool in session.catalog] or None,
        "extra": session.agent.get("extra"),
    }
    return _without_none(agent)


def _definition(tool: Tool) -> dict[str, Any]:
    function: dict[str, Any] = {"name": tool.name}
    if tool.description:
        function["description"] = tool.description
    if tool.schema_text:
        function["parameters"] = tool.input_schema
    return {"type": "function", "function": function}


def _root(session: Session) -> dict[str, Any]:
    before = session.extra.get("toolkit") or {}
    facts = {tool.name: fact for tool in session.catalog if (fact := _facts(tool))}
    ours = {**before, "v": 1, "definitions": session.definitions, "tools": facts, "outcome": session.outcome}
    return _without_none({key: value for key, value in ours.items() if value != {}})


def _facts(tool: Tool) -> dict[str, Any]:
    facts: dict[str, Any] = {"source": tool.source, "deferred": tool.deferred}
    if tool.annotations_text:
        facts["annotations"] = tool.annotations
    return facts if tool.deferred or tool.annotations_text or tool.source != source_of(tool.name) else {}


def _steps(session: Session, names: Mapping[str, int]) -> Iterator[dict[str, Any]]:
    if session.system:
        yield {"source": "system", "message": session.system}
    for number, turn in enumerate(session.turns):
        yield from (_context(message, first=number == 0) for message in turn.context)
        yield _user(turn)
        for one in turn.passes:
            yield from map(_context, one.context)
            yield _agent_step(one, names)


def _context(message: Message, first: bool = False) -> dict[str, Any]:
    """Return a message of the history; a system note before the first turn must not read as the system prompt."""
    if message.role == "tool":
        seen = {"results": [{"content": _content(message.content)}]}
        step: dict[str, Any] = {"source": "system", "message": "", "observation": seen}
        return {**step, "is_copied_context": True} if first else step
    step = {"source": message.role, "message": _content(message.content), **_calls(message.calls)}
    return step if message.role == "system" and not first else {**step, "is_copied_context": True}


def _user(turn: Turn) -> dict[str, Any]:
    extra = _extra(turn.extra, {"events": _events(turn.events)})
    return _without_none(
        {"source": "user", "message": _content(turn.input), "timestamp": turn.timestamp, "extra": extra}
    )


def _agent_step(one: Pass, names: Mapping[str, int]) -> dict[str, Any]:
    ours = {
        "declared": None if one.declared is None else [names[name] for name in one.declared],
        "searchable": None if one.searchable is None else [names[name] for name in one.searchable],
        "cache_write_tokens": one.usage.cache_write if one.usage else None,
        "events": _events(one.events),
    }
    step = {
        "source": "agent",
        "message": _content(one.content),
        "reasoning_content": one.reasoning or None,
        "timestamp": one.timestamp,
        "model_name": one.model,
        **_calls(one.calls),
        "metrics": _metrics(one.usage),
        "llm_call_count": None if one.requested else 0,
        "extra": _extra(one.extra, ours),
    }
    return _without_none(step)


def _calls(calls: tuple[Call, ...]) -> dict[str, Any]:
    if not calls:
        return {}
    results = [_result(call.id, call.result) for call in calls if call.result is not None]
    made = [_call(call) for call in calls]
    return {"tool_calls": made, **({"observation": {"results": results}} if results else {})}


def _call(call: Call) -> dict[str, Any]:
    ours = {"kind": call.kind if call.kind != "call" else None, "raw_arguments": call.raw_arguments}
    return _without_none(
        {
            "tool_call_id": call.id,
            "function_name": call.name,
            "arguments": dict(call.arguments),
            "extra": _extra(call.extra, ours),
        }
    )


def _result(id: str, result: Result) -> dict[str, Any]:
    extra = {key: value for key, value in result.extra.items() if key != "subagent_trajectory_ref"}
    ours = {"is_error": result.is_error or None, "returned": list(result.returned) or None}
    return _without_none(
        {
            "source_call_id": id,
            "content": _content(result.content),
            "subagent_trajectory_ref": result.extra.get("subagent_trajectory_ref"),
            "extra": _extra(extra, ours),
        }
    )


def _metrics(usage: Billed | None) -> dict[str, Any] | None:
    if usage is None:
        return None
    return _without_none(
        {
            "prompt_tokens": usage.prompt,
            "completion_tokens": usage.completion,
            "cached_tokens": usage.cached,
            "cost_usd": usage.cost_usd,
        }
    )


def _events(events: tuple[Event, ...]) -> list[dict[str, Any]] | None:
    return [{**event.body, "type": event.type} for event in events] or None


def _content(content: Content | None) -> Any:
    return list(content) if isinstance(content, tuple) else content or ""


def _extra(extra: Mapping[str, Any], ours: Mapping[str, Any]) -> dict[str, Any] | None:
    kept = _without_none(ours)
    return {**extra, **({"toolkit": kept} if kept else {})} or None


def _without_none(mapping: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in mapping.items() if value is not None}
