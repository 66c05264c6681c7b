"""Question files of BFCL: a row is a session without a model, its functions the tools."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, rows
from toolkit.formats.traffic.definitions import tools_of
from toolkit.session import Session, text_of


def _recognises(source: Source) -> bool:
    return any("question" in row and ("function" in row or "involved_classes" in row) for row in source.objects_at_head)


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    for line, row in source.objects(problems):
        building = Building(source, problems, "bfcl")
        building.line = line
        building.define(tools_of(row.get("function")))
        for message in _messages(row.get("question")):
            if message.get("role") == "system":
                building.system(text_of(content_of(message.get("content"))))
            elif message.get("role") == "user":
                building.user(content_of(message.get("content")))
        yield building.session(str(row.get("id") or f"{source.path.stem}/{line}"))


def _messages(value: Any) -> Iterator[dict[str, Any]]:
    for one in value if isinstance(value, list) else []:
        yield from rows(one) if isinstance(one, list) else rows([one])


BFCL = Format("bfcl", _recognises, _read, "Question files of the Berkeley function-calling leaderboard.")
