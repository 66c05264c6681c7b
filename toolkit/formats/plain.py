"""The smallest log: a line a turn, `{"user": text, "tools": [names]}`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Format, Source
from toolkit.formats.pieces import content_of, text
from toolkit.session import Session

NAME = "plain"


def _recognises(source: Source) -> bool:
    return any(
        isinstance(one.get("user"), str) and isinstance(one.get("tools"), list) for one in source.objects_at_head
    )


def _read(source: Source, problems: list[Problem]) -> Iterator[Session]:
    """Lines of one `session` id are its turns; lines without one are turns of the file's session."""
    made: dict[str, Building] = {}
    models: dict[str, Any] = {}
    for number, one in source.objects(problems):
        id = str(one.get("session") or source.path.name.partition(".")[0])
        building = made.setdefault(id, Building(source, problems, NAME))
        building.line = number
        if not isinstance(one.get("user"), str):
            building.unknown_record("a line without `user`")
            continue
        models.setdefault(id, one.get("model"))
        _turn(building, one)
    for id, building in made.items():
        if not building.empty:
            yield building.session(id, model=text(models.get(id)))


def _turn(made: Building, one: Mapping[str, Any]) -> None:
    made.user(one["user"], text(one.get("time")))
    rows = one["tools"] if isinstance(one.get("tools"), list) else []
    if rows:
        made.say(None)
    for row in rows:
        call = row if isinstance(row, dict) else {"name": row}
        made.call(None, str(call.get("name") or ""), call.get("arguments"))
        made.answer(content_of(call.get("result")))


PLAIN = Format(NAME, _recognises, _read, "Your own: a line a turn, user text and the names of the tools called.")
