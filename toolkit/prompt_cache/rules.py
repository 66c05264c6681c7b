"""What a prompt cache would read, write and miss over a row of requests: a pure function of their segments.

The order of a prompt is tools, system, messages, and a cache is a prefix match in that order. Two modes:
`breakpoints` (Anthropic: a changed tools block reads nothing, a changed system only the tools) and `longest_prefix`
(OpenAI, Google and others: the shared front is read, rounded down to a step). The session is alone: nothing that
an earlier or a parallel session left is ever hit. Rules: `docs/token-rules.md`, prompt caches.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import takewhile

from toolkit.errors import UnknownNameError
from toolkit.prices.price import Price
from toolkit.tokens.models import facts

KINDS = ("tools", "system", "messages")
MODES = ("breakpoints", "longest_prefix")
LOOK_BACK = 20


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt that changes as a whole: one definition, the system text, one message.

    Attributes:
        label: What tells its content from another's: a name, a digest.
    """

    label: str
    tokens: int
    kind: str = "messages"


@dataclass(frozen=True, slots=True)
class Prompt:
    """One request: its segments in rendered order, and when it was sent, in seconds (None: no clock)."""

    segments: tuple[Segment, ...]
    at: float | None = None

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.segments)


@dataclass(frozen=True, slots=True)
class CacheRules:
    """How one provider's cache works.

    Attributes:
        mode: `breakpoints` or `longest_prefix`.
        minimum: Prompts with fewer tokens are not cached.
        step: Reads are whole multiples of it.
        lifetime: Seconds until an entry that nobody hits is gone; None is for ever.
        read, write: Price of a token read or written, as a multiple of plain input.
    """

    mode: str = "longest_prefix"
    minimum: int = 0
    step: int = 1
    lifetime: float | None = None
    read: float = 0.1
    write: float = 1.0

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownNameError("cache mode", self.mode, MODES)


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What one request read from the cache, wrote to it, and paid in full; and why less was read than could be.

    `cause` is None, `tools_changed`, `system_changed`, `messages_changed`, `expired` or `below_minimum`.
    """

    read: int
    write: int
    uncached: int
    cause: str | None = None

    @property
    def tokens(self) -> int:
        return self.read + self.write + self.uncached

    def weight(self, rules: CacheRules) -> float:
        """Return the input cost in tokens of plain input."""
        return self.read * rules.read + self.write * rules.write + self.uncached

    def cost(self, price: Price, output: float = 0) -> float:
        """Return the USD of the request at a price list's own rates for reads and writes."""
        return price.cost(self.uncached, self.read, self.write, output)


IDEAL = CacheRules()
"""A bound: the longest shared prefix is always read, whatever its size and age."""


def simulate(prompts: Iterable[Prompt], rules: CacheRules) -> list[CacheUse]:
    """Return what each request of one session reads and writes, in order."""
    known: dict[int, float] = {}
    uses: list[CacheUse] = []
    before: Prompt | None = None
    for prompt in prompts:
        uses.append(_use(prompt, before, known, rules))
        before = prompt
    return uses


def no_cache(prompts: Iterable[Prompt]) -> list[CacheUse]:
    """Return the other bound: everything is paid in full at every request."""
    return [CacheUse(0, 0, prompt.tokens) for prompt in prompts]


def ideal_cache(prompts: Iterable[Prompt]) -> list[CacheUse]:
    """Return the bound of a perfect cache in an isolated session."""
    return simulate(prompts, IDEAL)


def segments(
    tools: Iterable[tuple[str, int]] = (),
    system: Iterable[tuple[str, int]] = (),
    messages: Iterable[tuple[str, int]] = (),
) -> tuple[Segment, ...]:
    """Return (label, tokens) pairs of the three parts as segments in rendered order."""
    parts = zip(KINDS, (tools, system, messages), strict=True)
    return tuple(Segment(label, tokens, kind) for kind, rows in parts for label, tokens in rows)


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


def rules_for(model: str) -> CacheRules:
    """Return the cache rules of a model, as `models.toml` has them from the vendors' statements and recordings.

    A model nobody knows gets the commonest: 1,024 tokens, steps of 128, reads at a tenth.

    >>> rules_for("claude-sonnet-4.5").minimum, rules_for("gpt-4.1").step, rules_for("deepseek-chat").step
    (1024, 128, 64)
    """
    return CacheRules(**facts(model).cache)
