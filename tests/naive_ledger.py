"""A second, deliberately naive ledger: every pass's whole prompt as a list of items, each counted anew.

It shares no code with `toolkit.replaying.prepared` and `toolkit.ledger`: it reads the session itself. An item
is (kind, text). A compaction begins a new *era*: what is in the history then is not what was there before, so
messages of two eras never count as shared.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

from toolkit.replaying import Trace
from toolkit.session import Call, Message, Pass, Session
from toolkit.tokens.vocabulary.tables import encoding

Item = tuple[str, str]


def tokens(text: str) -> int:
    return len(encoding().encode_ordinary(text))


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@cache
def definition(tool: Any) -> str:
    schema = tool.schema_text
    whole = {
        "name": tool.name,
        "description": tool.description,
        **({"parameters": json.loads(schema)} if schema else {}),
    }
    return compact(whole)


def words(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if part["type"] == "text")


def call_text(call: Call) -> str:
    written = call.arguments if call.raw_arguments is None else call.raw_arguments
    return compact({"name": call.name, "arguments": written})


def is_search(call: Call) -> bool:
    return call.kind == "search" or call.name in ("tools.search", "tools_search")


def reply(content: Any, calls: list[Call]) -> list[str]:
    return [text for text in (words(content), *map(call_text, calls)) if text]


def results(calls: list[Call]) -> list[str]:
    return [text for call in calls if call.result is not None and (text := words(call.result.content))]


def message(one: Message) -> list[str]:
    return [*reply(one.content, list(one.calls)), *results(list(one.calls))]


class NaiveLedger:
    """Builds prompts by appending to one list of messages, as a host would."""

    def __init__(self, session: Session, trace: Trace) -> None:
        self.session, self.trace = session, trace
        self.messages: list[tuple[str, str, str]] = []
        self.era = 0
        self.known: set[str] = set()
        self.before: list[list[Item]] = []

    def rows(self) -> list[dict[str, Any]]:
        late = False
        made: list[dict[str, Any]] = []
        for number, (turn, told) in enumerate(zip(self.session.turns, self.trace.turns, strict=True), 1):
            if late or any(event.type == "compaction" for event in turn.events):
                self.compact()
            for one in turn.context:
                self.say("history", *message(one))
            given = words(turn.input)
            self.say("input", given)
            late = yield_late(turn.passes)
            made += self.turn(number, list(turn.passes), told)
            self.messages = [("history" if b == "input" else b, era, text) for b, era, text in self.messages]
        return made

    def say(self, bucket: str, *texts: str) -> None:
        self.messages += [(bucket, str(self.era), text) for text in texts]

    def compact(self) -> None:
        """Forget everything but the input of the turn."""
        self.era += 1
        self.messages = [("input", str(self.era), text) for bucket, _, text in self.messages if bucket == "input"]

    def turn(self, number: int, passes: list[Pass], told: Any) -> Iterator[dict[str, Any]]:
        replayed = iter(told.passes)
        self.known = set()
        last = max((n for n, one in enumerate(passes) if recorded(one)), default=-1)
        for n, one in enumerate(passes):
            if n < last + 1 and any(event.type == "compaction" for event in one.events):
                self.compact()
            for context in one.context:
                self.say("history", *message(context))
            kept = [call for call in one.calls if not is_search(call)]
            if not one.requested:
                self.say("history", *reply(one.content, kept), *results(kept))
            elif recorded(one):
                yield from self.recorded(number, one, kept, told, replayed)

    def recorded(self, number: int, one: Pass, kept: list[Call], told: Any, replayed: Any) -> Iterator[dict[str, Any]]:
        for made in replayed:
            if made.kind == "recorded":
                output = sum(map(tokens, (*reply(one.content, kept), one.reasoning)))
                yield self.row(number, "recorded", told, made, output)
                break
            asked = made.searches or (made,)
            calls = [compact({"name": "tools.search", "arguments": {"query": one.query}}) for one in made.searches]
            calls = calls or [made.call_text]
            yield self.row(number, made.kind, told, made, sum(map(tokens, calls)))
            self.say("search_history", *calls, *(one.result_text for one in asked))
        self.say("history", *reply(one.content, kept), *results(kept))

    def row(self, number: int, kind: str, told: Any, made: Any, output: int) -> dict[str, Any]:
        defined = [("definition", definition(tool)) for tool in told.offer.declared]
        names = [tool.name for tool in told.offer.declared]
        system = [("system", self.session.system)]
        prompt = [*defined, *system, *((f"message {era}", text) for _, era, text in self.messages)]
        counts = [tokens(text) for _, text in prompt]
        buckets = dict.fromkeys(("system", "declared", "search_tool", "history", "search_history", "input"), 0)
        labels = ["search_tool" if name == "tools.search" else "declared" for name in names]
        for bucket, count in zip([*labels, "system", *(b for b, _, _ in self.messages)], counts, strict=True):
            buckets[bucket] += count
        shared = max((common_prefix(earlier, prompt) for earlier in self.before), default=0)
        self.before.append(prompt)
        failed = {call.name for call in made.calls if call.fate in ("missed", "blocked")} - self.known
        self.known |= failed
        visible = [t for t in told.basis.catalog.tools if t.name in told.basis.visible and t.name != "tools.search"]
        everything = sum(tokens(definition(tool)) for tool in visible) if failed else 0
        messages = sum(counts[len(defined) :])
        return {
            **{f"{bucket}_tokens": count for bucket, count in buckets.items()},
            "turn_no": number,
            "kind": kind,
            "prompt_tokens": sum(counts),
            "cached_prompt_tokens": sum(counts[:shared]),
            "uncached_prompt_tokens": sum(counts[shared:]),
            "output_tokens": output,
            "fallback_passes": 1 if failed else 0,
            "fallback_prompt_tokens": messages + everything if failed else 0,
        }


def recorded(one: Pass) -> bool:
    """Say whether a pass stands in a replay: a model wrote it, and not for a search alone."""
    return one.requested and not (one.calls and all(map(is_search, one.calls)))


def yield_late(passes: tuple[Pass, ...]) -> bool:
    """Say whether a compaction stands behind the last pass that is replayed: it waits for the next turn."""
    last = max((n for n, one in enumerate(passes) if recorded(one)), default=-1)
    return any(event.type == "compaction" for one in passes[last + 1 :] for event in one.events)


def common_prefix(before: list[Item], now: list[Item]) -> int:
    shared = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        shared += 1
    return shared
