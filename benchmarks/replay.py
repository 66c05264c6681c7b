"""Replay of recorded sessions against the plain loop that counts every prompt again.

The toolkit counts each distinct text once and reuses it over all systems; the plain loop tokenises
every item of every pass's prompt for every system. Both start with no counts cached and with the
tool and query vectors of the dense retriever at hand. Token totals must be the same.

    python benchmarks/replay.py --data ../shared/data --every 10
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from toolkit import load_catalog, load_sessions
from toolkit.experiment.comparison.run import without_collection
from toolkit.ledger import ledger
from toolkit.replaying import Setting, System, Trace, fold, prepare
from toolkit.replaying.prepared import Prepared, PreparedPass
from toolkit.session import Message, Session, call_text, text_of
from toolkit.tokens.counter import Counter
from toolkit.tokens.providers.texts import TextsOnly, public
from toolkit.tokens.vocabulary.tables import encoding
from toolkit.tool import Tool

SYSTEMS = ("all", "lazy", "builtin-only", "deferred", "semantic(k=8)", "oracle")
ROOT = Path(__file__).resolve().parents[1]


def fast(sessions: Sequence[Session], systems: Sequence[System], around: Setting) -> dict[str, int]:
    """Return prompt tokens by system, the toolkit's way."""
    with without_collection():
        return _fast(sessions, systems, around)


def _fast(sessions: Sequence[Session], systems: Sequence[System], around: Setting) -> dict[str, int]:
    counter = Counter(TextsOnly(public(keep=False)))
    prepared = [prepare(session, counter) for session in sessions]
    totals = {}
    for system in systems:
        rows = (row for one in prepared for row in ledger(one, fold(one, system, around), counter))
        totals[system.name] = sum(row.prompt_tokens for row in rows)
    return totals


def plain(sessions: Sequence[Session], systems: Sequence[System], around: Setting) -> dict[str, int]:
    """Return prompt tokens by system, counting every pass's whole prompt again."""
    encode = encoding().encode_ordinary
    totals = dict.fromkeys((system.name for system in systems), 0)
    for system in systems:
        for session in sessions:
            one = prepare(session)
            for prompt in prompts(one, fold(one, system, around)):
                totals[system.name] += sum(len(encode(text)) for text in prompt)
    return totals


def prompts(one: Prepared, trace: Trace) -> Iterator[list[str]]:
    """Yield the items of every pass's prompt: definitions, system prompt, messages."""
    history: list[str] = []
    for turn, traced in zip(one.turns, trace.turns, strict=True):
        front = [*map(definition, traced.offer.declared), one.session.system]
        history += [*texts(turn.before), turn.input]
        recorded: Iterator[PreparedPass] = iter(turn.passes)
        waiting: PreparedPass | None = None
        for step in traced.passes:
            if waiting is None:
                waiting = next(recorded)
                history += texts(waiting.before)
            yield front + history
            if step.is_search:
                history += [step.call_text, step.result_text]
            else:
                history += texts([waiting.reply])
                waiting = None
        history += texts(turn.after)


def texts(messages: Iterable[Message]) -> Iterator[str]:
    """Yield the texts of messages: words, calls, results."""
    for one in messages:
        yield text_of(one.content)
        yield from map(call_text, one.calls)
        yield from (text_of(call.result.content) for call in one.calls if call.result is not None)


def definition(tool: Tool) -> str:
    """Return a definition's text, made here and not by the toolkit."""
    value = {"name": tool.name, "description": tool.description}
    if tool.schema_text:
        value["parameters"] = tool.input_schema
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cpu(function: object, *args: object) -> tuple[dict[str, int], float]:
    start = time.process_time()
    result = function(*args)  # type: ignore[operator]
    return result, time.process_time() - start


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, help="folder with tau-bench and azure-mcp; the packaged data if left out")
    options.add_argument("--every", type=int, default=10, help="the plain loop takes every n-th session")
    options.add_argument("--systems", nargs="*", default=SYSTEMS)
    chosen = options.parse_args()
    sessions, around = load(chosen.data)
    systems = [System(name, "lexical") for name in chosen.systems]
    encoding()
    fast(sessions, systems, around)
    tenth = list(sessions)[:: chosen.every]
    whole, fast_seconds = cpu(fast, sessions, systems, around)
    few = fast(tenth, systems, around)
    slow, slow_seconds = cpu(plain, tenth, systems, around)
    report(whole, few, slow, fast_seconds, slow_seconds, len(sessions) / len(tenth), len(sessions))
    return 0 if few == slow else 1


def load(data: Path | None) -> tuple[Sequence[Session], Setting]:
    if data is None:
        return load_sessions(ROOT / "datasets/mcp-servers/sessions.atif.jsonl.gz"), Setting()
    return load_sessions(data / "tau-bench/sessions.atif.jsonl.gz"), Setting(
        catalog=load_catalog(data / "azure-mcp/tools.jsonl")
    )


def report(
    whole: dict[str, int],
    few: dict[str, int],
    slow: dict[str, int],
    fast_seconds: float,
    slow_seconds: float,
    share: float,
    sessions: int,
) -> None:
    lines: Iterable[str] = (
        f"{sessions} sessions, {len(whole)} systems; plain loop on 1 in {share:.0f} of them",
        f"toolkit, all sessions, no counts cached: {fast_seconds:.2f} CPU s",
        f"plain loop, its share: {slow_seconds:.2f} CPU s, all sessions at that rate: {slow_seconds * share:.0f} CPU s",
        f"ratio: {slow_seconds * share / fast_seconds:.0f} times",
        f"same token totals on the share: {'yes' if few == slow else f'NO: {few} against {slow}'}",
        *(f"  {name}: {tokens:,} prompt tokens" for name, tokens in whole.items()),
    )
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
