"""A provider's prompt cache over the requests of one session: what each reads, writes and pays in full, and why.

The order of a prompt is tools, system, messages, and a cache is a prefix match in that order. All prompts that were
sent make one tree of prefixes: a prompt is a path from its root, and what it shares with an earlier one is the part
of the path that was there before. The session is alone, and hits nothing that an earlier or a parallel one left, unless
the cache is `warm`: then its definitions are always there.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from toolkit.prices.price import Price
from toolkit.prompt_cache.rules import CacheRules

KINDS = ("tools", "system", "messages")
LOOK_BACK = 20
_KIND, _TOKENS, _MESSAGES = attrgetter("kind"), attrgetter("tokens"), attrgetter("messages")


class Segment(NamedTuple):
    """A piece of a prompt that changes as a whole: one definition, the system text, one message or several.

    Attributes:
        label: What tells its content from another's: a name, a digest, a text.
        tokens: Its tokens.
        kind: `tools`, `system` or `messages`.
        messages: How many messages it is, for a cache that looks back over so many.
    """

    label: Hashable
    tokens: int
    kind: str = "messages"
    messages: int = 1


class Prompt(NamedTuple):
    """One request: its segments in rendered order, and when it was sent, in seconds (None: no clock)."""

    segments: tuple[Segment, ...]
    at: float | None = None

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in self.segments)


@dataclass(frozen=True, slots=True)
class CacheUse:
    """What one request read from the cache, wrote to it, and paid in full; and why less was read than could be.

    `cause` is None, `tools_changed`, `system_changed`, `messages_changed`, `expired` or `below_minimum`. `shared` is
    the longest prefix that any earlier request had: what a cache without a minimum, steps and lifetime reads.
    """

    read: int
    write: int
    uncached: int
    cause: str | None = None
    shared: int = 0

    @property
    def tokens(self) -> int:
        return self.read + self.write + self.uncached

    def cost(self, price: Price, output: float = 0) -> float:
        """Return the USD of the request at a price list's own rates for reads and writes."""
        return price.cost(self.uncached, self.read, self.write, output)


def segments(
    tools: Iterable[tuple[str, int]] = (),
    system: Iterable[tuple[str, int]] = (),
    messages: Iterable[tuple[str, int]] = (),
) -> tuple[Segment, ...]:
    """Return (label, tokens) pairs of the three parts as segments in rendered order."""
    parts = zip(KINDS, (tools, system, messages), strict=True)
    return tuple(Segment(label, tokens, kind) for kind, rows in parts for label, tokens in rows)


def simulate(prompts: Iterable[Prompt], rules: CacheRules) -> list[CacheUse]:
    """Return what each request of one session reads and writes, in order."""
    cache = PromptCache(rules)
    return [cache.use(prompt) for prompt in prompts]


class _Prefix:
    """A place in the tree: the prompt up to the end of `run`; `kept` is when the cache last held it, None if never.

    A run is segments of one kind that every prompt so far held together, so a front of a thousand tools is one place.
    """

    __slots__ = ("after", "kept", "kind", "messages", "run", "sent", "tokens")

    def __init__(self, before: _Prefix | None, run: tuple[Segment, ...]) -> None:
        self.run = run
        self.kind = run[-1].kind
        self.tokens: int = sum(map(_TOKENS, run)) + (before.tokens if before else 0)
        self.messages: int = sum(map(_MESSAGES, run)) + (before.messages if before else 0)
        self.after: dict[Segment, _Prefix] = {}
        self.sent = False
        self.kept: float | None = None

    def next(self, run: tuple[Segment, ...], every: bool) -> _Prefix:
        """Return the place after this one where a run, or the part of it that an earlier prompt had, ends.

        `every` says that the cache holds every prefix of a prompt, not only those that end at a breakpoint.
        """
        found = self.after.get(run[0])
        if found is None:
            found = self.after[run[0]] = _Prefix(self, run)
        elif found.run != run[: len(found.run)]:
            found = self._parted(found, run, every)
        return found

    def _parted(self, found: _Prefix, run: tuple[Segment, ...], every: bool) -> _Prefix:
        """Return a place where two runs part, put before `found`."""
        pairs = zip(found.run, run, strict=False)
        at = next((n for n, (one, other) in enumerate(pairs) if one != other), len(run))
        front = self.after[run[0]] = _Prefix(self, found.run[:at])
        front.sent, front.kept = found.sent, found.kept if every else None
        found.run = found.run[at:]
        front.after[found.run[0]] = found
        return front


class PromptCache:
    """The cache of one session: say what its next request holds, then send it.

    The front (tools, then system text) stands until another is declared, and messages join until they are dropped: a
    request costs what is new in it.

    Args:
        rules: The provider's rules.
        warm: Other sessions keep every front of definitions in the cache.
    """

    def __init__(self, rules: CacheRules, warm: bool = False) -> None:
        self.rules, self.warm = rules, warm
        self._root = _Prefix(None, (Segment("", 0, "", 0),))
        self._front = 0
        self._messages: list[Segment] = []
        self._path: list[_Prefix] = []
        self._before: list[_Prefix] | None = None

    def declare(self, front: Sequence[Segment]) -> None:
        """Put other tools and another system text before the messages."""
        self._path = []
        for kind, run in groupby(front, key=_KIND):
            for part in ([one] for one in run) if kind == "messages" else [run]:
                self._extend(tuple(part))
        self._front = len(self._path)
        for one in self._path if self.warm else ():
            if one.kind == "tools":
                one.kept, one.sent = math.inf, True
        for message in self._messages:
            self._extend((message,))

    def say(self, message: Segment) -> None:
        """Add a message, or several that are sent together."""
        self._messages.append(message)
        self._extend((message,))

    def drop(self) -> None:
        """Take all messages away: the history was compacted."""
        self._messages.clear()
        del self._path[self._front :]

    def use(self, prompt: Prompt) -> CacheUse:
        """Return what any request reads and writes, and leave its prompt in the cache."""
        self._messages = []
        self.declare(prompt.segments)
        return self.send(prompt.at)

    def send(self, at: float | None = None) -> CacheUse:
        """Return what the request as it stands reads and writes, and leave its prompt in the cache."""
        prompt = self._path[-1].tokens if self._path else 0
        held, alive = self._found(at or 0.0)
        read, possible = self._floored(alive), self._floored(held)
        cause = self._change()
        if cause is None and held and not (read and read == possible):
            cause = "expired" if read < possible else "below_minimum"
        shared, self._before = self._shared(), self._path.copy()
        if prompt < self.rules.minimum:
            return CacheUse(read, 0, prompt - read, cause, shared)
        self._keep(at)
        return CacheUse(read, prompt - read, 0, cause, shared)

    def _extend(self, run: tuple[Segment, ...]) -> None:
        """Go on from where the prompt ends, with segments of one kind."""
        last, every = self._path[-1] if self._path else self._root, self.rules.mode == "longest_prefix"
        while run:
            last = last.next(run, every)
            self._path.append(last)
            run = run[len(last.run) :]

    def _found(self, now: float) -> tuple[_Prefix | None, _Prefix | None]:
        """Return the longest prefix asked for that the cache ever held, and the longest that it still holds."""
        longest = None
        for one in self._asked():
            if one.kept is not None:
                longest = longest or one
                if self.rules.lifetime is None or now - one.kept <= self.rules.lifetime:
                    return longest, one
        return longest, None

    def _asked(self) -> Iterator[_Prefix]:
        """Yield the prefixes at which the cache is asked, the longest first."""
        if self.rules.mode == "longest_prefix":
            yield from reversed(self._path)
            return
        for one in reversed(self._path):
            if one.kind != "messages" or self._path[-1].messages - one.messages >= LOOK_BACK:
                break
            yield one
        yield from self._ends()

    def _ends(self) -> Iterator[_Prefix]:
        """Yield the prefixes that end with the system text, and with the tools, where there are any."""
        kinds = [one.kind for one in self._path[: self._front]]
        for end in (len(kinds) - kinds.count("messages"), kinds.count("tools")):
            if end:
                yield self._path[end - 1]

    def _floored(self, longest: _Prefix | None) -> int:
        """Return the most that can be read: whole steps of the longest prefix, nothing below the minimum."""
        most = longest.tokens if longest else 0
        return most // self.rules.step * self.rules.step if most >= self.rules.minimum else 0

    def _change(self) -> str | None:
        """Say why the earlier prompt is no prefix of this one: the first part in which they differ."""
        if self._before is None:
            return None
        old, new = self._before, self._path
        at = len(old)
        if not (at <= len(new) and (not at or old[-1] is new[at - 1])):
            at = bisect(range(min(len(old), len(new))), False, key=lambda n: old[n] is not new[n])
        kinds = [path[at].kind for path in (old, new) if at < len(path)]
        first = min(map(KINDS.index, kinds), default=2)
        return None if at == len(old) and KINDS[first] == "messages" else f"{KINDS[first]}_changed"

    def _shared(self) -> int:
        """Return the tokens of the longest prefix of an earlier request, and note that this one was sent."""
        for one in reversed(self._path):
            if one.sent:
                return one.tokens
            one.sent = True
        return 0

    def _keep(self, at: float | None) -> None:
        """Leave the prompt in the cache: every prefix of it, or those that end at a breakpoint."""
        now = at or 0.0
        if self.rules.mode == "breakpoints":
            for one in (*self._path[-1:], *self._ends()):
                one.kept = max(now, one.kept or now)
            return
        for one in reversed(self._path):
            if one.kept == math.inf or (at is None and one.kept == now):
                return  # without a clock, all shorter ones are kept as this one is
            one.kept = now
