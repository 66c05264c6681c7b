"""The engine's one state, frozen: everything that it knows of a session. `transitions` says how it changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from toolkit.engine.catalog import Admitted
from toolkit.engine.offer import Offer
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.engine.visibility import HideLog, Hides, Patterns, Policy, Scopes
from toolkit.errors import IllegalStepError
from toolkit.tool import Catalog, Tool
from toolkit.toolset import ToolSet

MAIN = ""
"""The id under which the open turn stands among the open spans."""
NewPattern = tuple[str, str, str, HideLog]


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """What a boundary worked out, and from what; kept so that an unchanged world costs nothing."""

    listing: Catalog
    now: tuple[Any, ...]
    catalog: Admitted
    visible: frozenset[str]
    told: ToolSet


class Span(Struct, frozen=True):
    """A turn or a step in it (A3): its offer, and what it found in which pass.

    `rules` are the scopes and policy at its own start and at its parents' (B8); `scopes` are the step's own.
    """

    id: str
    parent: str | None
    scopes: Scopes
    rules: tuple[tuple[Scopes, Policy], ...]
    visible: frozenset[str]
    told: ToolSet
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

    listing: Catalog
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
        return basis is not None and basis.listing == self.listing and basis.now == self.now

    def span(self, id: str) -> Span:
        """Return an open turn or step.

        Raises:
            IllegalStepError: Nothing of that id is open (B9).
        """
        found = self.spans.get(id)
        if found is None:
            what = "no turn is open" if id == MAIN else f"no step {id!r} is open"
            raise IllegalStepError(f"{what}.", hint="Start it before its passes, searches and calls.")
        return found

    def caller(self, id: str) -> Span:
        """Return an open turn or step that is in a pass.

        Raises:
            IllegalStepError: It is not open, or no pass of it has started (B9).
        """
        found = self.span(id)
        if found.pass_no == 0:
            raise IllegalStepError("no pass has started.", hint="Start a pass before its calls and searches.")
        return found

    def with_span(self, span: Span) -> State:
        """Return the state with another open turn or step."""
        return replace(self, spans={**self.spans, span.id: span})
