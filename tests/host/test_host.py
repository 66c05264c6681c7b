"""What a host refuses at its start, before any turn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolkit import Host, load_sessions
from toolkit.errors import InputError, UnknownNameError
from toolkit.tool import Tool

TOOLS = [Tool("builtin.read"), Tool("mcp.git.log", deferred=True)]


@pytest.mark.parametrize(
    ("options", "nearest"), [({"selector": "lasy"}, "lazy"), ({"retriever": "lexcal"}, "lexical")], ids=str
)
def test_s8_a_wrong_name_fails_at_start_and_an_earlier_recording_stays(
    tmp_path: Path, options: dict[str, Any], nearest: str
) -> None:
    path = tmp_path / "live.json"
    Host(TOOLS, record=path).start_turn("kept")
    with pytest.raises(UnknownNameError, match=f"Did you mean '{nearest}'"):
        Host(TOOLS, record=path, **options)
    assert load_sessions(path)[0].turns[0].words == "kept"


def test_the_selector_that_is_rule_s1_costs_no_trip_in_a_live_host() -> None:
    host = Host([Tool("builtin.a"), Tool("mcp.x.b", deferred=True)], selector="deferred")
    assert host.start_turn().searchable == ("mcp.x.b",)
    assert host.selector_trips == 0


def test_a_profile_by_name_is_refused_with_the_way_to_get_one() -> None:
    with pytest.raises(InputError, match="toolkit.replaying.profiles"):
        Host([], profile="codex")  # type: ignore[arg-type]
