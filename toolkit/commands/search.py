"""`toolkit search`: what `tools.search` would answer over a catalog, and why."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from toolkit.commands.output import print_json, print_table, tell_problems
from toolkit.errors import counted

if TYPE_CHECKING:
    from toolkit.search import ToolSearch
    from toolkit.tool import Tool

NAME = "search"
_MEANINGS = {
    "semantic_unavailable": "ranked by words alone, since no encoder could be had; see toolkit doctor",
    "non_finite_vector": "what the encoder gave no finite vector for is ranked by words alone",
}


def command(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    catalog: Annotated[list[Path], typer.Option(help="A catalog file. Repeatable.")],
    retriever: Annotated[Optional[str], typer.Option(help="lexical, dense, hybrid, regex, pkg.mod:Name.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many tools.")] = 5,
    regex: Annotated[bool, typer.Option("--regex", help="The query is a regular expression.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="Say why: term, field and score of each tool.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Print what tools.search would answer to a query, best first.

    Example: toolkit search "close an issue" --catalog datasets/mcp-servers/tools.jsonl --explain
    """
    from toolkit.formats.catalogs.load import load_catalog
    from toolkit.search.shared import tool_search

    spec = _spec(retriever, regex)
    if not query.strip():
        raise typer.BadParameter("the query is blank: say in some words what the tool should do.")
    tools = load_catalog(*catalog)
    tell_problems(tools.problems)
    search = tool_search(spec)
    answer = search(query, tools.tools, (), limit)
    rows = [_row(rank, score, tools[name]) for rank, (name, score) in enumerate(answer.hits, 1)]
    for row in rows if explain else ():
        row["why"] = _reasons(search, query, row["name"], tools.tools)
    _tell(getattr(search, "notices", ()))
    if json:
        print_json(rows)
        return
    _print(rows)
    words = () if spec == "regex" else answer.unmatched_words
    if answer.poor:
        typer.echo(f"\nNo tool fits well: the best is a right one with a chance of {answer.hits[0][1]:.2f}.")
    unmatched = f"; no tool holds: {', '.join(words)}" if words else ""
    typer.echo(f"\n{answer.matched} of {counted(len(tools), 'tool')} match{unmatched}.")


def _spec(retriever: str | None, regex: bool) -> str | None:
    if regex and retriever not in (None, "regex"):
        raise typer.BadParameter(f"--regex is a retriever of its own: leave out --retriever {retriever}.")
    return "regex" if regex else retriever


def _row(rank: int, score: float, tool: Tool) -> dict[str, Any]:
    told = {"rank": rank, "score": round(score, 4), "name": tool.name}
    return {**told, "id": tool.id, "description": tool.description}


def _reasons(search: ToolSearch, query: str, name: str, tools: Sequence[Tool]) -> list[dict[str, Any]]:
    found = search.explain(query, name, tools) if hasattr(search, "explain") else ()
    return [{"term": one.term, "field": one.field, "score": round(one.score, 4)} for one in found]


def _print(rows: Sequence[dict[str, Any]]) -> None:
    headings = ("rank", "score", "name", "description")
    print_table(headings, [(*map(row.get, headings[:3]), " ".join(row["description"].split())[:70]) for row in rows])
    found = [(row["name"], *one.values()) for row in rows for one in row.get("why", ())]
    if found:
        typer.echo()
        print_table(("name", "term", "field", "score"), found)


def _tell(notices: Iterable[str]) -> None:
    for notice in notices:
        meaning = _MEANINGS.get(notice, "")
        sys.stderr.write(f"notice: {notice}{': ' if meaning else ''}{meaning}\n")
