"""Turn boundaries, steps and passes: when an offer is made and how long it stands (`docs/semantics.md` B, A)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from toolkit.engine.offer import Offer, notice
from toolkit.engine.roster import Listing, Roster, admit
from toolkit.engine.state import Basis, NewPattern, Span, State
from toolkit.engine.visibility import (
    as_patterns,
    hidden_names,
    permitted,
    show_has_no_effect,
    visible_names,
)
from toolkit.errors import IllegalStep
from toolkit.tool import Tool

MAIN = ""
_EMPTY = Offer()


@dataclass(frozen=True, slots=True)
class Boundary:
    """A turn or a step about to start: what a selector is told, and the notices so far."""

    span: Span
    basis: Basis
    notices: tuple[str, ...]


def turn_boundary(state: State) -> Boundary:
    """Work out what the next turn is told; nothing starts yet (B1, B2)."""
    basis = _basis(state)
    notices = (*state.pending, *_new_problems(state, basis.roster), *_judged(state, basis.roster))
    rules = ((state.session_scopes, state.policy),)
    span = Span(MAIN, None, (), rules, basis.visible, basis.told, basis.told_names, _EMPTY, 0, _still_found(state))
    return Boundary(span, basis, tuple(dict.fromkeys(notices)))


def open_turn(state: State, boundary: Boundary, offer: Offer, caused: tuple[str, ...] = ()) -> State:
    """Start the turn with the offer that a selection gave; an open turn ends (B1)."""
    return replace(
        state,
        turn_no=state.turn_no + 1,
        known=_known(state, boundary.basis.roster),
        basis=boundary.basis,
        spans={MAIN: replace(boundary.span, offer=offer)},
        reported=boundary.basis.roster.problems,
        pending=(),
        new_patterns=(),
    )


def end_turn(state: State) -> State:
    """End the turn and every step in it (A3)."""
    span_of(state, MAIN)
    return replace(state, spans={})


def step_boundary(state: State, id: str, scope: Iterable[str] | None, parent: str = MAIN) -> Boundary:
    """Work out what a step is told: its parent's told set, narrowed by its scope and by policy now (A1, A3)."""
    above = span_of(state, parent)
    if id in state.spans:
        raise IllegalStep(f"a step {id!r} is open already.", hint="End it first, or give the new one another id.")
    scopes = above.scopes if scope is None else (*above.scopes, as_patterns(scope, f"the scope of step {id!r}"))
    in_force = (*state.session_scopes, *scopes)
    visible = frozenset(name for name in above.visible if permitted(in_force, state.policy, name))
    told = tuple(tool for tool in above.told if tool.name in visible)
    names = above.told_names & visible
    basis = state.basis
    assert basis is not None
    rules = (*above.rules, (in_force, state.policy))
    return Boundary(Span(id, parent, scopes, rules, visible, told, names, _EMPTY), basis, ())


def open_step(state: State, boundary: Boundary, offer: Offer, caused: tuple[str, ...] = ()) -> State:
    """Start a step with the offer that a selection gave (A3); its notices and patterns wait for the next turn."""
    span = boundary.span
    own = span.scopes[len(state.spans[span.parent or MAIN].scopes) :]
    new = tuple(("scope", f"step {span.id}", pattern, ()) for scope in own for pattern in scope)
    noted = replace(state, pending=state.pending + caused, new_patterns=state.new_patterns + new)
    return with_span(noted, replace(span, offer=offer))


def end_step(state: State, id: str) -> State:
    """End a step, its found set, and the steps in it (A2, A3)."""
    span_of(state, id)
    ended = {id}
    for span in state.spans.values():
        if span.parent in ended:
            ended.add(span.id)
    return replace(state, spans={key: span for key, span in state.spans.items() if key not in ended})


def start_pass(state: State, id: str = MAIN) -> State:
    """Start the next pass of a turn or a step: what earlier passes found is callable now (Q6)."""
    span = span_of(state, id)
    return with_span(state, replace(span, pass_no=span.pass_no + 1))


def span_of(state: State, id: str) -> Span:
    """Return an open turn or step.

    Raises:
        IllegalStep: Nothing of that id is open (B9).
    """
    span = state.spans.get(id)
    if span is None:
        what = "no turn is open" if id == MAIN else f"no step {id!r} is open"
        raise IllegalStep(f"{what}.", hint="Start it before its passes, searches and calls.")
    return span


def with_span(state: State, span: Span) -> State:
    return replace(state, spans={**state.spans, span.id: span})


def _known(state: State, roster: Roster) -> Mapping[str, Tool]:
    """Return the definitions last had by name; a session that never changed shares its roster's (B6)."""
    before = state.basis.roster if state.basis is not None else None
    if roster is before:
        return state.known
    return {**state.known, **roster.by_name} if state.known else roster.by_name


def _basis(state: State) -> Basis:
    before = state.basis
    if before is None and not state.down:
        return _first_basis(state.listing, state.now)
    if before is not None and state.unchanged:
        return before
    same_list = before is not None and before.listing is state.listing and before.now[0] == state.down
    roster = before.roster if before is not None and same_list else _roster(state)
    return _basis_of(state.listing, state.now, roster)


@lru_cache(maxsize=256)
def _first_basis(listing: Listing, now: tuple[Any, ...]) -> Basis:
    """Return the first boundary's basis, shared by all sessions that start alike."""
    return _basis_of(listing, now, listing.roster)


def _basis_of(listing: Listing, now: tuple[Any, ...], roster: Roster) -> Basis:
    _, scopes, policy, hides = now
    visible = visible_names(roster.index, tuple(patterns for _, patterns in scopes), policy)
    told_names = visible - hidden_names(roster.index, hides)
    told = tuple([tool for tool in roster.tools if tool.name in told_names])
    return Basis(listing, now, roster, visible, told, told_names)


def _roster(state: State) -> Roster:
    alive = [tool for tool in state.listing.tools if tool.server is None or tool.server not in state.down]
    return admit(alive, state.basis.roster.sources if state.basis else {})


def _new_problems(state: State, roster: Roster) -> list[str]:
    return sorted(roster.problems - state.reported)


def _judged(state: State, roster: Roster) -> list[str]:
    return [said for new in state.new_patterns if (said := _pattern_notice(state, roster, new))]


def _pattern_notice(state: State, roster: Roster, new: NewPattern) -> str | None:
    kind, extension, pattern, before = new
    if not roster.index.matching(pattern):
        return notice("unmatched_pattern", pattern)
    if kind == "show" and show_has_no_effect(roster.index, state.hides, extension, pattern, before):
        return notice("show_no_effect", pattern)
    return None


def _still_found(state: State) -> Mapping[str, int]:
    lifetime = state.profile.found_until
    if lifetime == "turn":
        return {}
    oldest = state.turn_no + 1 - int(lifetime) if lifetime.isdigit() else 0
    return {name: 0 for name, turn_no in state.found.items() if turn_no > oldest or not lifetime.isdigit()}
