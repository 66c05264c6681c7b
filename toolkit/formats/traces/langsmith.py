"""Runs of LangSmith: the bodies that its clients send, and runs as its API gives them, JSON or JSON Lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, rows, table, text
from toolkit.formats.traces.span_exchanges import steps_of
from toolkit.formats.traces.spans import Span, moment, ordered, time_of
from toolkit.formats.traffic.chain_session import Run
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.exchanges import Exchange, usage_from
from toolkit.formats.traffic.loose import exchange_from
from toolkit.session import Session

_KINDS = {"llm": "LLM", "tool": "TOOL"}


def _recognises(source: Source) -> bool:
    head = source.head
    if b'"run_type"' in head and (b'"inputs"' in head or b'"dotted_order"' in head):
        return True
    return {"post", "patch"} <= source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    value = [row for _, row in source.objects(problems)] if source.objects_at_head else source.document(problems)
    runs: dict[str, dict[str, Any]] = {}
    for row in _runs(value):
        before = runs.setdefault(str(row.get("id")), {})
        before |= {key: one for key, one in row.items() if one not in (None, {}, []) or key not in before}
    spans = ordered(_span(row) for row in runs.values())
    yield from sessions_of(steps_of(spans, _exchange, _run), source, problems, "langsmith")


def _runs(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the runs of any wrapper, parents before their children; a `patch` comes after what it changes."""
    for row in rows(value if isinstance(value, list) else [value]):
        if "run_type" in row or "inputs" in row or ("id" in row and "outputs" in row):
            yield row
            yield from _runs(row.get("child_runs"))
        else:
            for key in ("post", "patch", "runs", "results", "data"):
                yield from _runs(row.get(key) if isinstance(row.get(key), list) else [])


def _span(row: dict[str, Any]) -> Span:
    kind = str(row.get("run_type") or "")
    extra = table(row.get("extra"))
    metadata = table(extra.get("metadata"))
    named = ("session_id", "conversation_id", "thread_id")
    return Span(
        id=str(row.get("id")),
        parent=str(row.get("parent_run_id") or ""),
        trace=str(row.get("trace_id") or row.get("id")),
        name=str(row.get("name") or ""),
        start=time_of(row, "start_time"),
        end=time_of(row, "end_time"),
        attributes={
            "ls.inputs": row.get("inputs"),
            "ls.outputs": row.get("outputs"),
            "ls.call": table(row.get("outputs")).get("tool_call_id"),
            "ls.invocation": table(extra.get("invocation_params")),
            "ls.metadata": metadata,
            "ls.thread": next((metadata[key] for key in named if metadata.get(key)), None),
        },
        kind=_KINDS.get(kind, kind.upper()),
        failed=bool(row.get("error")),
    )


def _exchange(span: Span, agent: str) -> Exchange:
    inputs, outputs = table(span.get("ls.inputs")), table(span.get("ls.outputs"))
    invoked, metadata = table(span.get("ls.invocation")), table(span.get("ls.metadata"))
    tools = inputs.get("tools") or inputs.get("functions") or invoked.get("tools") or invoked.get("functions")
    model = text(outputs.get("model")) or text(inputs.get("model")) or text(metadata.get("ls_model_name"))
    return exchange_from(
        inputs,
        outputs,
        tools,
        model=model or text(invoked.get("model")) or text(invoked.get("model_name")),
        usage=usage_from(table(outputs.get("usage_metadata"))) if "usage_metadata" in outputs else None,
        timestamp=moment(span.start),
        conversation=text(span.get("ls.thread")),
        group=span.trace,
        agent=agent,
    )


def _run(span: Span, agent: str) -> Run:
    given, answer = table(span.get("ls.inputs")), table(span.get("ls.outputs"))
    value = answer.get("output", answer or None)
    inner = table(value)
    id = text(inner.get("tool_call_id")) or text(table(inner.get("kwargs")).get("tool_call_id"))
    call = Piece("call", "", id, span.name, given)
    content = inner.get("content", table(inner.get("kwargs")).get("content", value))
    said = Piece("result", content_of(content), is_error=span.failed) if value is not None else None
    return Run(call, said, span.trace, text(span.get("ls.thread")), agent)


LANGSMITH = Format("langsmith", _recognises, _read, "Runs of LangSmith, from its clients or its API.")
