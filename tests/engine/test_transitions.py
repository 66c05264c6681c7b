"""The table of states and events holds: what it calls illegal raises and changes nothing, all else happens."""

from __future__ import annotations

import re
from typing import Any

import pytest

from toolkit.engine import Offer, transitions
from toolkit.engine.boundary import step_boundary, turn_boundary
from toolkit.engine.state import MAIN, State
from toolkit.engine.transitions import TRANSITIONS
from toolkit.errors import IllegalStepError
from toolkit.tool import Catalog, Tool

BETWEEN = State(Catalog([Tool("tools.search"), Tool("builtin.read"), Tool("mcp.git.log")]))
OPEN = TRANSITIONS["turn"](BETWEEN, turn_boundary(BETWEEN), Offer())
IN_PASS = TRANSITIONS["pass"](OPEN)
STATES = {"between turns": BETWEEN, "turn open": OPEN, "in a pass": IN_PASS}
NAMES = {"server_down, up": ("server_down", "server_up")}


def table() -> dict[str, dict[str, str]]:
    """Return event → state → what happens, as the page's table says it."""
    rows = re.findall(r"^ {4}([a-z_]+(?:, [a-z_]+)?) {2,}(.+)$", transitions.__doc__ or "", re.MULTILINE)
    found: dict[str, dict[str, str]] = {}
    for events, cells in rows[1:]:
        said = dict(zip(STATES, re.split(r" {2,}", cells), strict=False))
        found |= dict.fromkeys(NAMES.get(events, tuple(events.split(", "))), said)
    return found


def arguments(state: State, event: str) -> dict[str, Any]:
    """Return what an event brings; what opens a turn or step comes with its boundary."""
    if event == "turn":
        return {"boundary": turn_boundary(state), "offer": Offer()}
    if event == "step":
        return {"boundary": step_boundary(state, "s", None), "offer": Offer()}
    brings: dict[str, dict[str, Any]] = {
        "hide": {"extension": "e", "patterns": ["mcp.*"]},
        "show": {"extension": "e", "patterns": ["mcp.*"]},
        "unload": {"extension": "e"},
        "scope": {"patterns": ["mcp.*"]},
        "policy": {"policy": {"*": "deny"}},
        "tools_changed": {"source": "builtin", "tools": ()},
        "server_down": {"server": "git"},
        "server_up": {"server": "git"},
        "found": {"id": MAIN, "names": ["mcp.git.log"]},
        "end_step": {"id": MAIN},
    }
    return brings.get(event, {})


def test_the_table_names_every_transition() -> None:
    assert table().keys() == TRANSITIONS.keys()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("event", TRANSITIONS)
def test_an_event_is_illegal_exactly_where_the_table_says_so(event: str, state: str) -> None:
    before = STATES[state]
    if table()[event][state] != "illegal":
        assert isinstance(TRANSITIONS[event](before, **arguments(before, event)), State)
        return
    with pytest.raises(IllegalStepError):
        TRANSITIONS[event](before, **arguments(before, event))
