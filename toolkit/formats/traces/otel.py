"""Traces of GenAI instrumentations: OTLP-JSON, Tempo, Jaeger, Phoenix, and lists of spans."""

from __future__ import annotations

from collections.abc import Iterator

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.traces.span_exchanges import role_of, steps_of
from toolkit.formats.traces.spans import spans_of
from toolkit.formats.traffic.chains import sessions_of
from toolkit.session import Session

_MARKS = (b'"spanId"', b'"span_id"', b'"spanID"', b'"traceId"', b'"trace_id"', b'"traceID"')


def _recognises(source: Source) -> bool:
    return sum(mark in source.head for mark in _MARKS) >= 2 and b'"observations"' not in source.head[:4096]


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    if source.objects_at_head:
        value: object = [row for _, row in source.objects(problems)]
    else:
        value = source.document(problems)
    spans = spans_of(value)
    steps = list(steps_of(spans))
    if not any(role_of(span) for span in spans):
        source.note(problems, 0, "not_a_session", f"none of its {len(spans)} spans asks a model or runs a tool.")
    yield from sessions_of(steps, source, problems, "otel")


OTEL = Format("otel", _recognises, _read, "OpenTelemetry, OpenInference and Traceloop spans; Jaeger, Tempo, Phoenix.")
