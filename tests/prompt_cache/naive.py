"""A second, deliberately naive prompt cache: every prompt anew, every prefix of it a key in a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import takewhile

from toolkit.prompt_cache.cache import KINDS, LOOK_BACK, CacheUse, Prompt, Segment
from toolkit.prompt_cache.rules import CacheRules


def naive_uses(prompts: Iterable[Prompt], rules: CacheRules) -> list[CacheUse]:
    """Return what each request of one session reads and writes, in order."""
    known: dict[int, float] = {}
    uses: list[CacheUse] = []
    before: Prompt | None = None
    for prompt in prompts:
        uses.append(_use(prompt, before, known, rules))
        before = prompt
    return uses


def _use(prompt: Prompt, before: Prompt | None, known: dict[int, float], rules: CacheRules) -> CacheUse:
    now, keys = prompt.at or 0.0, _keys(prompt.segments)
    asked = [keys[end] for end in _lookups(prompt, rules)]
    found = [(tokens, now - known[key]) for key, tokens in asked if key in known]
    read = _floored([tokens for tokens, age in found if rules.lifetime is None or age <= rules.lifetime], rules)
    cause = _change(before, prompt) if before else None
    if cause is None and found and read < _floored([tokens for tokens, _ in found], rules):
        cause = "expired"
    elif cause is None and found and not read:
        cause = "below_minimum"
    rest = prompt.tokens - read
    if prompt.tokens < rules.minimum:
        return CacheUse(read, 0, rest, cause)
    known |= {keys[end][0]: now for end in _entries(prompt, rules)}
    return CacheUse(read, rest, 0, cause)


def _keys(parts: Sequence[Segment]) -> list[tuple[int, int]]:
    """For each length of prefix, from 0: a key of its content, and its tokens."""
    keys = [(0, 0)]
    for one in parts:
        keys.append((hash((keys[-1][0], one)), keys[-1][1] + one.tokens))
    return keys


def _floored(tokens: Iterable[int], rules: CacheRules) -> int:
    """The most that can be read: whole steps of the longest prefix, nothing below the minimum."""
    most = max(tokens, default=0)
    return most // rules.step * rules.step if most >= rules.minimum else 0


def _lookups(prompt: Prompt, rules: CacheRules) -> Iterable[int]:
    """The lengths of prefix at which a cache is asked."""
    size = len(prompt.segments)
    if rules.mode == "longest_prefix":
        return range(1, size + 1)
    tools, head = _ends(prompt)
    return {end for end in (tools, head, *range(max(head, size - LOOK_BACK) + 1, size + 1)) if end}


def _entries(prompt: Prompt, rules: CacheRules) -> Iterable[int]:
    """The lengths of prefix that a request leaves in the cache."""
    size = len(prompt.segments)
    return range(1, size + 1) if rules.mode == "longest_prefix" else {*_ends(prompt), size} - {0}


def _ends(prompt: Prompt) -> list[int]:
    """Where the tools end, and where the system text ends."""
    tools = sum(1 for _ in takewhile(lambda one: one.kind == "tools", prompt.segments))
    head = sum(1 for _ in takewhile(lambda one: one.kind != "messages", prompt.segments))
    return [tools, head]


def _change(before: Prompt, prompt: Prompt) -> str | None:
    """Why the earlier prompt is no prefix of this one: the first part in which they differ."""
    for kind in KINDS:
        old = [one for one in before.segments if one.kind == kind]
        new = [one for one in prompt.segments if one.kind == kind]
        if old != (new if kind != "messages" else new[: len(old)]):
            return f"{kind}_changed"
    return None


def shared_before(prompts: Sequence[Prompt]) -> list[int]:
    """The longest front that any earlier prompt shares, piece by piece."""
    reads = []
    for at, row in enumerate(prompts):
        best = 0
        for earlier in prompts[:at]:
            shared = 0
            for one, other in zip(row.segments, earlier.segments, strict=False):
                if one != other:
                    break
                shared += one.tokens
            best = max(best, shared)
        reads.append(best)
    return reads
