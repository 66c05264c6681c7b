"""`toolkit rank-eval`: how well retrievers rank on queries with known right tools."""

from __future__ import annotations

import json as jsonlib
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from toolkit.commands.options import Force
from toolkit.commands.output import check_file, print_json, print_table, tell_problems

NAME = "rank-eval"


def command(
    catalog: Annotated[list[Path], typer.Option(help="A catalog file. Repeatable.")],
    queries: Annotated[Path, typer.Option(help="JSONL with query and gold (ids of the catalog) a line.")],
    retriever: Annotated[
        Optional[list[str]], typer.Option(help="lexical, dense, hybrid, pkg.mod:Name. Repeat to compare.")
    ] = None,
    sample: Annotated[Optional[int], typer.Option(min=1, help="Draw so many queries without replacement.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the sample, the intervals and the tests.")] = 0,
    per_query: Annotated[Optional[Path], typer.Option(help="Write one row a query and retriever, JSONL.")] = None,
    bare: Annotated[
        bool, typer.Option("--bare", help="Ask the retriever alone, without what tools.search adds.")
    ] = False,
    force: Force = False,
    json: Annotated[bool, typer.Option("--json", help="Print a list of rows as JSON instead of a table.")] = False,
) -> None:
    """Rank queries whose right tools are known, as tools.search does: recall, nDCG@10 with its interval, MRR, latency.

    Where a retriever tells chances: their Brier score and calibration error (ece), over the best ten of each query.

    Several retrievers are compared pair by pair on the same queries, with Holm's correction.

    Example: toolkit rank-eval --catalog datasets/mcp-servers/tools.jsonl --queries datasets/mcp-servers/queries.jsonl
    """
    from toolkit.experiment.ranking.rank_eval import check_gold, compared, read_queries, runs
    from toolkit.formats.catalogs.load import load_catalog
    from toolkit.search import default_retriever

    if per_query is not None:
        check_file(per_query, b'"retriever"', force)
    tools = load_catalog(*catalog, homonyms=True)
    tell_problems(tools.problems)
    asked = read_queries(queries)
    tell_problems(check_gold(tools, asked, queries))
    done = runs(tools, asked, retriever or ["lexical", default_retriever()], sample, seed, bare)
    rows = [run.row(seed) for run in done]
    if per_query is not None:
        lines = (jsonlib.dumps(row, ensure_ascii=False) for run in done for row in run.per_query())
        per_query.write_text("\n".join(lines) + "\n", "utf-8")
    if json:
        print_json(rows)
        return
    print_table(list(rows[0]), [[_shown(value) for value in row.values()] for row in rows])
    for test in compared(done, seed):
        typer.echo(f"{test['a']} less {test['b']}: nDCG@10 {test['difference']:+.4f}, p (Holm) {test['p_holm']:.4f}")


def _shown(value: Any) -> Any:
    if isinstance(value, float):
        return f"{value:.4f}" if value == value else "–"
    return value
