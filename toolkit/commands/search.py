"""`toolkit search`: what `tools.search` would answer over a catalog."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from toolkit.commands.output import print_json, print_table, tell_problems

NAME = "search"


def command(
    query: Annotated[str, typer.Argument(help="What to search for.")],
    catalog: Annotated[list[Path], typer.Option(help="A catalog file. Repeatable.")],
    retriever: Annotated[Optional[str], typer.Option(help="lexical, dense, hybrid, pkg.mod:Name.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most so many tools.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Print what tools.search would answer to a query, best first.

    Example: toolkit search "close an issue" --catalog datasets/mcp-servers/tools.jsonl
    """
    from toolkit.engine import ports
    from toolkit.formats.catalogs import load_catalog

    tools = load_catalog(*catalog)
    tell_problems(tools.problems)
    answer = ports.resolve("searcher", retriever)(query, tools.tools, (), limit)
    rows = [
        {
            "rank": rank,
            "score": round(score, 4),
            "name": name,
            "id": tools[name].id,
            "description": tools[name].description,
        }
        for rank, (name, score) in enumerate(answer.hits, 1)
    ]
    if json:
        print_json(rows)
        return
    print_table(
        ("rank", "score", "name", "description"),
        [(row["rank"], row["score"], row["name"], " ".join(str(row["description"]).split())[:70]) for row in rows],
    )
    unmatched = f"; no tool holds: {', '.join(answer.unmatched_words)}" if answer.unmatched_words else ""
    typer.echo(f"\n{answer.matched} of {len(tools)} tools match{unmatched}.")
