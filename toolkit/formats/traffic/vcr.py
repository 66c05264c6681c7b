"""VCR cassettes: YAML or JSON of HTTP interactions, also with `parsed_body` and with packed `!!binary` bodies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.errors import need
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import rows, table, text
from toolkit.formats.traffic.bodies import body_text
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.exchanges import Exchange, exchange_of
from toolkit.session import Session


def _recognises(source: Source) -> bool:
    head = source.head
    return b"interactions" in head and b"request" in head and (b"\ninteractions:" in b"\n" + head or _is_json(source))


def _is_json(source: Source) -> bool:
    return "interactions" in source.keys or "http_interactions" in source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    value = source.document(problems) if source.head.lstrip()[:1] == b"{" else _yaml(source, problems)
    interactions = table(value).get("interactions") or table(value).get("http_interactions")
    kept = _once(rows(interactions))
    if len(kept) < len(rows(interactions)):
        source.note(problems, 0, "repeated_request", "requests are recorded again under another spelling of POST.")
    found = [one for row in kept if (one := _exchange(row)) is not None]
    yield from sessions_of(found, source, problems, "vcr")


def _once(interactions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the interactions without those that were recorded again by a client that spells methods otherwise."""
    spelt: dict[Any, Any] = {}
    kept = []
    for row in interactions:
        request = table(row.get("request"))
        method = request.get("method")
        if spelt.setdefault((request.get("uri"), str(method).upper()), method) == method:
            kept.append(row)
    return kept


def _yaml(source: Source, problems: list[Problem]) -> Any:
    need("yaml")
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return yaml.load(source.data(problems), Loader=loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        source.note(problems, 0, "unreadable_file", f"this is no YAML: {' '.join(str(error).split())[:200]}")
        return None


def _exchange(row: dict[str, Any]) -> Exchange | None:
    request, response = table(row.get("request")), table(row.get("response"))
    status = response.get("status")
    code = table(status).get("code") if isinstance(status, Mapping) else status or response.get("status_code")
    when = row.get("recorded_at") or row.get("timestamp")
    return exchange_of(_body(request), _body(response), text(when), code)


def _body(message: dict[str, Any]) -> Any:
    """Return a body: what was parsed before, else the text in `body`, `content`, `string`, whatever holds it."""
    if message.get("parsed_body") is not None:
        return message["parsed_body"]
    body = message.get("body", message.get("content"))
    if isinstance(body, Mapping) and ("string" in body or "base64_string" in body):
        packed = body.get("base64_string")
        body = body_text(packed, "base64") if packed else body.get("string")
    return body_text(body)


VCR = Format("vcr", _recognises, _read, "Cassettes of VCR libraries, as test suites keep them.")
