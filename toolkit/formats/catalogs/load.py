"""Catalog files: JSONL of tools, pages of MCP servers, tool arrays and requests of the APIs, OpenAPI documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolkit.errors import InputError, need
from toolkit.formats.catalogs.rows import cursor_of, is_page, rows_of
from toolkit.formats.files import Problem, lines_of, records
from toolkit.tool import CORE_NAMES, Catalog, Tool


class LoadedCatalog(Catalog):
    """A catalog read from files, with what could not be read."""

    problems: tuple[Problem, ...] = ()


def load_catalog(*paths: str | Path, homonyms: bool = False) -> LoadedCatalog:
    """Read catalog files into one catalog; of two rows with one name the first stays.

    Args:
        paths: The files.
        homonyms: Keep a second tool of one name, under a name of its own, where it has another id: for
            ranking, where ids count.

    Raises:
        InputError: A file does not exist, or holds no tool at all.
    """
    problems: list[Problem] = []
    tools: list[Tool] = []
    for path in map(Path, paths):
        if not path.is_file():
            raise InputError(f"{path} is no file.", hint="Expected a catalog: JSONL with one tool a line.")
        before = len(tools)
        tools += _read(path, problems)
        if len(tools) == before:
            why = f" {problems[-1].message}" if problems else ""
            raise InputError(f"{path} holds no tool{why}.", hint="Expected name, description, input_schema a row.")
    catalog = LoadedCatalog(_told_apart(tools, problems) if homonyms else tools)
    problems += [
        Problem("", 0, "duplicate_name", f"{t.name!r} is listed twice; the first stays.") for t in catalog.dropped
    ]
    catalog.problems = tuple(problems)
    return catalog


def _told_apart(tools: Iterable[Tool], problems: list[Problem]) -> Iterator[Tool]:
    """Yield the tools; one whose name was taken under another id has `#` after its name, which is no word to search."""
    taken: dict[str, str] = {}
    for tool in tools:
        name = tool.name
        while taken.get(name, tool.id) != tool.id:
            name += "#"
        if name != tool.name:
            problems.append(Problem("", 0, "name_taken", f"{tool.name!r} came before; this one is ranked as {name!r}."))
        taken[name] = tool.id
        yield tool if name == tool.name else tool.renamed(name)


def _read(path: Path, problems: list[Problem]) -> Iterator[Tool]:
    open_page = False
    for line, value in _values(path, problems):
        open_page = cursor_of(value) is not None if is_page(value) else open_page
        for row in rows_of(value):
            try:
                yield read_tool(row)
            except InputError as error:
                problems.append(Problem(str(path), line, "bad_tool", f"this is no tool: {error}"))
    if open_page:
        problems.append(Problem(str(path), 0, "incomplete_list", "the last page names a next one, which is not here."))


def _values(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    if path.name.endswith((".yaml", ".yml")):
        yield from _yaml(path, problems)
        return
    for record in records(path, problems):
        try:
            yield record.line, msgspec.json.decode(record.data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            problems.append(Problem(record.path, record.line, "bad_tool", f"this is no JSON in UTF-8: {error}"))


def _yaml(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Any]]:
    need("yaml")
    import yaml

    try:
        yield 1, yaml.safe_load(b"\n".join(lines_of(path, problems)))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problems.append(Problem(str(path), 1, "bad_tool", f"this is no YAML: {' '.join(str(error).split())[:200]}"))


def read_tool(row: Any) -> Tool:
    """Return the tool of one row, under the engine's name for it.

    With `server` the name is `mcp.<server>.<name>`; with neither `server` nor `source` it is
    `builtin.<name>`, unless the name already begins so.
    """
    if not isinstance(row, dict):
        raise InputError(f"an object was expected, {type(row).__name__} came.")
    name = row.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("a tool needs a name that is text.")
    schema = next((row[key] for key in ("input_schema", "inputSchema", "parameters") if row.get(key) is not None), None)
    return Tool(
        _full_name(name, row.get("server"), row.get("source")),
        row.get("description"),
        schema,
        source=_source(row),
        deferred=bool(row.get("deferred") or row.get("defer_loading")),
        annotations=row.get("annotations"),
        id=str(row.get("id") or name),
    )


def _source(row: Mapping[str, Any]) -> str | None:
    if row.get("source"):
        return str(row["source"])
    return f"mcp:{row['server']}" if row.get("server") else None


def _full_name(name: str, server: Any, source: Any) -> str:
    if server:
        prefix = f"mcp.{server}."
        return name if name.startswith(prefix) else prefix + name
    if source or name in CORE_NAMES or name.startswith(("builtin.", "mcp.")):
        return name
    return f"builtin.{name}"
