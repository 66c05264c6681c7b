"""Other hosts' JSON says which MCP servers there are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from toolkit.hosts.config import ConfigError
from toolkit.hosts.servers_json import read_servers


def written(tmp_path: Path, value: Any) -> Path:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(value), "utf-8")
    return path


def test_the_servers_of_another_host_are_read(tmp_path: Path) -> None:
    servers = {
        "git": {"command": "uvx", "args": ["git-server", 1], "env": {"KEY": "secret"}, "autoApprove": ["log"]},
        "far": {"type": "http", "url": "https://example.org/mcp", "headers": {"x": "y"}},
        "off": {"command": ["node", "a.js"], "disabled": True},
    }
    host = read_servers(written(tmp_path, {"mcpServers": servers}))
    git, far, off = host.servers
    assert (git.command, git.args, dict(git.env)) == ("uvx", ("git-server", "1"), {"KEY": "secret"})
    assert (far.url, dict(far.headers), far.command) == ("https://example.org/mcp", {"x": "y"}, None)
    assert (off.command, off.args, off.enabled) == ("node", ("a.js",), False)
    assert host.enabled == (git, far) and "secret" not in repr(host)


@pytest.mark.parametrize("value", [[], {}, {"mcpServers": []}, {"mcpServers": {"x": {"type": "stdio"}}}])
def test_a_file_without_servers_is_an_error_that_says_so(tmp_path: Path, value: Any) -> None:
    with pytest.raises(ConfigError, match="mcp.json"):
        read_servers(written(tmp_path, value))
