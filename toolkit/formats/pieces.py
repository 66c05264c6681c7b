"""Names, arguments, contents and counts as logs write them, into the values that sessions hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import msgspec

from toolkit.formats.importing import UNREADABLE
from toolkit.session import Billed, Content
from toolkit.tool import CORE_NAMES


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return the engine's name for a tool as a host writes it: `mcp.<server>.<tool>`, else `builtin.<name>`.

    >>> folded("mcp__git__log"), folded("functions.read"), folded("Bash"), folded("builtin.Bash")
    ('mcp.git.log', 'builtin.read', 'builtin.Bash', 'builtin.Bash')
    >>> folded("mcp__git._log")
    'mcp.git._log'
    """
    name = name.removeprefix("functions.")
    if name.startswith("mcp__"):
        server, _, leaf = name[5:].partition("__" if "__" in name[5:] else ".")
        return f"mcp.{server}.{leaf}" if leaf else f"builtin.{name}"
    if name in CORE_NAMES or name.startswith(("mcp.", "builtin.")):
        return name
    return f"builtin.{name}"


def text(value: Any) -> str | None:
    """Return a value that is text and not empty, else None."""
    return value if isinstance(value, str) and value else None


def kind_of(record: Mapping[str, Any]) -> str:
    """Return the `type` of a record; empty where it is no text."""
    kind = record.get("type")
    return kind if isinstance(kind, str) else ""


def table(value: Any) -> dict[str, Any]:
    """Return a value that is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a value that is a list, else none."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def arguments_of(value: Any) -> tuple[Mapping[str, Any], str | None, str | None]:
    """Return a call's arguments, the text as the model wrote it where that is no object, and the flag that says so.

    >>> arguments_of('{"a": 1}'), arguments_of("[1]"), arguments_of("")
    (({'a': 1}, None, None), ({}, '[1]', 'non_object_arguments'), ({}, None, None))
    """
    if isinstance(value, Mapping):
        return value, None, None
    if value is None or value == "":
        return {}, None, None
    if not isinstance(value, str):
        return {}, msgspec.json.encode(value).decode(), "non_object_arguments"
    try:
        inner = msgspec.json.decode(value)
    except (*UNREADABLE, UnicodeEncodeError):
        return {}, value, "invalid_json"
    return (inner, None, None) if isinstance(inner, dict) else ({}, value, "non_object_arguments")


def content_of(value: Any) -> Content:
    """Return a message's content: text, or parts with `{"type": "text", "text"}` for every part that is text."""
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        value = [value]
    if not isinstance(value, Sequence):
        return "" if value is None else msgspec.json.encode(value).decode()
    parts = tuple(_part(part) for part in value)
    if all(part.get("type") == "text" for part in parts):
        return "\n".join(part["text"] for part in parts)
    return parts


def _part(part: Any) -> Mapping[str, Any]:
    if isinstance(part, Mapping):
        text = part.get("text")
        if isinstance(text, str) and part.get("type") in (None, "text", "input_text", "output_text"):
            return {"type": "text", "text": text}
        kind = part.get("type")
        return part if isinstance(kind, str) and kind != "text" else {**part, "type": "unknown"}
    return {"type": "text", "text": part if isinstance(part, str) else msgspec.json.encode(part).decode()}


def joined(pieces: Sequence[Content]) -> Content:
    """Return pieces of a message as one content."""
    pieces = [piece for piece in pieces if piece]
    if all(isinstance(piece, str) for piece in pieces):
        return "\n".join(pieces)  # type: ignore[arg-type]
    parts: list[Mapping[str, Any]] = []
    for piece in pieces:
        parts += [{"type": "text", "text": piece}] if isinstance(piece, str) else piece
    return tuple(parts)


def tokens(value: Any) -> int | None:
    """Return a count of tokens as a log writes it, or None where it is no number.

    >>> tokens(12), tokens(12.0), tokens("12"), tokens(float("nan")), tokens(True)
    (12, 12, 12, None, None)
    """
    if type(value) is int or value is None:
        return value
    if isinstance(value, bool):
        return None
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def usage_of(uncached: Any, written: Any, read: Any, completion: Any) -> Billed | None:
    """Return usage from counts that exclude each other, as Anthropic gives them; None where nothing is told."""
    uncached, written, read, completed = tokens(uncached), tokens(written), tokens(read), tokens(completion)
    if uncached is None and written is None and read is None:
        return None if completed is None else Billed(None, completed)
    return Billed((uncached or 0) + (written or 0) + (read or 0), completed, read, written)
