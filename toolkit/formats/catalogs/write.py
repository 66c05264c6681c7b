"""Writing a catalog file: JSONL of tools in canonical order, all or nothing."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from toolkit.errors import InputError
from toolkit.store import write_whole
from toolkit.tool import Tool, canonical_order, compact_json


def check_catalog_path(path: str | Path) -> Path:
    """Return the path when a catalog can be written there.

    Raises:
        InputError: It does not end in `.jsonl`, or its folder does not exist.
    """
    path = Path(path)
    if path.suffix != ".jsonl" or path.is_dir():
        raise InputError(f"{path} is no name for a catalog.", hint="Expected a file that ends in .jsonl.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} does not exist.", hint="Make it first.")
    return path


def write_catalog(tools: Iterable[Tool], path: str | Path) -> None:
    """Write tools that `load_catalog` reads back as they are; the file is complete or untouched.

    Raises:
        InputError: The path is no place for a catalog, or cannot be written.
    """
    path = check_catalog_path(path)
    lines = (compact_json(row_of(tool)) + "\n" for tool in sorted(tools, key=canonical_order))
    try:
        write_whole(path, "".join(lines).encode("utf-8", "replace"))
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.") from error


def row_of(tool: Tool) -> dict[str, Any]:
    """Return the row of a catalog file for one tool; the schema keeps its key order (`docs/semantics.md` B6).

    >>> row_of(Tool("mcp.git.log", "Shows commits.", {"type": "object"}))["server"]
    'git'
    """
    short = tool.leaf if tool.server and not tool.leaf.startswith(f"mcp.{tool.server}.") else tool.name
    place = {"server": tool.server} if tool.server else {"source": tool.source}
    row = {"id": tool.id, "name": short, "description": tool.description, "input_schema": _schema(tool), **place}
    flags = {"deferred": tool.deferred, "annotations": tool.annotations}
    return {**row, **{key: value for key, value in flags.items() if value}}


def _schema(tool: Tool) -> Any:
    return msgspec.json.decode(tool.schema_text) if tool.schema_text else None
