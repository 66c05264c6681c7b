"""What the agent has at each moment of a session: tools listed, hidden, out of reach."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from recorder.catalog import Row, engine_name


@dataclass(slots=True)
class Stage:
    """The tools of a session and the events that change them; `told` is fixed for a turn."""

    rows: list[Row]
    absent: set[str] = field(default_factory=set)
    down: set[str] = field(default_factory=set)
    hides: dict[str, list[tuple[bool, str]]] = field(default_factory=dict)
    told: list[int] = field(default_factory=list)

    @property
    def names(self) -> list[str]:
        """The engine's names, in the order of the session's tool definitions."""
        return [engine_name(row) for row in self.rows]

    def begin_turn(self) -> None:
        """Fix what the turn is told: all that is listed, in reach and not hidden."""
        self.told = [index for index, row in enumerate(self.rows) if self._offered(row)]

    def _offered(self, row: Row) -> bool:
        name = engine_name(row)
        return name not in self.absent and row.get("server") not in self.down and not self._hidden(name)

    def _hidden(self, name: str) -> bool:
        words = [[hide for hide, one in rules if fnmatchcase(name, one)] for rules in self.hides.values()]
        return any(word[-1] for word in words if word)

    def apply(self, event: dict[str, Any]) -> dict[str, Any]:
        """Apply an event; return it as it is written down, its patterns of added and removed tools spelt out."""
        kind = event["type"]
        if kind in ("hide", "show"):
            self.hides.setdefault(event["extension"], []).extend((kind == "hide", one) for one in event["patterns"])
        elif kind == "server_down":
            self.down.add(event["server"])
        elif kind == "server_up":
            self.down.discard(event["server"])
        elif kind == "tools_changed":
            return self._change(event)
        return event

    def _change(self, event: dict[str, Any]) -> dict[str, Any]:
        spelt: dict[str, Any] = {key: self._matching(event[key]) for key in ("added", "removed") if key in event}
        self.absent -= set(spelt.get("added", ()))
        self.absent |= set(spelt.get("removed", ()))
        return {**event, **spelt}

    def _matching(self, patterns: list[str]) -> list[str]:
        return [name for name in self.names if any(fnmatchcase(name, one) for one in patterns)]

    def refusal(self, name: str) -> str | None:
        """Return why a call cannot be made now, or None."""
        if name not in self.names or self.names.index(name) not in self.told:
            return f"unknown tool: {name}"
        row = self.rows[self.names.index(name)]
        if row.get("server") in self.down or name in self.absent:
            return f"{name} is unavailable: the server {row.get('server')!r} is not connected"
        return None
