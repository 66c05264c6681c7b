"""All that may happen to a state, on one page: each transition is a function from state to state.

    event            between turns   turn open       in a pass
    hide, show       waits           waits           waits          H1–H5: the hides change at the boundary
    unload           waits           at once         at once        H7, B4: its tools are gone, its hides wait
    scope, policy    waits           both            both           B3: narrows permission now, widens the offer later
    tools_changed    waits           both            both           B4, B6: what is gone is gone, the rest waits
    server_down, up  waits           at once         at once        B4: calls are `unavailable`, the offer waits
    compaction       at once         at once         at once        Q9
    turn             starts          starts anew     starts anew    B1, B2: the one moment when an offer is made
    step             illegal         starts          starts         A3: as of the main turn's boundary
    pass             illegal         starts          starts         Q6: what was found before is callable
    found            illegal         illegal         counts         Q6: from the next pass on
    end_step         illegal         ends            ends           A2: what it found goes with it
    end_turn         illegal         ends            ends           A3: and with it every step in it

A turn and each of its steps stand in a state of their own. What waits is kept in `State` until the next turn
(B2); an illegal event raises IllegalStepError and changes nothing (B9). Calls change nothing (`calls`, C3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec.structs import replace

from toolkit.engine.boundary import Boundary
from toolkit.engine.catalog import Admitted, relisted, same_definition
from toolkit.engine.offer import Offer
from toolkit.engine.state import MAIN, NewPattern, State
from toolkit.engine.visibility import Patterns, as_patterns, as_policy, with_word, without_extension
from toolkit.tool import Tool


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
        listing=relisted(state.listing, f"extension:{extension}", ()),
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
    return replace(state, listing=relisted(state.listing, source, kept), pending=state.pending + notices)


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


def turn(state: State, boundary: Boundary, offer: Offer, caused: tuple[str, ...] = ()) -> State:
    """Start the turn with the offer that a selection gave; an open turn ends (B1)."""
    return replace(
        state,
        turn_no=state.turn_no + 1,
        known=_known(state, boundary.basis.catalog),
        basis=boundary.basis,
        spans={MAIN: replace(boundary.span, offer=offer)},
        reported=boundary.basis.catalog.problems,
        pending=(),
        new_patterns=(),
    )


def end_turn(state: State) -> State:
    """End the turn and every step in it (A3)."""
    state.span(MAIN)
    return replace(state, spans={})


def step(state: State, boundary: Boundary, offer: Offer, caused: tuple[str, ...] = ()) -> State:
    """Start a step with the offer that a selection gave (A3); its notices and patterns wait for the next turn."""
    span = boundary.span
    own = span.scopes[len(state.spans[span.parent or MAIN].scopes) :]
    new = tuple(("scope", f"step {span.id}", pattern, ()) for scope in own for pattern in scope)
    noted = replace(state, pending=state.pending + caused, new_patterns=state.new_patterns + new)
    return noted.with_span(replace(span, offer=offer))


def end_step(state: State, id: str) -> State:
    """End a step, its found set, and the steps in it (A2, A3)."""
    state.span(id)
    ended = {id}
    for span in state.spans.values():
        if span.parent in ended:
            ended.add(span.id)
    return replace(state, spans={key: span for key, span in state.spans.items() if key not in ended})


def next_pass(state: State, id: str = MAIN) -> State:
    """Start the next pass of a turn or a step: what earlier passes found is callable now (Q6)."""
    span = state.span(id)
    return state.with_span(replace(span, pass_no=span.pass_no + 1))


def found(state: State, id: str, names: Iterable[str], notices: Iterable[str] = ()) -> State:
    """Take the names that a search answered: they are found from the next pass on (Q6)."""
    span, only_newest = state.caller(id), state.profile.found_until == "last_search"
    fresh = {name: span.found.get(name, span.pass_no) for name in names}
    after = state.with_span(replace(span, found=fresh if only_newest else {**span.found, **fresh}))
    if span.parent is None and state.profile.found_until != "turn":
        outlives = dict.fromkeys(fresh, state.turn_no)
        after = replace(after, found=outlives if only_newest else {**state.found, **outlives})
    return replace(after, pending=tuple(dict.fromkeys((*state.pending, *notices))))


def _known(state: State, catalog: Admitted) -> Mapping[str, Tool]:
    """Return the definitions last had by name; a session that never changed shares its catalog's (B6)."""
    if state.basis is not None and catalog is state.basis.catalog:
        return state.known
    return {**state.known, **catalog.tools.by_name} if state.known else catalog.tools.by_name


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
    "turn": turn,
    "step": step,
    "pass": next_pass,
    "found": found,
    "end_step": end_step,
    "end_turn": end_turn,
}
"""The table's events by name; recordings use those of its upper half."""
