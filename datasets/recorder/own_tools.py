"""The agent's own tools, run in this process against the session's folder: `builtin.*` and `ui.*`."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN_SECONDS = 10
MOST_HITS = 50


class ToolError(Exception):
    """A call that failed; its text is what the agent reads."""


@dataclass(slots=True)
class Desk:
    """What the own tools work on: a folder, a list of things to do, the panels on the screen."""

    root: Path
    todos: list[dict[str, str]] = field(default_factory=list)
    panels: dict[str, str] = field(default_factory=dict)

    def path(self, text: str) -> Path:
        """Return a path inside the folder; anything else is refused."""
        path = (self.root / text).resolve()
        if path != self.root and self.root not in path.parents:
            raise ToolError(f"{text} is outside the workspace")
        return path

    def file(self, text: str) -> Path:
        """Return the path of a file that exists."""
        path = self.path(text)
        if not path.is_file():
            raise ToolError(f"no such file: {text}")
        return path

    def name(self, path: Path) -> str:
        """Return a path as the agent writes it, relative to the folder."""
        return path.relative_to(self.root).as_posix()


Handler = Callable[..., str]
HANDLERS: dict[str, Handler] = {}


def handler(function: Handler) -> Handler:
    """Register a function as the tool of its name: `read_file` is `builtin.read_file`, `ui_show` is `ui.show`."""
    name = function.__name__.rstrip("_")
    HANDLERS[name.replace("_", ".", 1) if name.startswith("ui_") else f"builtin.{name}"] = function
    return function


def run(desk: Desk, tool: str, arguments: dict[str, Any]) -> tuple[str, bool]:
    """Run one of our tools; return its answer and whether it is an error."""
    try:
        return HANDLERS[tool](desk, **arguments), False
    except ToolError as failure:
        return f"Error: {failure}", True
    except TypeError as error:
        return f"Error: wrong arguments: {str(error).partition(') ')[2] or error}", True


@handler
def read_file(desk: Desk, path: str, first_line: int = 1, last_line: int | None = None) -> str:
    """Return a file's lines, whole or a range counted from 1."""
    lines = desk.file(path).read_text(encoding="utf-8").splitlines()
    return "\n".join(lines[first_line - 1 : last_line])


@handler
def write_file(desk: Desk, path: str, content: str) -> str:
    """Write a file and the folders above it."""
    target = desk.path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    verb = "replaced" if target.exists() else "created"
    target.write_text(content, encoding="utf-8")
    return f"{verb} {path} ({len(content.encode())} bytes)"


@handler
def edit_file(desk: Desk, path: str, old: str, new: str) -> str:
    """Replace a passage that occurs exactly once."""
    target = desk.file(path)
    text = target.read_text(encoding="utf-8")
    if text.count(old) != 1:
        raise ToolError(f"the text to replace occurs {text.count(old)} times in {path}; it must occur once")
    target.write_text(text.replace(old, new), encoding="utf-8")
    return f"edited {path}, line {text[: text.index(old)].count(chr(10)) + 1}"


@handler
def delete_file(desk: Desk, path: str) -> str:
    """Delete a file."""
    desk.file(path).unlink()
    return f"deleted {path}"


@handler
def list_dir(desk: Desk, path: str = ".") -> str:
    """List a folder; folders end with a slash."""
    folder = desk.path(path)
    if not folder.is_dir():
        raise ToolError(f"no such folder: {path}")
    entries = sorted(entry for entry in folder.iterdir() if entry.name != ".git")
    return "\n".join(f"{entry.name}/" if entry.is_dir() else entry.name for entry in entries) or "(empty)"


def _files(desk: Desk, path: str) -> list[Path]:
    start = desk.path(path)
    found = [start] if start.is_file() else sorted(start.rglob("*"))
    return [file for file in found if file.is_file() and ".git" not in file.parts]


@handler
def find_files(desk: Desk, pattern: str, path: str = ".") -> str:
    """List files whose name matches a wildcard pattern."""
    hits = [desk.name(file) for file in _files(desk, path) if file.match(pattern)]
    return "\n".join(hits[:MOST_HITS]) or "no file matches"


@handler
def search_text(desk: Desk, pattern: str, path: str = ".", ignore_case: bool = False) -> str:
    """List lines that match a regular expression."""
    try:
        wanted = re.compile(pattern, re.IGNORECASE if ignore_case else 0)
    except re.error as error:
        raise ToolError(f"the pattern is no regular expression: {error}") from error
    hits = [hit for file in _files(desk, path) for hit in _hits(desk, file, wanted)]
    return "\n".join(hits[:MOST_HITS]) or "no match"


def _hits(desk: Desk, file: Path, wanted: re.Pattern[str]) -> list[str]:
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        return []
    return [f"{desk.name(file)}:{no}: {line.strip()}" for no, line in enumerate(lines, 1) if wanted.search(line)]


@handler
def diff_files(desk: Desk, old: str, new: str) -> str:
    """Compare two files as a unified diff."""
    before, after = (desk.file(path).read_text(encoding="utf-8").splitlines() for path in (old, new))
    return "\n".join(difflib.unified_diff(before, after, old, new, lineterm="", n=1)) or "the files are equal"


@handler
def run_python(desk: Desk, code: str) -> str:
    """Run a program in a process of its own, with a time limit and no environment."""
    command = [sys.executable, "-I", "-B", "-c", code]
    try:
        done = subprocess.run(command, cwd=desk.root, capture_output=True, text=True, timeout=RUN_SECONDS, env={})
    except subprocess.TimeoutExpired as error:
        raise ToolError(f"stopped after {RUN_SECONDS} seconds") from error
    if done.returncode:
        raise ToolError(done.stderr.strip().splitlines()[-1])
    return done.stdout.rstrip("\n") or "(no output)"


@handler
def todo(desk: Desk, items: list[dict[str, str]] | None = None) -> str:
    """Replace the list when items come, and return it."""
    if items is not None:
        desk.todos = items
    marks = {"done": "x", "doing": ">", "open": " "}
    return "\n".join(f"[{marks[item['state']]}] {item['text']}" for item in desk.todos) or "nothing to do"


@handler
def ui_show(desk: Desk, panel: str, title: str, body: str, kind: str = "text") -> str:
    """Place or update a panel."""
    verb = "updated" if panel in desk.panels else "placed"
    desk.panels[panel] = title
    return json.dumps({"panel": panel, "status": verb, "kind": kind, "lines": body.count("\n") + 1})


@handler
def ui_hide(desk: Desk, panel: str) -> str:
    """Remove a panel."""
    if desk.panels.pop(panel, None) is None:
        raise ToolError(f"no panel {panel!r} is on the screen")
    return json.dumps({"panel": panel, "status": "removed"})
