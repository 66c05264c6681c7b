"""How close modelled queries come to recorded ones: recall of what a model then ran, form, and rates of searching.

    python benchmarks/queries.py --data ../shared/data

Over livemcpbench's recorded searches, with the words that the model had said and read by then. Gold are the tools that
it ran before its next search: only what the recorded search had shown could be run, so gold favours the recorded
queries and the recorded host's retriever. A difference to them is what counts here, never a recall by itself. Words of
`short_phrase` are chosen on every other session; the tables are of the rest.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median, quantiles
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from toolkit import load_catalog, load_sessions
from toolkit.experiment.stats import ratio_interval
from toolkit.replaying.prepared import is_search, query_of
from toolkit.replaying.query_models import Seen, asked, query_model
from toolkit.search import retriever
from toolkit.search.ranking import Retriever
from toolkit.session import Call, Session

RETRIEVERS = ("lexical", "hybrid")
MODELS = ("recorded", "own_words", "short_phrase", "turn_input", "last_words+input", "optimistic")
LENGTHS = (3, 6, 9, 12, 16, 24)
DEPTHS = (5, 10)


@dataclass(frozen=True)
class Case:
    """A recorded search: what the model had seen, what it says in the pass that then calls, and what it runs there."""

    session: str
    seen: Seen
    calling: str
    gold: frozenset[str]


def actions(session: Session) -> Iterator[tuple[str, str, str, Call]]:
    """Yield the calls of a session in order, each with the turn's input, the words beside it and those before."""
    for turn in session.turns:
        last = ""
        for one in turn.passes:
            for call in one.calls:
                yield turn.words, one.words, last, call
            last = one.words or last


def cases(session: Session, known: frozenset[str]) -> Iterator[Case]:
    """Yield the searches of a session after which one of the known tools was run."""
    rows = list(actions(session))
    for number, (given, words, last, call) in enumerate(rows):
        if not is_search(call):
            continue
        after = [row for row in rows[number + 1 :] if row[0] == given]
        end = next((n for n, row in enumerate(after) if is_search(row[3])), len(after))
        ran = [row for row in after[:end] if row[3].name in known]
        if ran:
            seen = Seen(words, given, last, ran[0][3].name, (query_of(call),))
            yield Case(session.id, seen, ran[0][1], frozenset(row[3].name for row in ran))


Asks = Callable[[Case], str]


class Recall:
    """Recall of cases under retrievers, each query ranked once."""

    def __init__(self, ranks: dict[str, Retriever]) -> None:
        self.ranks = ranks
        self.first = cache(self._first)

    def _first(self, name: str, query: str) -> tuple[str, ...]:
        return tuple(hit for hit, _ in self.ranks[name].rank(query, None, DEPTHS[-1])) if query.strip() else ()

    def mean(self, name: str, ask: Asks, chosen: Sequence[Case], depth: int) -> float:
        return float(np.mean([self.of(name, ask(case), case.gold, depth) for case in chosen]))

    def of(self, name: str, query: str, gold: frozenset[str], depth: int) -> float:
        return len(gold.intersection(self.first(name, query)[:depth])) / len(gold)


def first_query(model: str) -> Asks:
    """Return what a query model asks first."""
    return lambda case: next(iter(asked(query_model(model), case.seen)[0]), "")


def while_calling(model: str) -> Asks:
    """Return what a query model asks first out of the words of the pass that calls: all that other recordings hold."""

    def ask(case: Case) -> str:
        seen = Seen(case.calling, case.seen.turn_input, case.seen.words)
        return next(iter(asked(query_model(model), seen)[0]), "")

    return ask


def table(recall: Recall, chosen: Sequence[Case], name: str, seed: int) -> list[str]:
    """Return the rows of one retriever: recall, and its difference to that of the recorded queries."""
    rows = {model: first_query(model) for model in MODELS}
    rows |= {f"{model}, words of the calling pass": while_calling(model) for model in ("own_words", "short_phrase")}
    head = "".join(f" recall@{depth} | less recorded |" for depth in DEPTHS)
    lines = [f"| {name} |{head}", "| --- |" + " --- | --- |" * len(DEPTHS)]
    for label, ask in rows.items():
        cells = [cell for depth in DEPTHS for cell in row_cells(recall, chosen, name, ask, depth, seed)]
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return lines


def row_cells(recall: Recall, chosen: Sequence[Case], name: str, ask: Asks, depth: int, seed: int) -> tuple[str, str]:
    mine = [recall.of(name, ask(case), case.gold, depth) for case in chosen]
    best = [recall.of(name, first_query("recorded")(case), case.gold, depth) for case in chosen]
    mean, low, high = by_session(chosen, mine, seed)
    gap, less, more = by_session(chosen, [a - b for a, b in zip(mine, best, strict=True)], seed)
    return f"{mean:.3f} [{low:.3f}, {high:.3f}]", f"{gap:+.3f} [{less:+.3f}, {more:+.3f}]"


def by_session(chosen: Sequence[Case], values: Sequence[float], seed: int) -> tuple[float, float, float]:
    """Return the mean over cases and its interval over sessions."""
    sums: dict[str, float] = {}
    for case, value in zip(chosen, values, strict=True):
        sums[case.session] = sums.get(case.session, 0.0) + value
    times = Counter(case.session for case in chosen)
    return ratio_interval([sums[one] for one in times], list(times.values()), seed)


def calibration(recall: Recall, chosen: Sequence[Case]) -> list[str]:
    """Return how far each length of `short_phrase` is from the recorded recall, over retrievers and depths."""
    places = [(name, depth) for name in RETRIEVERS for depth in DEPTHS]
    lines = ["| words | mean distance to the recorded recall |", "| --- | --- |"]
    for words in LENGTHS:
        mine, best = first_query(f"short_phrase(words={words})"), first_query("recorded")
        gaps = [
            abs(recall.mean(name, mine, chosen, depth) - recall.mean(name, best, chosen, depth))
            for name, depth in places
        ]
        lines.append(f"| {words} | {np.mean(gaps):.3f} |")
    return lines


def form(label: str, texts: Iterable[str]) -> str:
    """Return a row on how long texts are, in words."""
    lengths = sorted(len(re.findall(r"[^\W_]+", text)) for text in texts)
    tenths = quantiles(lengths, n=10)
    return f"| {label} | {len(lengths)} | {median(lengths):.0f} | {tenths[0]:.0f} to {tenths[-1]:.0f} | {lengths[-1]} |"


def part(query: str, name: str) -> str:
    """Return a line of livemcpbench's two-line query form."""
    found = re.search(rf"{name}:(.*)", query)
    return found.group(1) if found else ""


def hosted(path: Path) -> list[tuple[str, ...]]:
    """Return the distinct searches of the hosts' own recordings, each the queries that it holds."""
    rows = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    found = {(row["file"], json.dumps(search)): search for row in rows for search in row["searches"]}
    asked_for = {(file, queries_of(search)): None for (file, _), search in found.items()}
    return [queries for _, queries in asked_for if queries]


def queries_of(search: dict[str, Any]) -> tuple[str, ...]:
    given = search.get("arguments") or search.get("input") or {}
    held: Any = next((given[key] for key in ("queries", "paths", "query", "keywords", "pattern") if key in given), ())
    return (held,) if isinstance(held, str) else tuple(held)


def rates(sessions: Iterable[Session]) -> Counter[str]:
    """Return what followed each search, and how tools of older searches were called."""
    seen: Counter[str] = Counter()
    for session in sessions:
        calls = [call for *_, call in actions(session)]
        known: set[str] = set()
        for number, call in enumerate(calls):
            if not is_search(call):
                seen["calls"] += 1
                seen["calls of a tool that no search had answered"] += call.name not in known
                continue
            returned = set(call.result.returned) if call.result else set()
            after = calls[number + 1 :]
            ran = after[: next((n for n, one in enumerate(after) if is_search(one)), len(after))]
            seen["searches"] += 1
            used = {one.name for one in ran}
            if not used & returned:
                seen[f"not used, then {'a call' if ran else 'another search' if after else 'the end'}"] += 1
            seen["tools of older searches called directly"] += sum(one.name in known - returned for one in ran)
            seen["tools of older searches searched for again"] += bool(ran and ran[0].name in known & returned)
            known |= returned
    return seen


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="folder with livemcpbench and billed-usage")
    options.add_argument("--seed", type=int, default=0, help="of the bootstrap over sessions")
    chosen = options.parse_args()
    if chosen.data is None:
        sys.stdout.write("left out: livemcpbench and billed-usage, which --data names the folder of\n")
        return 0
    sys.stdout.write("\n".join(report(chosen.data, chosen.seed)) + "\n")
    return 0


def report(data: Path, seed: int) -> Iterator[str]:
    sessions = load_sessions(data / "livemcpbench/sessions.atif.jsonl.gz")
    searchers = {call.name for session in sessions for call in session.calls() if is_search(call)}
    tools = [tool for tool in load_catalog(data / "livemcpbench/tools.jsonl") if tool.name not in searchers]
    known = frozenset(tool.name for tool in tools)
    recall = Recall({name: retriever(name)(tools) for name in RETRIEVERS})
    tuned, held = ([case for one in list(sessions)[n::2] for case in cases(one, known)] for n in (0, 1))
    yield f"{len(tools)} tools; chosen on {len(tuned)} searches of one half of the sessions, reported on {len(held)}.\n"
    yield from (*calibration(recall, tuned), "")
    for name in RETRIEVERS:
        yield from (*table(recall, held, name, seed), "")
    yield from forms(sessions, held, hosted(data / "billed-usage/toolsearch.jsonl.gz"))
    yield from ("", *(f"- {what}: {times}" for what, times in sorted(rates(sessions).items())))


def forms(sessions: Iterable[Session], held: Sequence[Case], hosts: Sequence[tuple[str, ...]]) -> Iterator[str]:
    raw: list[Any] = [call.arguments.get("query") or "" for one in sessions for call in one.calls() if is_search(call)]
    yield from ("| form | n | words | eight in ten | most |", "| --- | --- | --- | --- | --- |")
    for name in ("server", "tool"):
        yield form(f"livemcpbench, its {name} line", (part(query, name) for query in raw))
    yield form("OpenAI's and Anthropic's hosts", (query for queries in hosts for query in queries))
    for model in ("short_phrase", "own_words"):
        yield form(model, map(first_query(model), held))
    several = sum(len(queries) > 1 for queries in hosts)
    yield f"\n{len(hosts)} searches of the hosts, {several} of them with several queries."


if __name__ == "__main__":
    raise SystemExit(main())
