"""Traffic of the model APIs as JSON: a body, a list, or a line each; requests, responses, or both in one record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source, parsed
from toolkit.formats.pieces import text
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.exchanges import Exchange, exchange_of, is_request, is_response
from toolkit.formats.traffic.streams import assembled, is_stream
from toolkit.session import Session

_ASKED = ("request", "request_body", "requestBody", "req", "params", "kwargs")
_ANSWERED = ("response", "response_body", "responseBody", "res", "result")
_INNER = ("body", "json", "data", "payload", "content", "parsed_body", "text", "string", "output")
_TIMES = ("timestamp", "time", "created_at", "start_time", "startedDateTime", "ts")


def exchange_in(row: Any) -> Exchange | None:
    """Return the exchange that a record holds: two bodies under whatever names, a request or a response alone."""
    if not isinstance(row, Mapping):
        return None
    asked, answer = _body(row, _ASKED, is_request), _body(row, _ANSWERED, is_response)
    if asked is not None or answer is not None:
        faulty = answer is None and next((row[key] for key in _ANSWERED if row.get(key) is not None), None)
        when = next((row[key] for key in _TIMES if row.get(key)), None)
        return exchange_of(asked, answer or faulty or None, text(when), row.get("status_code") or row.get("status"))
    if is_request(row):
        return exchange_of(row, None)
    return exchange_of(None, row) if is_response(assembled(row)) else None


def _body(row: Mapping[str, Any], names: tuple[str, ...], fits: Any) -> Any:
    for value in (parsed(row[name]) for name in names if row.get(name) is not None):
        for body in (value, *(value[key] for key in _INNER if isinstance(value, Mapping) and key in value)):
            whole = assembled(body)
            if fits(whole):
                return whole
    return None


def _recognises(source: Source) -> bool:
    if is_stream(source.head):
        return b"choices" in source.head or b"message_start" in source.head or b"response." in source.head
    heads = source.objects_at_head
    if heads:
        return any(exchange_in(row) is not None or is_response(assembled([row])) for row in heads[:20])
    keys = source.keys
    whole = {"model", "messages"} <= keys or {"model", "input"} <= keys or {"contents"} <= keys
    return whole or bool(keys & {"choices", "candidates"}) or _alone(keys) or _pair(keys)


def _alone(keys: frozenset[str]) -> bool:
    return {"role", "content", "type", "model"} <= keys or {"object", "output"} <= keys or keys == {"messages"}


def _pair(keys: frozenset[str]) -> bool:
    return bool(keys & set(_ASKED[:4])) and bool(keys & set(_ANSWERED[:4]))


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    found = list(_exchanges(source, problems))
    transcripts = not any(one.reply is not None for one in found)
    yield from sessions_of(found, source, problems, "wire", transcripts)


def _exchanges(source: Source, problems: list[Problem]) -> Iterator[Exchange]:
    if is_stream(source.head):
        rows = [assembled(source.data(problems).decode("utf-8", "replace"))]
    elif not source.objects_at_head:
        value = source.document(problems)
        rows = value if isinstance(value, list) else [value]
    else:
        yield from _of_lines(source, problems)
        return
    yield from (one for row in rows if (one := exchange_in(row)) is not None)


def _of_lines(source: Source, problems: list[Problem]) -> Iterator[Exchange]:
    """Yield the exchange of every line; lines that are events of a stream are one response together."""
    events = []
    for _, row in source.objects(problems):
        one = exchange_in(row)
        if one is not None:
            yield one
        elif assembled([row]) != [row]:
            events.append(row)
    whole = exchange_in(assembled(events)) if events else None
    if whole is not None:
        yield whole


WIRE = Format("wire", _recognises, _read, "Requests and responses of the model APIs, as JSON or JSON Lines.")
