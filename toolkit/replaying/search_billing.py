"""Tool search as it is billed: its definition every pass, its trips and what they found from then on.

Selected by the name of the host profile. Source: 130 recordings of Anthropic's hosted search and 99 of OpenAI's
(`docs/token-rules.md`, OpenAI and Anthropic), and the hosts' public rules (`docs/profiles.md`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolkit.errors import UnknownNameError


@dataclass(frozen=True, slots=True)
class SearchBilling:
    """What a host's tool search costs, in tokens.

    Attributes:
        definition: The search tool in every request; None when it is a tool of one's own, counted as such.
        trip: A search call with its answer, beyond the words of both; it stays in the history. A tool of one's own is
            counted as the messages that it is instead wherever its texts are known.
        found: A found definition beyond its text.
        extra_pass: The hosted search samples a second time, and the whole prompt is billed again.
        own_pass: A search is a request that is billed; False where it runs inside the pass that asked.
        where: Where a found definition goes: `history` keeps the cached prefix, `tools` breaks it.
    """

    definition: int | None = None
    trip: int = 12
    found: int = 0
    extra_pass: bool = False
    own_pass: bool = True
    where: str = "history"

    @property
    def hosted(self) -> bool:
        """Whether searches are items of the provider's own, not calls of a tool like any other."""
        return self.definition is not None

    def prefix(self, deferred: int = 0, own_definition: int = 0) -> int:
        """Return what searching adds to every request; deferred tools themselves add nothing."""
        return own_definition if self.definition is None else self.definition

    def history(self, searches: int, definitions: Sequence[int], words: int = 0) -> int:
        """Return what stays in the history after some searches that found these definitions (tokens each)."""
        expanded = sum(one + self.found for one in definitions) if self.where == "history" else 0
        return searches * self.trip + words + expanded

    def extra(self, prompt: int, searches: int) -> int:
        """Return the prompt tokens billed once more while searching; searches issued together share a pass."""
        return prompt if self.extra_pass and searches else 0


TEXTS_ONLY = SearchBilling(trip=0)
"""Nothing beyond the texts: for counters that count no framing."""

BILLINGS: dict[str, SearchBilling] = {
    "reference": SearchBilling(),
    "anthropic-api": SearchBilling(188, 85, 10, extra_pass=True),
    "anthropic-api/regex": SearchBilling(214, 85, 10, extra_pass=True),
    "anthropic-api/client": SearchBilling(None, 12, 10),
    "claude-code": SearchBilling(None, 12, 10),
    "openai-responses": SearchBilling(381, 170, 0, own_pass=False),
    "openai-responses/client": SearchBilling(50, 170, 0),
    "vscode": SearchBilling(None, 12, 10),
    "pydantic-ai": SearchBilling(where="tools"),
    "codex-first": SearchBilling(where="tools"),
    "codex": SearchBilling(where="tools"),
    "bigtool": SearchBilling(where="tools"),
    "spring-ai": SearchBilling(where="tools"),
    "haystack": SearchBilling(where="tools"),
    "maka": SearchBilling(where="tools"),
    "fastmcp": SearchBilling(),
    "toolhive": SearchBilling(),
    "qwen-code": SearchBilling(),
}
"""Host profile → how its search is billed."""


def billing(profile: str) -> SearchBilling:
    """Return how a host profile's search is billed.

    >>> billing("anthropic-api").extra(prompt=702, searches=2)
    702
    """
    if profile not in BILLINGS:
        raise UnknownNameError("host profile", profile, BILLINGS)
    return BILLINGS[profile]
