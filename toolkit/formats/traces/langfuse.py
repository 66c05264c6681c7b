"""Exports of Langfuse: a trace and its observations, or observations alone, as JSON or JSON Lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source, parsed
from toolkit.formats.pieces import content_of, rows, table, text
from toolkit.formats.traces.span_exchanges import steps_of
from toolkit.formats.traces.spans import Span, flat, moment, ordered, time_of
from toolkit.formats.traffic.chain_session import Run
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.conversation import Piece
from toolkit.formats.traffic.exchanges import Exchange, usage_from
from toolkit.formats.traffic.loose import exchange_from
from toolkit.session import Session

_KINDS = {"GENERATION": "LLM", "TOOL": "TOOL", "AGENT": "AGENT"}


def _recognises(source: Source) -> bool:
    head = source.head
    if {"trace", "observations"} <= source.keys or (b'"observations"' in head and b'"projectId"' in head):
        return True
    return b'"parentObservationId"' in head or b'"parent_observation_id"' in head


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    value = [row for _, row in source.objects(problems)] if source.objects_at_head else source.document(problems)
    for trace, observations in _traces(value):
        spans = ordered(_span(row, trace) for row in observations)
        names = {name for span in spans for name in _names(_exchange(span, ""))} - {None}
        spans = [replace(one, kind="TOOL") if one.kind == "SPAN" and one.name in names else one for one in spans]
        scores = {str(one.get("name")): one.get("value") for one in rows(parsed(trace.get("scores")))}
        facts = {"outcome": {"scores": scores}} if scores else {}
        yield from sessions_of(steps_of(spans, _exchange, _run), source, problems, "langfuse", facts=facts)


def _traces(value: Any) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Yield each trace with its observations; observations alone are grouped by the trace that they name."""
    given = value if isinstance(value, list) else [value]
    alone: dict[str, list[dict[str, Any]]] = {}
    for row in rows(given):
        if isinstance(row.get("observations"), list):
            yield table(row.get("trace")) or row, rows(row["observations"])
        else:
            alone.setdefault(str(row.get("traceId") or row.get("trace_id")), []).append(row)
    yield from (({}, ones) for ones in alone.values())


def _span(row: dict[str, Any], trace: dict[str, Any]) -> Span:
    kind = str(row.get("type") or "").upper()
    kept = {f"lf.{key}": parsed(value) for key, value in row.items() if value not in (None, "")}
    kept["lf.session"] = row.get("sessionId") or row.get("session_id") or trace.get("sessionId")
    return Span(
        id=str(row.get("id") or ""),
        parent=str(row.get("parentObservationId") or row.get("parent_observation_id") or ""),
        trace=str(row.get("traceId") or row.get("trace_id") or trace.get("id") or ""),
        name=str(row.get("name") or ""),
        start=time_of(row, "startTime", "start_time"),
        end=time_of(row, "endTime", "end_time"),
        attributes=kept,
        kind=_KINDS.get(kind, kind),
        failed=row.get("level") == "ERROR",
    )


def _exchange(span: Span, agent: str) -> Exchange:
    if span.kind != "LLM":
        return Exchange()
    metadata = table(span.get("lf.metadata"))
    attributes = flat(metadata.get("attributes"))
    parameters = table(span.get("lf.modelParameters", "lf.model_parameters"))
    tools = span.get("lf.toolDefinitions") or metadata.get("tools") or attributes.get("ai.prompt.tools")
    spent = table(span.get("lf.usageDetails", "lf.usage_details")) or table(span.get("lf.usage"))
    return exchange_from(
        span.get("lf.input"),
        span.get("lf.output"),
        tools or parameters.get("tools"),
        model=text(span.get("lf.model", "lf.providedModelName")),
        usage=usage_from(spent),
        timestamp=moment(span.start),
        conversation=text(span.get("lf.session")),
        group=span.trace,
        agent=agent,
    )


def _names(one: Exchange) -> Counter[str | None]:
    called = [piece.name for piece in (*one.history, *(one.reply or ())) if piece.kind == "call"]
    return Counter([*called, *(tool.leaf for tool in one.tools or ())])


def _run(span: Span, agent: str) -> Run:
    attributes = flat(table(span.get("lf.metadata")).get("attributes"))
    id = text(attributes.get("ai.toolCall.id")) or text(attributes.get("gen_ai.tool.call.id"))
    given, answer = span.get("lf.input"), span.get("lf.output")
    call = Piece("call", "", id, span.name.removeprefix("execute_tool "), given if isinstance(given, dict) else None)
    said = Piece("result", content_of(answer), is_error=span.failed) if answer is not None else None
    return Run(call, said, span.trace, text(span.get("lf.session")), agent)


LANGFUSE = Format("langfuse", _recognises, _read, "Traces and observations exported from Langfuse.")
