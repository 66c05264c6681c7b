"""What a turn or a step about to start is told, and what there is to notice (`docs/semantics.md` B, A)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from toolkit.engine.catalog import Admitted, admit, at_start, listed
from toolkit.engine.offer import Offer, notice
from toolkit.engine.state import MAIN, Basis, NewPattern, Span, State
from toolkit.engine.visibility import as_patterns, hidden_names, permitted, show_has_no_effect, visible_names
from toolkit.errors import IllegalStepError
from toolkit.tool import Catalog

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
    problems = sorted(basis.catalog.problems - state.reported)
    judged = (_pattern_notice(state, basis.catalog, new) for new in state.new_patterns)
    notices = (*state.pending, *problems, *filter(None, judged))
    rules = ((state.session_scopes, state.policy),)
    span = Span(MAIN, None, (), rules, basis.visible, basis.told, _EMPTY, 0, _still_found(state))
    return Boundary(span, basis, tuple(dict.fromkeys(notices)))


def step_boundary(state: State, id: str, scope: Iterable[str] | None, parent: str = MAIN) -> Boundary:
    """Work out what a step is told: its parent's told set, narrowed by its scope and by policy now (A1, A3)."""
    above = state.span(parent)
    if id in state.spans:
        raise IllegalStepError(f"a step {id!r} is open already.", hint="End it first, or give the new one another id.")
    scopes = above.scopes if scope is None else (*above.scopes, as_patterns(scope, f"the scope of step {id!r}"))
    in_force = (*state.session_scopes, *scopes)
    visible = frozenset(name for name in above.visible if permitted(in_force, state.policy, name))
    basis = state.basis
    assert basis is not None
    rules = (*above.rules, (in_force, state.policy))
    return Boundary(Span(id, parent, scopes, rules, visible, above.told.subset(visible), _EMPTY), basis, ())


def _basis(state: State) -> Basis:
    before = state.basis
    if before is None and not state.down:
        return _first_basis(state.listing, state.now)
    if before is not None and state.unchanged:
        return before
    same_list = before is not None and before.listing == state.listing and before.now[0] == state.down
    catalog = before.catalog if before is not None and same_list else _admitted(state)
    return _basis_of(state.listing, state.now, catalog)


@lru_cache(maxsize=256)
def _first_basis(listing: Catalog, now: tuple[Any, ...]) -> Basis:
    """Return the first boundary's basis, shared by all sessions that start alike."""
    return _basis_of(listing, now, at_start(listing))


def _basis_of(listing: Catalog, now: tuple[Any, ...], catalog: Admitted) -> Basis:
    _, scopes, policy, hides = now
    index = catalog.tools.name_index
    visible = visible_names(index, tuple(patterns for _, patterns in scopes), policy)
    return Basis(listing, now, catalog, visible, catalog.tools.subset(visible - hidden_names(index, hides)))


def _admitted(state: State) -> Admitted:
    alive = (tool for tool in listed(state.listing) if tool.server is None or tool.server not in state.down)
    return admit(alive, state.basis.catalog.tools.by_name if state.basis else {})


def _pattern_notice(state: State, catalog: Admitted, new: NewPattern) -> str | None:
    (kind, extension, pattern, before), index = new, catalog.tools.name_index
    if not index.matching(pattern):
        return notice("unmatched_pattern", pattern)
    if kind == "show" and show_has_no_effect(index, state.hides, extension, pattern, before):
        return notice("show_no_effect", pattern)
    return None


def _still_found(state: State) -> Mapping[str, int]:
    lifetime = state.profile.found_until
    if lifetime == "turn":
        return {}
    oldest = state.turn_no + 1 - int(lifetime) if lifetime.isdigit() else 0
    return {name: 0 for name, turn_no in state.found.items() if turn_no > oldest or not lifetime.isdigit()}
