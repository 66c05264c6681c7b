"""Spans out of whatever holds them: OTLP documents and lines, Tempo, Jaeger, Phoenix, and plain lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from toolkit.formats.importing import parsed
from toolkit.formats.pieces import rows, table

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Span:
    """A span, whatever it lay in; `attributes` are flat, under dotted names."""

    id: str
    parent: str
    trace: str
    name: str
    start: float | None
    end: float | None
    attributes: dict[str, Any]
    events: tuple[tuple[str, dict[str, Any]], ...] = ()
    kind: str = ""
    failed: bool = False

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from all others: some publishers number the spans of every trace anew."""
        return self.trace, self.id

    def get(self, *names: str) -> Any:
        """Return the first attribute of these that is there."""
        return next((self.attributes[name] for name in names if self.attributes.get(name) not in (None, "")), None)


def spans_of(value: Any) -> list[Span]:
    """Return the spans of a document, each once, in the order of time where it is known."""
    found: dict[object, Span] = {}
    for span in _spans(value):
        found.setdefault(span.key if span.id else len(found), span)
    return ordered(found.values())


def ordered(spans: Iterable[Span]) -> list[Span]:
    """Return spans trace by trace, by their start; one without a time stays behind the one that stands before it."""
    last, keyed = 0.0, []
    first: dict[str, float] = {}
    for number, span in enumerate(spans):
        last = span.start if span.start is not None else last
        first[span.trace] = min(last, first.get(span.trace, last))
        keyed.append((last, number, span))
    keyed.sort(key=lambda one: (first[one[2].trace], one[2].trace, *one[:2]))
    return [span for _, _, span in keyed]


_OLDER = ("instrumentationLibrarySpans", "data", "traces")


def _spans(value: Any) -> Iterator[Span]:
    if isinstance(value, list):
        for one in value:
            yield from _spans(one)
    if not isinstance(value, Mapping):
        return
    if is_span(value):
        yield _span(value)
        yield from _spans(value.get("children") or value.get("child_spans"))
        return
    for key in ("resourceSpans", "resource_spans", "batches", "scopeSpans", "scope_spans", "trace", "spans", *_OLDER):
        if key in value:
            yield from _spans(value[key])
    if all(isinstance(one, list) and one and isinstance(one[0], Mapping) for one in value.values()):
        for one in value.values():
            yield from (_span(row) for row in one if isinstance(row, Mapping) and is_span(row))


def is_span(row: Row) -> bool:
    """Whether an object is a span of any of the shapes."""
    named = "name" in row or "operationName" in row
    told = any(key in row for key in ("spanId", "span_id", "spanID")) or "span_id" in table(row.get("context"))
    return named and told


def _span(row: Row) -> Span:
    context = table(row.get("context")) or row
    attributes = flat(row.get("attributes") if "attributes" in row else row.get("tags"))
    status = table(row.get("status"))
    code = str(row.get("status_code") or row.get("statusCode") or status.get("code") or status.get("status_code"))
    return Span(
        id=_first(context, "spanId", "span_id", "spanID"),
        parent=_first(row, "parentSpanId", "parent_span_id", "parentSpanID", "parent_id") or _reference(row),
        trace=_first(context, "traceId", "trace_id", "traceID"),
        name=_first(row, "name", "operationName"),
        start=time_of(row, "startTimeUnixNano", "start_time_unix_nano", "start_time", "startTime"),
        end=_ended(row),
        attributes=attributes,
        events=tuple(_events(row)),
        kind=str(row.get("span_kind") or attributes.get("openinference.span.kind") or "").upper(),
        failed=code in ("2", "STATUS_CODE_ERROR", "ERROR") or attributes.get("error") in (True, "true"),
    )


def _first(row: Row, *names: str) -> str:
    return next((str(row[name]) for name in names if row.get(name) not in (None, "")), "")


def _reference(row: Row) -> str:
    return next((str(one.get("spanID")) for one in rows(row.get("references")) if one.get("spanID")), "")


def _ended(row: Row) -> float | None:
    start = time_of(row, "startTime")
    if isinstance(row.get("duration"), int | float) and start is not None:
        return start + float(row["duration"]) / 1e6
    return time_of(row, "endTimeUnixNano", "end_time_unix_nano", "end_time", "endTime")


def _events(row: Row) -> Iterator[tuple[str, dict[str, Any]]]:
    for event in rows(row.get("events")):
        yield str(event.get("name") or ""), flat(event.get("attributes")) | flat(event.get("body"))
    for log in rows(row.get("logs")):
        fields = flat(log.get("fields"))
        yield str(fields.pop("event", "") or fields.pop("name", "")), fields


def time_of(row: Row, *names: str) -> float | None:
    """Return the moment of the first field that is there, in seconds; None where it is no time."""
    value = next((row[name] for name in names if row.get(name) not in (None, "", 0, "0")), None)
    if isinstance(value, str) and not value.isdigit():
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            return None
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    try:
        return seconds(float(value)) if value is not None else None
    except (TypeError, ValueError):
        return None


def seconds(number: float) -> float:
    """Return a moment in seconds, whether it was written in nano-, micro-, milliseconds or seconds."""
    for scale in (1e9, 1e6, 1e3):
        if number > 1e8 * scale:
            return number / scale
    return number


def moment(start: float | None) -> str | None:
    """Return a moment as ISO text; None where it is no date."""
    if start is None or not 1e8 < start < 1e11:
        return None
    return datetime.fromtimestamp(start, UTC).isoformat()


def flat(value: Any) -> dict[str, Any]:
    """Return attributes under dotted names: OTLP's typed pairs, Jaeger's tags, nested objects, or as they are."""
    if isinstance(value, list):
        pairs = ((str(one.get("key")), _typed(one.get("value"))) for one in rows(value) if "key" in one)
        return dict(pairs)
    return dict(_flat(table(parsed(value)), ""))


def _flat(value: Row, prefix: str) -> Iterator[tuple[str, Any]]:
    for key, one in value.items():
        name = f"{prefix}{key}"
        if isinstance(one, Mapping) and one:
            yield from _flat(one, f"{name}.")
        elif isinstance(one, list) and one and name.startswith("llm."):
            yield from _flat({str(n): item for n, item in enumerate(one)}, f"{name}.")
        else:
            yield name, one


def _typed(value: Any) -> Any:
    """Return the value of OTLP's `{"stringValue": …}`; int64 come as text."""
    if not isinstance(value, Mapping):
        return value
    for key, one in value.items():
        kind = key.replace("_", "").lower()
        if kind == "intvalue":
            return int(one) if str(one).lstrip("-").isdigit() else one
        if kind == "arrayvalue":
            return [_typed(item) for item in table(one).get("values") or ()]
        if kind == "kvlistvalue":
            return flat(table(one).get("values"))
        if kind in ("stringvalue", "boolvalue", "doublevalue", "bytesvalue"):
            return one
    return dict(value)


def nested(attributes: Row, prefix: str) -> Any:
    """Return the attributes under a prefix as the tree that their dotted names spell; numbers are places of a list.

    >>> nested({"a.0.role": "user", "a.0.content": "hi", "b": 1}, "a")
    [{'role': 'user', 'content': 'hi'}]
    """
    tree: dict[str, Any] = {}
    for name, value in attributes.items():
        if name.startswith(prefix + "."):
            _put(tree, name[len(prefix) + 1 :].split("."), value)
    return _listed(tree)


def _put(tree: dict[str, Any], path: list[str], value: Any) -> None:
    for key in path[:-1]:
        inner = tree.get(key)
        if not isinstance(inner, dict):
            inner = tree[key] = {} if inner is None else {"": inner}
        tree = inner
    last = tree.get(path[-1])
    if isinstance(last, dict):
        last[""] = value
    else:
        tree[path[-1]] = value


def _listed(tree: Any) -> Any:
    if not isinstance(tree, dict):
        return tree
    if tree and all(key.isdigit() for key in tree):
        return [_listed(tree[key]) for key in sorted(tree, key=int)]
    return {key: _listed(value) for key, value in tree.items()}
