"""The rules in which hosts differ, as data; `docs/semantics.md` is the profile `reference`."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Profile:
    """How one host treats searchable tools and found ones.

    Attributes:
        name: The profile's name.
        found_until: When a found tool is forgotten: `turn`, `session`, `last_search` (only the
            newest answer counts), `compaction`, or a number of turns as text (`"3"`).
        schema_place: Where a found tool's schema goes: the search `result`, the `definitions` of
            the passes that follow (the cached prefix breaks), or a `reference` expanded in the history.
        gate: What happens to a call that no search found: `strict` refuses it, `lenient` runs it
            when its arguments are valid, `executes` runs it anyway.
        same_pass: `refuse` or `allow` a call in the pass whose search answered it (Q7).
        limit: Hits of a search that gives no limit (Q5).
        limit_max: The most that a search may ask for (Q5).
        offer_changes: When the offer may change: `turn`, `pass`, `request`, `conversation`, `never`.
        defer: Patterns of the tools that are searchable without a selector (S1).
        defer_over_tools: `defer` applies only when the host has at least so many tools.
        defer_over_percent: … or only when definitions take at least this share of the window.
    """

    name: str = "reference"
    found_until: str = "turn"
    schema_place: str = "result"
    gate: str = "strict"
    same_pass: str = "refuse"
    limit: int = 5
    limit_max: int = 20
    offer_changes: str = "turn"
    defer: tuple[str, ...] = ()
    defer_over_tools: int = 0
    defer_over_percent: float = 0.0


REFERENCE = Profile()
