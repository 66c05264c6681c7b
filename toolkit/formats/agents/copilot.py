"""Copilot CLI: `events.jsonl` of its session folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, kind_of, rows, table, text, tokens
from toolkit.session import Billed, Session

NAME = "copilot-cli"
_ROOMS = frozenset(
    ("session", "user", "assistant", "tool", "subagent", "hook", "system", "skill", "permission", "abort")
)


def _recognises(source: Source) -> bool:
    return any(
        isinstance(one.get("data"), dict)
        and "parentId" in one
        and (str(kind_of(one)) in ("session.start", "user.message", "assistant.message", "session.resume"))
        for one in source.objects_at_head
    )


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    threads: dict[str | None, _Thread] = {}
    facts: dict[str, Any] = {"id": source.path.parent.name if source.name == "events.jsonl" else source.name}
    for number, one in source.objects(problems):
        data = table(one.get("data"))
        if kind_of(one) == "session.start":
            facts.update({"id": data.get("sessionId") or facts["id"], "version": data.get("copilotVersion")})
        thread = text(data.get("parentToolCallId"))
        if thread not in threads:
            threads[thread] = _Thread(Building(source, problems, NAME))
        threads[thread].take(number, one, data)
    version = text(facts.get("version"))
    main = str(facts["id"])
    for thread, read in threads.items():
        if not read.made.empty:
            parent, id = (None, main) if thread is None else (main, thread)
            yield read.made.session(
                id,
                version=version,
                parent=parent,
                model=next(iter(read.made.models()), read.model),
                agent={"name": NAME, "version": version},
                extra=read.extra,
            )


class _Thread:
    """The main thread, or what one call of a sub-agent wrote."""

    def __init__(self, made: Building) -> None:
        self.made = made
        self.model: str | None = None
        self.extra: dict[str, Any] = {}

    def take(self, number: int, one: Mapping[str, Any], data: Mapping[str, Any]) -> None:
        self.made.line = number
        kind = str(kind_of(one))
        time = text(one.get("timestamp"))
        if kind == "user.message":
            self.made.user(content_of(data.get("content")), time)
        elif kind == "assistant.message":
            self._said(data, time)
        elif kind == "tool.execution_complete":
            self._ran(data)
        elif kind in ("session.start", "session.model_change", "session.resume"):
            self.model = text(data.get("newModel")) or text(data.get("selectedModel")) or self.model
        elif kind in ("session.compaction_complete", "session.truncation"):
            self.made.event("compaction")
        elif kind == "session.shutdown":
            kept = ("modelMetrics", "toolDefinitionsTokens", "systemTokens", "conversationTokens")
            self.extra = {"session_usage": {key: data[key] for key in kept if key in data}}
        elif kind == "system.message":
            self.made.system(text(data.get("content")) or "")
        elif kind.partition(".")[0] not in _ROOMS:
            self.made.unknown_record(kind_of(one))

    def _said(self, data: Mapping[str, Any], time: str | None) -> None:
        self.made.say(
            text(data.get("messageId")),
            content_of(data.get("content")),
            text(data.get("reasoningText")) or "",
            usage=Billed(completion=tokens(data.get("outputTokens"))),
            model=text(data.get("model")) or self.model,
            timestamp=time,
        )
        for call in rows(data.get("toolRequests")):
            self.made.call(text(call.get("toolCallId")), str(call.get("name") or ""), call.get("arguments"))

    def _ran(self, data: Mapping[str, Any]) -> None:
        result = data.get("result")
        content = result.get("content") if isinstance(result, dict) else result
        if content is None:
            content = table(data.get("error")).get("message")
        self.made.result(
            text(data.get("toolCallId")), None if content is None else content_of(content), data.get("success") is False
        )


COPILOT = Format(NAME, _recognises, _read, "~/.copilot/session-state/*/events.jsonl.")
