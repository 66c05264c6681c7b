"""What a configuration resolves to, as `toolkit doctor` shows it."""

from __future__ import annotations

import sys

from toolkit.config import HostConfig, ServerConfig, resolved
from toolkit.hosts.mcp_reports import ServerReport
from toolkit.tool import Tool

SERVERS = (
    ServerConfig("here", sys.executable, env={"TOKEN": "abcdefgh"}, deferred=True),
    ServerConfig("absent", "no-such-command-anywhere"),
    ServerConfig("off", "x", enabled=False),
    ServerConfig("web", url="https://h/mcp?key=abcdefgh"),
)
REPORTS = (
    ServerReport("here", "ok", (Tool("mcp.here.read"),), "1 of the 2 tools it lists have no name and are left out."),
    ServerReport("absent", "not_found", error="its command cannot be started."),
    ServerReport("web", "timed_out", error="it did not start."),
)


def test_the_selector_and_each_server_is_shown_with_what_came_of_it() -> None:
    rows = resolved(HostConfig("lazy", servers=SERVERS), REPORTS)
    assert [(row.what, row.state) for row in rows] == [
        ("selector", "ok"),
        ("mcp_servers.here", "ok"),
        ("mcp_servers.absent", "missing"),
        ("mcp_servers.off", "off"),
        ("mcp_servers.web", "broken"),
    ]
    assert rows[0].detail == "lazy"
    assert rows[1].detail.startswith("1 tools. 1 of the 2 tools it lists have no name and are left out. ")
    assert "TOKEN=***" in rows[1].detail and "(deferred; start 30 s, call 60 s)" in rows[1].detail
    assert rows[4].detail.startswith("it did not start. ") and "abcdefgh" not in repr(rows)


def test_a_server_that_was_not_started_is_not_ok() -> None:
    rows = resolved(HostConfig("lazy", servers=SERVERS))
    assert [row.state for row in rows[1:]] == ["not started", "not started", "off", "not started"]


def test_a_selector_that_cannot_be_built_is_broken_and_none_is_rule_s1() -> None:
    assert resolved(HostConfig("semantic(k=0)"))[0].state == "broken"
    assert "S1" in resolved(HostConfig())[0].detail
