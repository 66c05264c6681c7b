"""The configuration of a host, as the command line reads and shows it (`docs/semantics.md` K1–K3)."""

from __future__ import annotations

import os
import shutil
from typing import NamedTuple

from toolkit.errors import ToolkitError
from toolkit.hosts.config import ConfigError, HostConfig, ServerConfig, read_config
from toolkit.hosts.secrets import shown
from toolkit.selectors.registry import resolve

__all__ = ["ConfigError", "HostConfig", "Resolved", "ServerConfig", "read_config", "resolved"]


class Resolved(NamedTuple):
    """One thing that a configuration resolved to: what, in which state, and its details without secrets."""

    what: str
    state: str
    detail: str


def resolved(config: HostConfig) -> list[Resolved]:
    """Return what a configuration comes to: the selector, and each server with its flags."""
    return [_selector(config), *map(_server, config.servers)]


def _selector(config: HostConfig) -> Resolved:
    if config.selector is None:
        return Resolved("selector", "ok", "none: deferred tools are searchable, all others declared (S1)")
    try:
        resolve(config.selector)
    except ToolkitError as error:
        return Resolved("selector", "broken", f"{config.selector}: {error}")
    return Resolved("selector", "ok", config.selector)


def _server(server: ServerConfig) -> Resolved:
    limits = f"start {server.startup_timeout_sec:g} s, call {server.tool_timeout_sec:g} s"
    flag = "deferred" if server.deferred else "declared"
    return Resolved(f"mcp_servers.{server.name}", _state(server), f"{shown(server)} ({flag}; {limits})")


def _state(server: ServerConfig) -> str:
    if not server.enabled:
        return "off"
    path = server.env.get("PATH", os.environ.get("PATH"))
    return "missing" if server.command and shutil.which(server.command, path=path) is None else "ok"
