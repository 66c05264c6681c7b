"""Results of tau-bench and tau2: a simulation is a session, its reward the outcome."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import rows, table, text
from toolkit.formats.traffic.definitions import tools_of
from toolkit.formats.traffic.exchanges import usage_from
from toolkit.formats.traffic.messages import pieces_of
from toolkit.session import Session, text_of

Row = dict[str, Any]


def _recognises(source: Source) -> bool:
    keys = source.keys
    return "simulations" in keys or {"traj", "reward"} <= keys or {"task_id", "termination_reason", "messages"} <= keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    value = source.document(problems)
    results = table(value)
    info = table(results.get("info"))
    ones = rows(value) if isinstance(value, list) else rows(results.get("simulations")) or _beside(source, problems)
    ones = ones or ([results] if "messages" in results or "traj" in results else [])
    for number, one in enumerate(ones):
        yield _session(one, info, number, source, problems)


def _beside(source: Source, problems: list[Problem]) -> list[Row]:
    """Return the simulations that a results file keeps in a folder beside it."""
    folder = source.path.parent / "simulations"
    names = sorted(one.name for one in folder.glob("*.json")) if folder.is_dir() else []
    found = (source.beside(f"simulations/{name}") for name in names)
    return [table(one.document(problems)) for one in found if one is not None]


def _session(one: Row, info: Row, number: int, source: Source, problems: list[Problem]) -> Session:
    messages = rows(one.get("messages") or one.get("traj")) or _of_ticks(one)
    building = Building(source, problems, "tau")
    environment = table(info.get("environment_info"))
    declared = building.define(tools_of(environment.get("tool_defs"))) or None
    building.system(text(environment.get("policy")) or "")
    billed = any(message.get("usage") for message in messages)
    for place, message in enumerate(messages):
        _take(building, place, message, billed, declared)
    reward = table(one.get("reward_info")).get("reward", one.get("reward"))
    outcome = {"reward": reward, "success": reward == 1} if isinstance(reward, int | float) else None
    facts = {key: one[key] for key in ("task_id", "trial", "seed", "termination_reason") if one.get(key) is not None}
    named = text(one.get("id")) or f"{source.path.stem}/{one.get('task_id', number)}/{one.get('trial', 0)}"
    model = text(table(info.get("agent_info")).get("llm"))
    return building.session(named, model=model, outcome=outcome, extra={"tau": facts})


def _of_ticks(one: Row) -> list[Row]:
    """Return what was said in a run by voice, tick by tick."""
    ticks = rows(one.get("ticks"))
    said = (tick.get(key) for tick in ticks for key in ("user_chunk", "agent_chunk", "message"))
    return [
        message
        for message in said
        if isinstance(message, dict) and (message.get("content") or message.get("tool_calls"))
    ]


def _take(building: Building, place: int, message: Row, billed: bool, declared: tuple[str, ...] | None) -> None:
    """Take one message; the tools that the simulated user calls, and their answers, are none of the agent's."""
    role = message.get("role")
    if role == "user":
        content = message.get("content")
        if content:
            building.user(content if isinstance(content, str) else str(content), text(message.get("timestamp")))
    elif role == "assistant":
        asked = bool(message.get("usage")) or not billed
        usage = usage_from(table(message.get("usage")))
        told: Mapping[str, Any] = {"usage": usage, "timestamp": text(message.get("timestamp")), "requested": asked}
        building.say(place, declared=declared, **told)
        for piece in pieces_of(message, "assistant"):
            _reply(building, place, piece)
    elif role == "system":
        building.system(text(message.get("content")) or "")
    else:
        for one in rows(message.get("tool_messages")) or [message]:
            if one.get("requestor") != "user":
                _answer(building, one)


def _reply(building: Building, place: int, piece: Any) -> None:
    if piece.kind == "call":
        building.call(piece.id, piece.name or "?", piece.arguments)
    elif piece.kind == "reasoning":
        building.say(place, reasoning=text_of(piece.content))
    else:
        building.say(place, piece.content)


def _answer(building: Building, one: Row) -> None:
    id = text(one.get("tool_call_id")) or text(one.get("id"))
    content = one.get("content")
    name = text(one.get("name"))
    building.result(id, content if isinstance(content, str) else str(content), one.get("error") is True, name=name)


TAU = Format("tau", _recognises, _read, "Results of tau-bench and tau2.")
