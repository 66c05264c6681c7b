"""Logs of Inspect: `.eval` archives and JSON; a sample is a session, its scores are the outcome."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from typing import Any

import msgspec

from toolkit.errors import why
from toolkit.formats.files import Problem
from toolkit.formats.importing import UNREADABLE, Format, Source, salvaged
from toolkit.formats.pieces import rows, table, text
from toolkit.formats.traffic.chains import sessions_of
from toolkit.formats.traffic.definitions import tools_of
from toolkit.formats.traffic.exchanges import Exchange, usage_from
from toolkit.formats.traffic.messages import pieces_of
from toolkit.session import Session

_MARK = "attachment://"
_SCORERS = ("scorer", "scorers")


def _recognises(source: Source) -> bool:
    if source.head[:4] == b"PK\x03\x04":
        return b"_journal/" in source.head or b"header.json" in source.head or b"samples/" in source.head
    return {"status", "eval"} <= source.keys


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    if source.head[:2] == b"PK":
        yield from _archive(source, problems)
        return
    log = table(source.document(problems))
    named = _named(log, source)
    for sample in rows(log.get("samples")):
        yield from _sample(sample, named, source, problems)


def _named(log: dict[str, Any], source: Source) -> str:
    run = table(log.get("eval"))
    return str(run.get("eval_id") or run.get("run_id") or source.path.stem)


def _archive(source: Source, problems: list[Problem]) -> Iterator[Session]:
    """Yield the sessions of an archive, one sample in memory at a time."""
    try:
        with zipfile.ZipFile(source.path) as archive:
            names = archive.namelist()
            start = next((name for name in ("header.json", "_journal/start.json") if name in names), None)
            log = table(_json(archive, start, source, problems)) if start else {}
            named = _named(log, source)
            for name in names:
                if name.startswith("samples/") and name.endswith(".json"):
                    yield from _sample(table(_json(archive, name, source, problems)), named, source, problems)
    except (zipfile.BadZipFile, OSError, EOFError, NotImplementedError, RuntimeError) as error:
        said = why(error) if isinstance(error, OSError) else str(error)
        source.note(problems, 0, "unreadable_file", f"the archive cannot be read: {said}.")


def _json(archive: zipfile.ZipFile, name: str, source: Source, problems: list[Problem]) -> Any:
    try:
        data = archive.read(name)
        return msgspec.json.decode(data)
    except UNREADABLE:
        values, _ = salvaged(data)
        if len(values) == 1:
            return values[0]
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, ValueError):
        pass
    source.note(problems, 0, "unreadable_member", f"{name!r} of the archive cannot be read.")
    return None


def _sample(sample: dict[str, Any], named: str, source: Source, problems: list[Problem]) -> Iterator[Session]:
    if not sample:
        return
    sample = _Attached(sample, source, problems).whole(sample)
    conversation = f"{named}/{sample.get('id')}/{sample.get('epoch', 1)}"
    found = [_exchange(event, sample, conversation) for event in _asked(rows(sample.get("events")))]
    if not found:
        found = [Exchange(pieces_of(sample.get("messages")), conversation=conversation)]
    scores = {name: table(score).get("value") for name, score in table(sample.get("scores")).items()}
    outcome: dict[str, Any] | None = {"scores": scores} if scores else None
    if sample.get("error"):
        outcome = {**(outcome or {}), "error": str(table(sample["error"]).get("message") or "error")}
    alone = all(one.reply is None for one in found)
    yield from sessions_of(found, source, problems, "inspect", alone, {"outcome": outcome})


def _asked(events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the requests of the agent; those that a scorer made are none of the session."""
    parents = {str(event.get("id")): event for event in events if event.get("event") == "span_begin"}
    scoring = 0
    for event in events:
        if event.get("event") == "step" and str(event.get("type")) in _SCORERS:
            scoring += 1 if event.get("action") == "begin" else -1
        if event.get("event") == "model" and not scoring and not _scores(event, parents) and not event.get("pending"):
            yield event


def _scores(event: dict[str, Any], parents: dict[str, dict[str, Any]]) -> bool:
    span, seen = parents.get(str(event.get("span_id"))), 0
    while span is not None and seen < 100:
        if str(span.get("type")) in _SCORERS:
            return True
        span, seen = parents.get(str(span.get("parent_id"))), seen + 1
    return False


def _exchange(event: dict[str, Any], sample: dict[str, Any], conversation: str) -> Exchange:
    output = table(event.get("output"))
    choices = rows(output.get("choices"))
    reply = pieces_of(choices[0].get("message"), "assistant") if choices else ()
    return Exchange(
        history=pieces_of(_input(event, sample)),
        reply=None if event.get("error") and not reply else reply,
        tools=tools_of(event.get("tools")),
        model=text(event.get("model")) or text(output.get("model")),
        usage=usage_from(table(output.get("usage"))),
        timestamp=text(event.get("timestamp")),
        conversation=conversation,
        fault=str(event["error"]) if event.get("error") else None,
    )


def _input(event: dict[str, Any], sample: dict[str, Any]) -> list[Any]:
    """Return the messages of a request; newer logs keep them once for the sample, and ranges of them here."""
    if event.get("input") or not event.get("input_refs"):
        return event.get("input") or []
    pool = table(sample.get("events_data")).get("messages") or []
    spans = (one for one in event["input_refs"] if isinstance(one, list) and len(one) == 2)
    return [message for start, end in spans for message in pool[start:end]]


class _Attached:
    """Puts long texts, which a sample keeps aside, back where they belong."""

    def __init__(self, sample: dict[str, Any], source: Source, problems: list[Problem]) -> None:
        self.texts, self.source, self.problems = table(sample.get("attachments")), source, problems

    def whole(self, value: Any) -> Any:
        """Return a value with its attachments; what is not there is told, and its reference stays."""
        if isinstance(value, dict):
            return {key: one if key == "attachments" else self.whole(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.whole(one) for one in value]
        if not isinstance(value, str) or not value.startswith(_MARK):
            return value
        name = value.removeprefix(_MARK)
        if name not in self.texts:
            self.source.note(self.problems, 0, "attachment_missing", f"the attachment {name!r} is not there.")
        return self.texts.get(name, value)


INSPECT = Format("inspect", _recognises, _read, "Evaluation logs of Inspect, `.eval` and JSON.")
