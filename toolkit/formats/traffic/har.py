"""HAR files of browsers, proxies and Polly: each entry that asked a model is a request and its response."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import rows, table, text
from toolkit.formats.traffic.bodies import body_text
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.exchanges import Exchange, exchange_of
from toolkit.session import Session


def _recognises(source: Source) -> bool:
    return (
        "log" in source.keys
        and b'"entries"' in source.head
        or (b'"entries"' in source.head and b'"postData"' in source.head)
    )


def _exchange(entry: dict[str, Any]) -> Exchange | None:
    request, response = table(entry.get("request")), table(entry.get("response"))
    content = table(response.get("content"))
    asked, sent = table(request.get("postData")), content.get("text")
    return exchange_of(
        body_text(asked.get("text"), asked.get("encoding")),
        body_text(sent, content.get("encoding")),
        text(entry.get("startedDateTime")),
        response.get("status"),
    )


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    entries = rows(table(table(source.document(problems)).get("log")).get("entries"))
    found = [(entry, one) for entry in entries if (one := _exchange(entry)) is not None]
    ordered = sorted(found, key=lambda pair: str(pair[0].get("startedDateTime") or ""))
    yield from sessions_of((one for _, one in ordered), source, problems, "har")


HAR = Format("har", _recognises, _read, "HTTP archives of browsers, proxies and Polly.")
