"""The engine's one state, frozen, and the transitions that may happen at any time.

Each transition is a function from state to state. What a host changes in mid-turn is kept here and
waits for the boundary as far as the offer goes (`docs/semantics.md` B2); permission does not wait (B3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolkit.engine.offer import Offer
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.engine.roster import Listing, Roster, same_definition
from toolkit.engine.visibility import (
    HideLog,
    Hides,
    Patterns,
    Policy,
    Scopes,
    as_patterns,
    as_policy,
    with_word,
    without_extension,
)
from toolkit.tool import Tool

NewPattern = tuple[str, str, str, HideLog]


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What a boundary worked out, and from what; kept so that an unchanged world costs nothing."""

    listing: Listing
    now: tuple[Any, ...]
    roster: Roster
    visible: frozenset[str]
    told: tuple[Tool, ...]
    told_names: frozenset[str]


class Span(Struct, frozen=True):
    """A turn or a step in it (A3): its offer, and what it found in which pass.

    `rules` are the scopes and policy at its own start and at its parents' (B8); `scopes` are the step's own.
    """

    id: str
    parent: str | None
    scopes: Scopes
    rules: tuple[tuple[Scopes, Policy], ...]
    visible: frozenset[str]
    told: tuple[Tool, ...]
    told_names: frozenset[str]
    offer: Offer
    pass_no: int = 0
    found: Mapping[str, int] = {}


class State(Struct, frozen=True):
    """Everything the engine knows of one session.

    Attributes:
        listing: What is listed now. `known` holds the definitions last had, by name (B6).
        down: Servers that are down now.
        scopes: (of, patterns) in force for the session; a step adds its own.
        policy, hides: In force now; hides wait for the boundary.
        spans: The open turn under the id "", and its open steps; empty between turns.
        basis: What the last boundary worked out.
        found: Name → turn that found it, for profiles whose found tools outlive the turn.
        pending, new_patterns, reported: Notices that wait, patterns to be judged, problems told.
    """

    listing: Listing
    down: frozenset[str] = frozenset()
    scopes: tuple[tuple[str, Patterns], ...] = ()
    policy: Policy = ()
    hides: Hides = ()
    profile: Profile = REFERENCE
    known: Mapping[str, Tool] = {}
    turn_no: int = 0
    spans: Mapping[str, Span] = {}
    basis: Basis | None = None
    found: Mapping[str, int] = {}
    pending: tuple[str, ...] = ()
    new_patterns: tuple[NewPattern, ...] = ()
    reported: frozenset[str] = frozenset()

    @property
    def session_scopes(self) -> Scopes:
        return tuple(patterns for _, patterns in self.scopes)

    @property
    def now(self) -> tuple[Any, ...]:
        """What a boundary depends on, beside the listing."""
        return (self.down, self.scopes, self.policy, self.hides)

    @property
    def unchanged(self) -> bool:
        """True when nothing that a boundary depends on has changed since the last one."""
        basis = self.basis
        return basis is not None and basis.listing is self.listing and basis.now == self.now


def hide(state: State, extension: str, patterns: Iterable[str]) -> State:
    """Hide, for one extension, from the next boundary on (H1, H5)."""
    return _say(state, extension, as_patterns(patterns, "hide"), True)


def show(state: State, extension: str, patterns: Iterable[str]) -> State:
    """Lift the extension's own hides, from the next boundary on (H2, H3, H5)."""
    return _say(state, extension, as_patterns(patterns, "show"), False)


def _say(state: State, extension: str, patterns: Patterns, hidden: bool) -> State:
    kind, hides, new = "hide" if hidden else "show", state.hides, list(state.new_patterns)
    for pattern in patterns:
        new.append((kind, extension, pattern, dict(hides).get(extension, ())))
        hides = with_word(hides, extension, pattern, hidden)
    return replace(state, hides=hides, new_patterns=tuple(new))


def unload(state: State, extension: str) -> State:
    """Unload an extension: its hides go at the next boundary (H7), its tools are gone now (B4)."""
    return replace(
        state,
        listing=state.listing.replacing(f"extension:{extension}", ()),
        hides=without_extension(state.hides, extension),
        new_patterns=tuple(n for n in state.new_patterns if n[0] not in ("hide", "show") or n[1] != extension),
    )


def scope(state: State, patterns: Iterable[str] | None, of: str = "session") -> State:
    """Grant a scope to a session or a role; None takes it away, and narrows nothing (V2, V8)."""
    granted = () if patterns is None else as_patterns(patterns, f"the scope of the {of}")
    others = tuple(entry for entry in state.scopes if entry[0] != of)
    scopes = others if patterns is None else (*others, (of, granted))
    return replace(state, scopes=scopes, new_patterns=_replaced(state, "scope", of, granted))


def policy(state: State, policy: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> State:
    """Put another policy in force (V8); a call checks it at once (B3)."""
    pairs = as_policy(policy)
    patterns = tuple(pattern for pattern, _ in pairs)
    return replace(state, policy=pairs, new_patterns=_replaced(state, "policy", "", patterns))


def _replaced(state: State, kind: str, of: str, patterns: Patterns) -> tuple[NewPattern, ...]:
    """Return the patterns to be judged after a scope or policy took another's place."""
    kept = tuple(new for new in state.new_patterns if new[:2] != (kind, of))
    return kept + tuple((kind, of, pattern, ()) for pattern in patterns)


def tools_changed(state: State, source: str, tools: Iterable[Tool]) -> State:
    """Take a source's new full list of tools, all of that source; equal definitions keep their bytes (B6)."""
    tools = tuple(tool.sourced(source) for tool in tools)
    kept = tuple(_with_known_bytes(tool, state.known.get(tool.name)) for tool in tools)
    notices = _schema_notices(state, kept)
    return replace(state, listing=state.listing.replacing(source, kept), pending=state.pending + notices)


def _with_known_bytes(tool: Tool, before: Tool | None) -> Tool:
    if before is None or not same_definition(before, tool):
        return tool
    return tool.with_schema_text(before.schema_text)


def _schema_notices(state: State, tools: Iterable[Tool]) -> tuple[str, ...]:
    changed = []
    for tool in {tool.name: tool for tool in reversed(tuple(tools))}.values():
        told = next((t for span in state.spans.values() if (t := span.offer.get(tool.name)) is not None), None)
        if told is not None and told.source == tool.source and not same_definition(told, tool):
            changed.append(f"schema_changed_in_turn:{tool.name}")
    return tuple(changed)


def server_down(state: State, server: str) -> State:
    """Note that a server has gone: its calls are `unavailable` at once, its tools leave at the boundary (B4)."""
    return replace(state, down=state.down | {server})


def server_up(state: State, server: str) -> State:
    """Note that a server is back: what this turn offers is callable again (B4)."""
    return replace(state, down=state.down - {server})


def compaction(state: State) -> State:
    """Note that the history was compacted: the found set stays (Q9), unless the profile says otherwise."""
    if state.profile.found_until != "compaction":
        return state
    return replace(state, found={}, spans={key: replace(span, found={}) for key, span in state.spans.items()})


TRANSITIONS: Mapping[str, Callable[..., State]] = {
    "hide": hide,
    "show": show,
    "unload": unload,
    "scope": scope,
    "policy": policy,
    "tools_changed": tools_changed,
    "server_down": server_down,
    "server_up": server_up,
    "compaction": compaction,
}
"""What may happen at any time, by the names that recordings use."""
