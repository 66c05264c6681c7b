"""What a configuration resolves to, as `toolkit doctor` shows it."""

from __future__ import annotations

import sys

from toolkit.config import HostConfig, ServerConfig, resolved


def test_the_selector_and_each_server_is_shown_with_its_state() -> None:
    servers = (
        ServerConfig("here", sys.executable, env={"TOKEN": "abcdefgh"}, deferred=True),
        ServerConfig("absent", "no-such-command-anywhere"),
        ServerConfig("off", "x", enabled=False),
        ServerConfig("web", url="https://h/mcp?key=abcdefgh"),
    )
    rows = resolved(HostConfig("lazy", servers=servers))
    assert [(row.what, row.state) for row in rows] == [
        ("selector", "ok"),
        ("mcp_servers.here", "ok"),
        ("mcp_servers.absent", "missing"),
        ("mcp_servers.off", "off"),
        ("mcp_servers.web", "ok"),
    ]
    assert rows[0].detail == "lazy"
    assert "TOKEN=***" in rows[1].detail and "(deferred; start 30 s, call 60 s)" in rows[1].detail
    assert "abcdefgh" not in repr(rows)


def test_a_selector_that_cannot_be_built_is_broken_and_none_is_rule_s1() -> None:
    assert resolved(HostConfig("semantic(k=0)"))[0].state == "broken"
    assert "S1" in resolved(HostConfig())[0].detail
