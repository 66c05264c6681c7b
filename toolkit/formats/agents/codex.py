"""Codex: rollouts of all versions, plain or packed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.agents.codex_items import (
    CALLS,
    HOSTED,
    OUTPUTS,
    SILENT,
    arguments,
    called,
    is_injected,
    output_of,
    tools_of,
)
from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, kind_of, table, text, tokens
from toolkit.session import Billed, Content, Session, text_of

NAME = "codex"
_LINES = frozenset(
    (
        *("session_meta", "response_item", "turn_context", "event_msg", "compacted", "world_state"),
        *("inter_agent_communication", "inter_agent_communication_metadata"),
    )
)


def _recognises(source: Source) -> bool:
    first = next((one for one in source.objects_at_head if kind_of(one) in _LINES), None)
    if first is not None:
        return "timestamp" in first and isinstance(first.get("payload"), dict)
    head = source.objects_at_head
    return any(kind_of(one) in CALLS | OUTPUTS for one in head) and _is_bare(head)


def _is_bare(head: tuple[dict[str, Any], ...]) -> bool:
    """Say whether this is the first layout: a head without a type, then items without an envelope."""
    return "type" not in head[0] and "id" in head[0] and "timestamp" in head[0]


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    session = _Reader(source, problems).session()
    if session is not None:
        yield session


def _enveloped(one: dict[str, Any]) -> dict[str, Any]:
    if "payload" in one:
        return one
    kind = kind_of(one)
    if kind in CALLS | OUTPUTS or kind in ("message", "reasoning"):
        return {"type": "response_item", "payload": one}
    if not kind and "id" in one and "timestamp" in one:
        return {"type": "session_meta", "timestamp": one["timestamp"], "payload": one}
    return one


class _Reader:
    """Reads the lines of one rollout. A pass is a run of model-made items; its usage follows it."""

    def __init__(self, source: Source, problems: list[Problem]) -> None:
        self.source, self.problems = source, problems
        self.made = Building(source, problems, NAME)
        self.meta: Mapping[str, Any] = {}
        self.model: str | None = None
        self.time: str | None = None
        self.running = False
        self.passes = 0
        self.unbilled: list[int] = []
        self.totals: Any = None
        self.declared: tuple[str, ...] | None = None
        self.start: Any = None
        told = source.objects([], holding=b'"user_message"')
        self.typed = [one["payload"].get("message") for _, one in told if _is_typed(one)]

    def session(self) -> Session | None:
        for number, one in self.source.objects(self.problems):
            self.made.line = number
            one = _enveloped(one)
            payload = one.get("payload")
            self.time = text(one.get("timestamp"))
            if self.start is not None and isinstance(one.get("ordinal"), int) and one["ordinal"] < self.start:
                continue
            if isinstance(payload, dict):
                self._take(kind_of(one), payload)
            else:
                self.made.unknown_record(kind_of(one))
        if not self.meta and self.made.empty:
            return None
        version = self.meta.get("cli_version")
        return self.made.session(
            str(self.meta.get("id") or self.source.path.name.partition(".")[0]),
            version=text(version),
            model=self.model,
            parent=_parent(self.meta),
            agent={"name": NAME, "version": version},
        )

    def _take(self, kind: Any, payload: Mapping[str, Any]) -> None:
        if kind == "response_item":
            self._item(payload)
        elif kind == "event_msg":
            self._event(payload)
        elif kind == "turn_context":
            self.model = text(payload.get("model")) or self.model
        elif kind == "session_meta":
            self._session(payload)
        elif kind == "compacted":
            self._compacted(payload)
        elif kind not in _LINES:
            self.made.unknown_record(kind)

    def _session(self, payload: Mapping[str, Any]) -> None:
        if self.meta:
            return
        self.meta = payload
        start = payload.get("subagent_history_start_ordinal")
        self.start = start if isinstance(start, int) else None
        told = payload.get("base_instructions") or payload.get("instructions")
        self.made.system(text(told.get("text") if isinstance(told, dict) else told) or "")
        self.made.define(tools_of(payload.get("dynamic_tools") or []))

    def _item(self, item: Mapping[str, Any]) -> None:
        kind = kind_of(item)
        if kind == "message":
            self._message(item)
        elif kind == "reasoning":
            self._say(reasoning=_summary(item.get("summary")))
        elif kind in CALLS:
            self._call(item, kind)
        elif kind in OUTPUTS:
            self._output(item, kind)
        elif kind not in SILENT:
            self.made.unknown_record(f"response_item/{kind}")

    def _say(self, content: Content = "", reasoning: str = "") -> None:
        if not self.running:
            self.running = True
            self.passes += 1
            self.unbilled.append(self.passes)
        self.made.say(self.passes, content, reasoning, model=self.model, timestamp=self.time)

    def _message(self, item: Mapping[str, Any]) -> None:
        content = content_of(item.get("content"))
        role = item.get("role")
        if role == "assistant":
            self._say(content)
            return
        self.running = False
        if role == "user" and not self.typed and not is_injected(content):
            self.made.user(content, self.time)
        elif role == "user" and text_of(content) not in self.typed:
            self.made.history("user", content)
        elif role in ("developer", "system"):
            self.made.history("system", content)

    def _call(self, item: Mapping[str, Any], kind: str) -> None:
        self._say()
        id = item.get("call_id") or (None if kind in HOSTED else item.get("id"))
        key = str(id) if id else f"{kind}-{self.made.line}"
        self.made.call(key, called(item), arguments(item), "search" if kind == "tool_search_call" else "call")
        if kind in HOSTED or (kind == "mcp_call" and ("output" in item or "error" in item)):
            content, failed = output_of(item)
            self.made.result(key, content, failed or bool(item.get("error")), extra={"hosted": True})

    def _output(self, item: Mapping[str, Any], kind: str) -> None:
        self.running = False
        content, failed = output_of(item)
        returned: tuple[str, ...] = ()
        if kind == "tool_search_output":
            found = list(tools_of(item.get("tools") or [], deferred=True))
            returned = self.made.define(found)
        id = item.get("call_id") or item.get("id")
        self.made.result(str(id) if id else None, content, failed, returned)

    def _event(self, payload: Mapping[str, Any]) -> None:
        kind = kind_of(payload)
        if kind == "user_message":
            words, images = text(payload.get("message")) or "", payload.get("images")
            media = tuple({"type": "image", "url": one} for one in (images if isinstance(images, list) else ()))
            self.made.user(({"type": "text", "text": words}, *media) if media else words, self.time)
        elif kind == "token_count" and isinstance(payload.get("info"), dict):
            self._billed(payload["info"])

    def _billed(self, info: Mapping[str, Any]) -> None:
        """Take the usage of the pass that ended; the same totals again are a repeat."""
        totals, last = info.get("total_token_usage"), info.get("last_token_usage")
        if not isinstance(last, dict) or (totals is not None and totals == self.totals):
            return
        self.totals, self.running = totals, False
        usage = Billed(
            tokens(last.get("input_tokens")),
            tokens(last.get("output_tokens")),
            tokens(last.get("cached_input_tokens")),
            tokens(last.get("cache_write_input_tokens")),
        )
        if self.unbilled:
            self.made.say(self.unbilled[-1], usage=usage)
            self.unbilled = []
        elif usage.prompt:
            self.made.say(usage=usage, model=self.model, timestamp=self.time, extra={"without_items": True})

    def _compacted(self, payload: Mapping[str, Any]) -> None:
        self.running = False
        self.made.event("compaction")
        kept = payload.get("replacement_history")
        for item in kept if isinstance(kept, list) else ():
            if isinstance(item, dict) and kind_of(item) == "message":
                self.made.history(str(item.get("role") or "user"), content_of(item.get("content")))
        if not isinstance(kept, list) and isinstance(payload.get("message"), str):
            self.made.history("user", payload["message"])


def _is_typed(one: Mapping[str, Any]) -> bool:
    payload = one.get("payload")
    return kind_of(one) == "event_msg" and isinstance(payload, dict) and kind_of(payload) == "user_message"


def _summary(summary: Any) -> str:
    parts = summary if isinstance(summary, list) else ()
    return "\n".join(part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str))


def _parent(meta: Mapping[str, Any]) -> str | None:
    """Return the session that started this one; `unknown` for a sub-agent whose file does not name it."""
    inner = table(meta.get("source")).get("subagent")
    if inner is None and meta.get("thread_source") != "subagent":
        return None
    named = table(table(inner).get("thread_spawn")).get("parent_thread_id")
    return str(named or meta.get("parent_thread_id") or "unknown")


CODEX = Format(NAME, _recognises, _read, "~/.codex/sessions: rollout-*.jsonl, .jsonl.zst.")
