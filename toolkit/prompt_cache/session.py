"""What a provider's prompt cache reads and writes at each pass of one session, kept as the session goes.

The same rules as `cache_model.simulate`, without building every prompt's segments: a session's messages
only grow (until a compaction), so an earlier prompt with the same declared front is a prefix of this one.
The session is alone: nothing that another session left is ever hit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from toolkit.prompt_cache.rules import LOOK_BACK, CacheRules, CacheUse
from toolkit.tool import Tool, definition_text

Front = tuple[Tool, ...]
_FRONTS_KEPT = 64


@dataclass(frozen=True, slots=True)
class _Entry:
    """The newest prompt with a front: its size, when it was sent, how many messages, before which compaction."""

    tokens: int
    at: float
    messages: int
    era: int


def shared_definitions(old: Front, new: Front, definition: Callable[[Tool], int]) -> int:
    """Return the tokens of the leading definitions that two fronts share, byte for byte."""
    shared = 0
    for one, other in zip(old, new, strict=False):
        if one is not other and definition_text(one) != definition_text(other):
            break
        shared += definition(other)
    return shared


class PrefixCache:
    """The cache of one session.

    Args:
        rules: The provider's rules.
        definition: Tool → tokens of its definition.
        system: Tokens of the system prompt, which follows the tools.
    """

    def __init__(self, rules: CacheRules, definition: Callable[[Tool], int], system: int) -> None:
        self.rules, self.definition, self.system = rules, definition, system
        self.entries: dict[int, _Entry] = {}
        self.fronts: dict[int, Front] = {}
        self.era = 0
        self.front: Front | None = None
        self.key = self.numbers = 0

    def compact(self) -> None:
        """Note that the messages were replaced."""
        self.era += 1

    def use(self, front: Front, head: int, prompt: int, messages: int, at: float | None) -> CacheUse:
        """Return what a pass reads and writes, and leave its prompt in the cache.

        Args:
            front: The declared definitions, in order.
            head: Tokens of the definitions and the system prompt.
            prompt: Tokens of the whole prompt.
            messages: How many messages it holds.
            at: When it was sent, in seconds; None without a clock.
        """
        now, before = at or 0.0, self.key
        self._take(front)
        found = list(self._found(head, messages, now))
        alive = [tokens for tokens, age in found if self.rules.lifetime is None or age <= self.rules.lifetime]
        read, possible = self._floored(alive), self._floored([tokens for tokens, _ in found])
        cause = self._cause(before, read, possible, bool(found)) if before else None
        if prompt < self.rules.minimum:
            return CacheUse(read, 0, prompt - read, cause)
        self._keep(_Entry(prompt, now, messages, self.era))
        return CacheUse(read, prompt - read, 0, cause)

    def _take(self, front: Front) -> None:
        """Number the front: the same definitions have the same number, compared only when the object changes."""
        if front is self.front:
            return
        self.front = front
        self.key = next((key for key, known in self.fronts.items() if known == front), 0)
        if not self.key:
            self.numbers += 1
            self.key = self.numbers
            self.fronts[self.key] = front

    def _found(self, head: int, messages: int, now: float) -> Iterator[tuple[int, float]]:
        """Yield (tokens, age) of the prefixes that an earlier pass left."""
        same = self.entries.get(self.key)
        if same is not None:
            near = self.rules.mode == "longest_prefix" or messages - same.messages < LOOK_BACK
            yield (same.tokens if same.era == self.era and near else head), now - same.at
        if self.rules.mode == "longest_prefix":
            others = ((self.fronts[key], entry) for key, entry in self.entries.items() if key != self.key)
            for front, entry in others:
                shared = shared_definitions(front, self.fronts[self.key], self.definition)
                if shared:
                    yield shared, now - entry.at

    def _floored(self, tokens: list[int]) -> int:
        most = max(tokens, default=0)
        return most // self.rules.step * self.rules.step if most >= self.rules.minimum else 0

    def _cause(self, before: int, read: int, possible: int, found: bool) -> str | None:
        if before != self.key:
            return "tools_changed"
        if self.key in self.entries and self.entries[self.key].era != self.era:
            return "messages_changed"
        if read < possible:
            return "expired"
        return "below_minimum" if found and not read else None

    def _keep(self, entry: _Entry) -> None:
        self.entries.pop(self.key, None)
        self.entries[self.key] = entry
        while len(self.entries) > _FRONTS_KEPT:
            oldest = next(iter(self.entries))
            del self.entries[oldest], self.fronts[oldest]
