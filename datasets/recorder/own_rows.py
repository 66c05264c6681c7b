"""Catalog rows of the agent's own tools, made from `own_tools.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

TODO_ITEM = {
    "type": "object",
    "properties": {"text": {"type": "string"}, "state": {"type": "string", "enum": ["open", "doing", "done"]}},
    "required": ["text", "state"],
}
READ_ONLY = ("read_file", "list_dir", "find_files", "search_text", "diff_files")


def own_rows(path: Path) -> list[dict[str, Any]]:
    """Return one catalog row for each own tool, in the order of the file."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return [_row(name, table) for name, table in tables.items()]


def _row(name: str, table: dict[str, Any]) -> dict[str, Any]:
    parameters = {key: value for key, value in table.items() if key != "about"}
    schema: dict[str, Any] = {"type": "object", "properties": {k: _property(*v) for k, v in parameters.items()}}
    schema["required"] = [key for key, value in parameters.items() if len(value) == 2]
    schema["additionalProperties"] = False
    row = {"id": name.replace(".", "::", 1), "name": name, "description": table["about"], "input_schema": schema}
    return {**row, "annotations": {"readOnlyHint": True}} if name.rpartition(".")[2] in READ_ONLY else row


def _property(kind: str, text: str, default: Any = "none") -> dict[str, Any]:
    schema: dict[str, Any] = {"type": kind, "description": text}
    if kind == "array":
        schema["items"] = TODO_ITEM
    return schema if default == "none" else {**schema, "default": default}
