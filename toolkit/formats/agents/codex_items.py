"""The items that Codex writes down of a conversation: what is model-made, what a user said, which tools are named."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.errors import InputError
from toolkit.formats.pieces import content_of, folded, kind_of
from toolkit.session import Content
from toolkit.tool import Tool

HOSTED = frozenset(("web_search_call", "image_generation_call", "code_interpreter_call", "file_search_call"))
"""Calls that the provider runs: they have no id and no output."""
CALLS = frozenset(
    ("function_call", "custom_tool_call", "local_shell_call", "tool_search_call", "mcp_call", "computer_call", *HOSTED)
)
OUTPUTS = frozenset(
    (
        *("function_call_output", "custom_tool_call_output", "local_shell_call_output", "tool_search_output"),
        *("computer_call_output", "mcp_tool_call_output"),
    )
)
SILENT = frozenset(
    ("agent_message", "ghost_snapshot", "compaction", "compaction_summary", "context_compaction", "other")
)
"""Items that are neither said, called nor answered."""
_INJECTED = (
    *("<environment_context", "<user_instructions", "<permissions", "<turn_aborted", "<INSTRUCTIONS", "# AGENTS.md"),
    *("<collaboration_mode", "<skill", "<subagent_notification", "<user_action", "<personality", "<apps_instructions"),
    *("<system-reminder", "<user_shell_command", "<app-context", "<codex_", "Another language model started to solve"),
)


def is_injected(content: Content) -> bool:
    """Say whether a user item is what the host put in: surroundings, instructions, notices."""
    text = content if isinstance(content, str) else "\n".join(str(part.get("text") or "") for part in content)
    return text.lstrip().startswith(_INJECTED)


def called(item: Mapping[str, Any]) -> str:
    """Return the name of a call as the host has it: `namespace.name`, or the kind of a call that has no name."""
    name, space = item.get("name"), item.get("namespace")
    if not isinstance(name, str) or not name:
        return str(kind_of(item)).removesuffix("_call")
    return f"{space}.{name}" if isinstance(space, str) and space else name


def arguments(item: Mapping[str, Any]) -> Any:
    """Return what a call was given, wherever its kind keeps that."""
    return next((item[key] for key in ("arguments", "input", "action") if item.get(key) is not None), None)


def output_of(item: Mapping[str, Any]) -> tuple[Content | None, bool]:
    """Return an output's content, and whether it says that it failed."""
    output = item.get("output")
    if isinstance(output, dict) and ("content" in output or "success" in output):
        return content_of(output.get("content")), output.get("success") is False
    if output is None:
        output = item.get("result")
    return (None if output is None else content_of(output)), False


def tools_of(rows: Any, space: str = "", deferred: bool = False) -> Iterator[Tool]:
    """Yield the tools of a list, a group, or a single definition; a group's name stands before its tools' names."""
    for row in rows if isinstance(rows, list) else [rows]:
        if not isinstance(row, dict):
            continue
        name = row.get("name") if isinstance(row.get("name"), str) else ""
        if isinstance(row.get("tools"), list):
            yield from tools_of(row["tools"], f"{space}{name}." if kind_of(row) != "dynamic" else space, deferred)
        elif name:
            yield _tool(
                row, f"{row['namespace']}.{name}" if isinstance(row.get("namespace"), str) else space + name, deferred
            )


def _tool(row: Mapping[str, Any], name: str, deferred: bool) -> Tool:
    schema = next((row[key] for key in ("parameters", "inputSchema", "input_schema") if row.get(key) is not None), None)
    said = row.get("description") if isinstance(row.get("description"), str) else ""
    later = deferred or bool(row.get("deferLoading") or row.get("defer_loading"))
    try:
        return Tool(folded(name), said, schema, deferred=later)
    except InputError:
        return Tool(folded(name), said, deferred=later)
