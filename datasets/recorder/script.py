"""The session scripts of `datasets/scripts`: how they are read.

One file holds several sessions. A line begins with a mark; what is indented below it goes on with it.

    === id            a session; then `key: value` lines
    > text            the user's input: a new turn
    @ type {json}     an event before the next step
    % tool {json}     a call that prepares the session and is not recorded
    ~ text            what the agent says before its calls; alone it starts a pass without words
    ! x = tool {json} a call (several in a row are one pass); `x =` keeps the answer
    !! tool {json}    a call that is meant to fail
    < text            the agent's answer: the turn ends

Texts and arguments take in earlier answers with `${x}`, `${x.path.0|filter}`; see `answers.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recorder.errors import RecordError

MARKS = ("===", "!!", ">", "@", "%", "~", "!", "<")
CALL = re.compile(r"(?:(?P<keep>\w+) = )?(?P<tool>[\w.-]+)\s*(?P<arguments>\{.*\})?\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """One call as the script gives it."""

    tool: str
    arguments: dict[str, Any]
    keep: str | None = None
    fails: bool = False


@dataclass(slots=True)
class Step:
    """One step of a script: `user`, `agent` (words and calls) or `setup`."""

    kind: str
    text: str = ""
    calls: list[PlannedCall] = field(default_factory=list)
    events: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Script:
    """One scripted session."""

    id: str
    head: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def servers(self) -> list[str]:
        """The MCP servers of the session."""
        return self.head["servers"].split()


def read_scripts(folder: Path) -> list[Script]:
    """Return the sessions of all script files, in the order of their names."""
    return [script for path in sorted(folder.glob("*.txt")) for script in _read_file(path)]


def _read_file(path: Path) -> list[Script]:
    scripts: list[Script] = []
    pending: list[dict[str, Any]] = []
    for mark, text in _marked(path):
        if mark == "===":
            scripts.append(Script(text))
        elif mark == "":
            _add_head(scripts[-1], text, path)
        elif mark == "@":
            pending.append(_event(text, path))
        else:
            _add(scripts[-1], mark, text, path, pending)
    return scripts


def _add_head(script: Script, text: str, path: Path) -> None:
    if script.steps:
        raise RecordError(f"{path.name}: {text[:80]!r} has no mark; indent what goes on with the line above it.")
    key, _, value = text.partition(":")
    script.head[key.strip()] = value.strip()


def _marked(path: Path) -> Iterator[tuple[str, str]]:
    mark, lines = "", [""]
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("    ") or (not line.strip() and mark == "<"):
            lines.append(line[4:])
            continue
        if mark or any(lines):
            yield mark, "\n".join(lines).strip()
        mark = next((known for known in MARKS if line.startswith(known)), "")
        lines = [] if line.startswith("#") else [line[len(mark) :].strip()]
    if any(lines):
        yield mark, "\n".join(lines).strip()


def _add(script: Script, mark: str, text: str, path: Path, pending: list[dict[str, Any]]) -> None:
    if mark in ("!", "!!", "%"):
        call = _call(text, mark == "!!", path)
        kind = "setup" if mark == "%" else "agent"
        if pending or not script.steps or script.steps[-1].kind != kind:
            script.steps.append(Step(kind, events=pending[:]))
        script.steps[-1].calls.append(call)
    else:
        script.steps.append(Step({">": "user", "~": "agent", "<": "agent"}[mark], text, events=pending[:]))
    pending.clear()


def _event(text: str, path: Path) -> dict[str, Any]:
    kind, _, body = text.partition(" ")
    return {"type": kind, **_json(body or "{}", path)}


def _call(text: str, fails: bool, path: Path) -> PlannedCall:
    match = CALL.match(text)
    if match is None:
        raise RecordError(f"{path.name}: no call can be read from {text!r}; write `x = tool {{json}}`.")
    return PlannedCall(match["tool"], _json(match["arguments"] or "{}", path), match["keep"], fails)


def _json(text: str, path: Path) -> dict[str, Any]:
    try:
        value: dict[str, Any] = json.loads(text, strict=False)
    except json.JSONDecodeError as error:
        raise RecordError(f"{path.name}: {error} in {text!r}") from error
    return value
