"""The rows of a catalog file: what is one tool in whatever holds it: lists, pages, request bodies, OpenAPI."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from toolkit.formats.catalogs.openapi import is_openapi, operations

_WRAPPERS = ("result", "tools", "functions", "function_declarations", "functionDeclarations", "body", "request")
_MORE = ("nextCursor", "next_cursor")


def rows_of(value: Any, space: str = "", server: str = "") -> Iterator[Any]:
    """Yield the rows of a JSON value: a row, a list, or a wrapper around one.

    Args:
        value: The value.
        space: The namespace that the rows stand in; it becomes part of their names.
        server: The server that listed them.
    """
    if isinstance(value, list):
        for item in value:
            yield from rows_of(item, space, server)
    elif not isinstance(value, Mapping):
        yield value
    elif is_openapi(value):
        yield from operations(value)
    elif (inner := _wrapped(value)) is not None:
        named = str(value.get("name") or "") if value.get("type") == "namespace" else ""
        yield from rows_of(inner, named or space, str(value.get("server") or value.get("server_label") or server))
    elif servers := _by_server(value):
        for name, listed in servers.items():
            yield from rows_of(listed, space, name)
    elif not _is_no_row(value):
        yield _row(value, space, server)


def _wrapped(value: Mapping[str, Any]) -> Any:
    if "name" in value and value.get("type") != "namespace":
        return None
    return next((value[key] for key in _WRAPPERS if isinstance(value.get(key), list | Mapping)), None)


def _by_server(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the lists of several servers, by their names; nothing where a value is none."""
    listed = all(isinstance(one, Mapping) and isinstance(one.get("tools"), list) for one in value.values())
    return value if value and listed else {}


def _is_no_row(value: Mapping[str, Any]) -> bool:
    """Whether an object is a message of the protocol, or a server that lists its tools elsewhere."""
    return ("jsonrpc" in value and "name" not in value) or value.get("type") == "mcp"


def _row(value: Mapping[str, Any], space: str, server: str) -> dict[str, Any]:
    inner: Mapping[str, Any]
    inner = next((value[key] for key in ("function", "toolSpec", "custom") if isinstance(value.get(key), Mapping)), {})
    row = {**value, **inner}
    if isinstance(row.get("inputSchema"), Mapping) and isinstance(row["inputSchema"].get("json"), Mapping):
        row["inputSchema"] = row["inputSchema"]["json"]
    if "name" not in row and isinstance(row.get("type"), str):
        row |= {"name": row["type"], "input_schema": {}}
    if space and isinstance(row.get("name"), str):
        row["name"] = f"{space}.{row['name']}"
    return {**row, **({"server": server} if server and not row.get("server") else {})}


def cursor_of(value: Any) -> str | None:
    """Return the cursor of the page that follows a `tools/list` result; None on the last page and elsewhere."""
    page = value.get("result", value) if isinstance(value, Mapping) else None
    if not isinstance(page, Mapping) or not isinstance(page.get("tools"), list):
        return None
    return next((str(page[key]) for key in _MORE if page.get(key)), None)


def is_page(value: Any) -> bool:
    """Whether a JSON value is a page of a `tools/list` result."""
    page = value.get("result", value) if isinstance(value, Mapping) else None
    return isinstance(page, Mapping) and isinstance(page.get("tools"), list)
