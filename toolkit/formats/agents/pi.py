"""pi: session files, a tree of messages in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.agents.branches import left_behind
from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, kind_of, rows, table, text, usage_of
from toolkit.session import Session

NAME = "pi"
_SILENT = frozenset(
    ("session", "thinking_level_change", "custom", "label", "session_info", "branch_summary", "custom_message")
)


def _recognises(source: Source) -> bool:
    first = next((one for one in source.objects_at_head if "type" in one), {})
    return kind_of(first) == "session" and isinstance(first.get("cwd"), str) and "id" in first


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    lines = list(source.objects(problems))
    made = Building(source, problems, NAME)
    dead, left = _rewound([one for _, one in lines if isinstance(one.get("id"), str)])
    if left:
        made.note("fork", f"{left} prompts were rewound; what followed them is left out.")
    facts: dict[str, Any] = {}
    for number, one in lines:
        made.line = number
        if kind_of(one) == "session":
            facts = facts or one
        if not isinstance(one.get("id"), str) or one["id"] not in dead:
            _take(made, one, facts)
    if not made.empty:
        version = facts.get("version")
        model = next(iter(made.models()), facts.get("model"))
        agent = {"name": NAME, "version": None}
        yield made.session(
            str(facts.get("id") or source.name), version=version and str(version), model=model, agent=agent
        )


def _rewound(lines: list[dict[str, Any]]) -> tuple[set[str], int]:
    above = {one["id"]: one.get("parentId") for one in lines}
    said = {one["id"]: table(one["message"]) for one in lines if isinstance(one.get("message"), dict)}
    return left_behind(above, [id for id, inner in said.items() if inner.get("role") == "user"], said)


def _take(made: Building, one: Mapping[str, Any], facts: dict[str, Any]) -> None:
    kind, inner = kind_of(one), one.get("message")
    time = text(one.get("timestamp"))
    if kind == "message" and isinstance(inner, dict):
        _message(made, inner, time)
    elif kind == "compaction":
        made.event("compaction")
        made.history("user", content_of(one.get("summary")))
    elif kind == "model_change":
        facts.setdefault("model", text(one.get("modelId")))
    elif kind not in _SILENT:
        made.unknown_record(kind)


def _message(made: Building, inner: Mapping[str, Any], time: str | None) -> None:
    role = inner.get("role")
    if role == "user":
        made.user(content_of(inner.get("content")), time)
    elif role == "assistant":
        _assistant(made, inner, time)
    elif role in ("toolResult", "tool"):
        id, name = text(inner.get("toolCallId")), text(inner.get("toolName"))
        made.result(id, content_of(inner.get("content")), inner.get("isError") is True, name=name)
    elif role in ("bashExecution", "custom", "hookMessage", "branchSummary", "compactionSummary"):
        made.history("user", content_of(inner.get("output") or inner.get("content") or inner.get("summary") or ""))
    else:
        made.unknown_record(f"message/{role}")


def _assistant(made: Building, inner: Mapping[str, Any], time: str | None) -> None:
    said, usage = inner.get("content"), table(inner.get("usage"))
    blocks = [{"type": "text", "text": said}] if isinstance(said, str) else rows(said)
    made.say(
        None,
        content_of([block for block in blocks if kind_of(block) == "text" and isinstance(block.get("text"), str)]),
        "\n".join(str(block.get("thinking") or "") for block in blocks if kind_of(block) == "thinking"),
        usage=usage_of(usage.get("input"), usage.get("cacheWrite"), usage.get("cacheRead"), usage.get("output")),
        model=text(inner.get("model")),
        timestamp=time,
        extra={"stop": inner["stopReason"]} if inner.get("stopReason") in ("aborted", "error") else None,
    )
    for block in blocks:
        if kind_of(block) == "toolCall":
            made.call(text(block.get("id")), str(block.get("name") or ""), block.get("arguments"))


PI = Format(NAME, _recognises, _read, "~/.pi/agent/sessions.")
