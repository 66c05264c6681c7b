"""How providers' prompt caches work, as data, and the rules of each model.

Two modes: `breakpoints` (Anthropic: a changed tools block reads nothing, a changed system only the tools) and
`longest_prefix` (OpenAI, Google and others: the shared front is read, rounded down to a step). Rules:
`docs/token-rules.md`, prompt caches.
"""

from __future__ import annotations

from dataclasses import dataclass

from toolkit.errors import UnknownNameError
from toolkit.tokens.models import facts

MODES = ("breakpoints", "longest_prefix")


@dataclass(frozen=True, slots=True)
class CacheRules:
    """How one provider's cache works.

    Attributes:
        mode: `breakpoints` or `longest_prefix`.
        minimum: Prompts with fewer tokens are not cached.
        step: Reads are whole multiples of it.
        lifetime: Seconds until an entry that nobody hits is gone; None is for ever.
    """

    mode: str = "longest_prefix"
    minimum: int = 0
    step: int = 1
    lifetime: float | None = None

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise UnknownNameError("cache mode", self.mode, MODES)


IDEAL = CacheRules()
"""A bound: the longest shared prefix is always read, whatever its size and age."""


def rules_for(model: str) -> CacheRules:
    """Return the cache rules of a model, as `models.toml` has them from the vendors' statements and recordings.

    A model nobody knows gets the commonest: 1,024 tokens, steps of 128, reads at a tenth.

    >>> rules_for("claude-sonnet-4.5").minimum, rules_for("gpt-4.1").step, rules_for("deepseek-chat").step
    (1024, 128, 64)
    """
    return CacheRules(**facts(model).cache)
