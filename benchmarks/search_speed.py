"""How fast search is and how much memory it takes, each row in a fresh process; Markdown.

    python benchmarks/search_speed.py --data ../shared/data

CPU times of one thread. bm25s is measured beside `lexical` where it is installed; rows with MiniLM need the extra
`embed` and embed the tools first where their vectors are not at hand. Queries are new: none has a vector on disk.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from search import bm25s, load_tools

from toolkit.experiment.ranking.rank_eval import read_queries
from toolkit.search import default_retriever, retriever
from toolkit.search.encoders.encoder import Identity
from toolkit.search.encoders.models import available
from toolkit.search.terms.clauses import clauses
from toolkit.store import cache_folder
from toolkit.tool import Tool

SIZES = (355, 4_076, 10_000, 50_000)
RUNS, QUERIES, WARM = 3, 200, 5
MEMORY = """
import resource, sys
from toolkit import load_catalog
from toolkit.search import retriever
index = retriever(sys.argv[1])(load_catalog(sys.argv[2]).tools)
for query in ("book a cheap hotel", "what is the weather in Rome", "tell me the price of gold"):
    index.rank(query)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


class Directions:
    """An encoder without a model: each text has a direction of its own, of MiniLM's size."""

    def __init__(self, name: str) -> None:
        self.identity = Identity(name, name)

    def encode(self, texts: Sequence[str]) -> Any:
        return np.random.default_rng(len(texts)).standard_normal((len(texts), 384), dtype=np.float32)


def many(data: Path, size: int) -> list[Tool]:
    """Return tools of seal-tools and toolret-subsets; where these are too few, again under other names."""
    base = {tool.name: tool for name in ("seal-tools", "toolret-subsets") for tool in load_tools(_tools(data, name))}
    pool = list(base.values())
    return [pool[i % len(pool)].renamed(f"{pool[i % len(pool)].name}{i // len(pool) or ''}") for i in range(size)]


def _tools(data: Path, name: str) -> Path:
    return data / name / "tools.jsonl"


def asked(data: Path, name: str, most: int = QUERIES) -> list[str]:
    """Return the first clause of each query of a set."""
    texts = (query.text for query in read_queries(data / name / "queries.jsonl"))
    return list(islice(((*clauses(text), text)[0] for text in texts), most))


def by_size(data: Path, name: str, size: str) -> dict[str, float]:
    """Return a retriever's index time, and its latency on queries of seal-tools."""
    tools, build = many(data, int(size)), bm25s if name == "bm25s" else retriever(name)
    gc.collect()
    began = time.process_time()
    index = build(tools)
    spent = time.process_time() - began
    took = list(_each(time.perf_counter, index.rank, asked(data, "seal-tools")))[WARM:]
    return {"index": spent, "p50": 1000 * float(np.median(took)), "p95": 1000 * float(np.percentile(took, 95))}


def new_query(data: Path, spec: str, name: str) -> dict[str, float]:
    """Return the CPU time of a one-clause query whose vector is not at hand."""
    index = retriever(spec)(load_tools(_tools(data, name)))
    took = list(_each(time.process_time, index.rank, asked(data, name, 80)))[WARM:]
    return {"ms": 1000 * float(np.median(took))}


def scoring(data: Path, size: str) -> dict[str, float]:
    """Return the CPU time of dense scores of a known query, and of its best ten."""
    from toolkit.search.retrievers.dense import Dense

    dense = Dense([Tool(f"t{i}") for i in range(int(size))], Directions("scoring"))
    scored = min(_each(time.process_time, lambda query: dense.similarities([query]), ["q"] * 20))
    return {"ms": 1000 * scored, "best": 1000 * min(_each(time.process_time, dense.rank, ["q"] * 20))}


def indexed(data: Path, size: str) -> dict[str, float]:
    """Return the CPU time of a dense index over real tools; the second process finds their vectors on disk."""
    from toolkit.search.retrievers.dense import Dense

    tools, encoder = many(data, int(size)), Directions("indexed")
    return {"s": next(_each(time.process_time, lambda tools: Dense(tools, encoder), [tools]))}


def encoding(data: Path, size: str) -> dict[str, float]:
    """Return the CPU time of MiniLM's own `encode` and of ours over the texts of tools, and their furthest numbers."""
    from toolkit.search.encoders.models import load_sentence_transformer, minilm_folder
    from toolkit.search.encoders.packed import packed
    from toolkit.search.encoders.views import views

    tools = random.Random(0).sample(load_tools(_tools(data, "toolret-subsets")), int(size))
    texts = list(dict.fromkeys(text for tool in tools for text in views(tool)))
    model = load_sentence_transformer(str(minilm_folder()))
    found: list[Any] = []
    ways = (model.encode, packed(model))
    plain, ours = _each(time.process_time, lambda encode: found.append(encode(texts)), ways)
    return {"plain": plain, "ours": ours, "apart": float(np.abs(found[0] - found[1]).max())}


def _each(clock: Callable[[], float], act: Callable[[Any], Any], given: Sequence[Any]) -> Iterator[float]:
    for one in given:
        began = clock()
        act(one)
        yield clock() - began


PARTS = {part.__name__: part for part in (by_size, new_query, scoring, indexed, encoding)}


def fresh(data: Path, folder: Path, *part: str, runs: int = RUNS) -> dict[str, float]:
    """Return the least of each number over runs of a part, each in a process of its own."""
    command = [sys.executable, __file__, "--data", str(data), "--part", *part]
    environment = {**os.environ, "TOOLKIT_CACHE": str(folder)}
    found = [json.loads(subprocess.check_output(command, env=environment)) for _ in range(runs)]
    return {key: min(one[key] for one in found) for key in found[0]}


def sizes(data: Path, folder: Path) -> Iterator[str]:
    """Yield the table of index time and latency by catalog size."""
    yield "| tools | retriever | index CPU s | p50 ms | p95 ms |\n| --- | --- | --- | --- | --- |"
    for size in SIZES:
        for name in ("lexical", *(["bm25s"] if find_spec("bm25s") else [])):
            row = fresh(data, folder, "by_size", name, str(size))
            yield f"| {size:,} | {name} | {row['index']:.2f} | {row['p50']:.3f} | {row['p95']:.3f} |"


def numbers(data: Path, folder: Path) -> Iterator[str]:
    """Yield the table of single numbers."""
    yield "\n| what | number |\n| --- | --- |"
    row = fresh(data, folder, "scoring", "100000")
    yield f"| dense scores at 100,000 tools; with its best ten | {row['ms']:.1f} ms; {row['best']:.1f} ms |"
    fresh(data, folder, "indexed", "10000", runs=1)
    yield f"| dense index of 10,000 tools, vectors on disk | {fresh(data, folder, 'indexed', '10000')['s']:.3f} CPU s |"
    if available("minilm"):
        row = fresh(data, folder, "encoding", "500", runs=1)
        yield f"| MiniLM over 500 tools: plain `encode`; packed | {row['plain']:.1f}; {row['ours']:.1f} CPU s |"
    for spec in _hybrids():
        for name in ("livemcpbench", "toolret-subsets"):
            took = [
                fresh(data, _queryless(folder, f"{spec}{name}{i}"), "new_query", spec, name, runs=1)["ms"]
                for i in range(RUNS)
            ]
            yield f"| {spec}, a new one-clause query, {name} | {min(took):.1f} CPU ms |"
    for spec in ("lexical", *_hybrids()):
        peak = memory(data, _queryless(folder, f"{spec}memory"), spec)
        yield f"| {spec}, peak memory at 4,076 tools | {peak:.0f} MB |"


def memory(data: Path, folder: Path, spec: str) -> float:
    """Return the peak memory of a process that loads seal-tools, indexes it and answers three new queries, in MB."""
    command = [sys.executable, "-c", MEMORY, spec, str(_tools(data, "seal-tools"))]
    return float(subprocess.check_output(command, env={**os.environ, "TOOLKIT_CACHE": str(folder)}))


def _hybrids() -> list[str]:
    light = ["hybrid('multilingual')"] if available("multilingual") else []
    return [*light, "hybrid"] if default_retriever() == "hybrid" else light


def _queryless(folder: Path, name: str) -> Path:
    """Return a cache folder with the user's vectors of tools and none of queries."""
    made = folder / "".join(filter(str.isalnum, name))
    made.mkdir()
    (cache_folder() / "vectors").mkdir(parents=True, exist_ok=True)
    (made / "vectors").symlink_to((cache_folder() / "vectors").absolute(), target_is_directory=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(__file__).resolve().parents[2] / "shared" / "data")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        sys.stdout.write(json.dumps(PARTS[given.part[0]](given.data, *given.part[1:])))
        return
    with tempfile.TemporaryDirectory() as folder:
        for table in (sizes, numbers):
            for line in table(given.data, Path(folder)):
                sys.stdout.write(f"{line}\n")
                sys.stdout.flush()


if __name__ == "__main__":
    main()
