"""Gemini CLI: chats as one document, or as lines that set and rewind."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, kind_of, rows, table, text, tokens
from toolkit.session import Billed, Content, Session

NAME = "gemini-cli"
_NOTICES = frozenset(("info", "error", "warning"))


def _recognises(source: Source) -> bool:
    if "sessionId" not in source.keys:
        return False
    return "projectHash" in source.keys or {"messages", "startTime"} <= source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    head, messages = _document(source, problems) if "messages" in source.keys else _lines(source, problems)
    made = Building(source, problems, NAME)
    for number, message in messages:
        made.line = number
        _take(made, message)
    if not made.empty:
        kind = head.get("kind")
        yield made.session(
            str(head.get("sessionId") or source.name),
            model=next(iter(made.models()), None),
            parent=str(head.get("parentSessionId") or "unknown") if kind == "subagent" else None,
            agent={"name": NAME, "version": None},
        )


Messages = list[tuple[int, dict[str, Any]]]


def _document(source: Source, problems: list[Problem]) -> tuple[dict[str, Any], Messages]:
    whole = table(source.document(problems))
    return whole, [(0, row) for row in rows(whole.get("messages"))]


def _lines(source: Source, problems: list[Problem]) -> tuple[dict[str, Any], Messages]:
    """Return the head and the messages as they stand in the end: a later line of an id wins, rewinds are cut off."""
    head: dict[str, Any] = {}
    messages: dict[str, tuple[int, dict[str, Any]]] = {}
    for number, one in source.objects(problems):
        if isinstance(one.get("$set"), dict):
            head.update({key: value for key, value in one["$set"].items() if key != "messages"})
            if set_anew := rows(one["$set"].get("messages")):
                messages = {str(row.get("id")): (number, row) for row in set_anew}
        elif "$rewindTo" in one:
            ids = list(messages)
            at = ids.index(str(one["$rewindTo"])) if str(one["$rewindTo"]) in messages else 0
            messages = {id: messages[id] for id in ids[:at]}
        elif "sessionId" in one and "type" not in one:
            head.update(one)
        else:
            messages[str(one.get("id") or number)] = number, one
    return head, list(messages.values())


def _take(made: Building, message: Mapping[str, Any]) -> None:
    kind = kind_of(message)
    time = text(message.get("timestamp"))
    if kind == "user":
        content = _content(message.get("content"))
        if content:
            made.user(content, time)
    elif kind == "gemini":
        _said(made, message, time)
    elif kind not in _NOTICES:
        made.unknown_record(kind)


def _content(value: Any) -> Content:
    if isinstance(value, list):
        value = [part for part in value if not (isinstance(part, dict) and "functionResponse" in part)]
    return content_of(value)


def _said(made: Building, message: Mapping[str, Any], time: str | None) -> None:
    thoughts = (text(one.get("description")) or text(one.get("subject")) for one in rows(message.get("thoughts")))
    made.say(
        None,
        content_of(message.get("content")),
        "\n".join(thought for thought in thoughts if thought),
        usage=_usage(message.get("tokens")),
        model=text(message.get("model")),
        timestamp=time,
    )
    for call in rows(message.get("toolCalls")):
        made.call(text(call.get("id")), str(call.get("name") or ""), call.get("args"))
        failed = call.get("status") in ("error", "cancelled")
        if failed or call.get("result") is not None:
            made.answer(_answer(call.get("result")), failed)


def _answer(result: Any) -> Content:
    """Return the text of function responses, or what else stands for a result."""
    texts: list[Any] = []
    for part in result if isinstance(result, list) else [result]:
        answer = part.get("functionResponse") if isinstance(part, dict) else None
        response = answer.get("response") if isinstance(answer, dict) else part
        if isinstance(response, dict):
            response = next((response[key] for key in ("output", "error") if key in response), response)
        texts += [response] if isinstance(response, str | dict) else []
    return content_of(texts)


def _usage(counts: Any) -> Billed | None:
    if not isinstance(counts, dict):
        return None
    written = [tokens(counts.get(key)) for key in ("output", "thoughts")]
    completion = None if written[0] is None else sum(count or 0 for count in written)
    return Billed(tokens(counts.get("input")), completion, tokens(counts.get("cached")))


GEMINI_CLI = Format(NAME, _recognises, _read, "~/.gemini/tmp/*/chats: session-*.json, .jsonl.")
