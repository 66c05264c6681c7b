"""The configuration of a host, as the command line reads and shows it (`docs/semantics.md` K1–K3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from toolkit.errors import ToolkitError
from toolkit.hosts.config import ConfigError, HostConfig, ServerConfig, read_config
from toolkit.hosts.mcp_reports import NOT_FOUND, OK, ServerReport
from toolkit.hosts.secrets import shown
from toolkit.selectors.registry import resolve

__all__ = ["ConfigError", "HostConfig", "Resolved", "ServerConfig", "read_config", "resolved"]


class Resolved(NamedTuple):
    """One thing that a configuration resolved to: what, in which state, and its details without secrets."""

    what: str
    state: str
    detail: str


def resolved(config: HostConfig, reports: Iterable[ServerReport] = ()) -> list[Resolved]:
    """Return what a configuration comes to: the selector, and each server with its flags.

    Args:
        config: What `read_config` returned.
        reports: What came of the servers where they were started; without it nothing enabled counts as `ok`.
    """
    came = {report.name: report for report in reports}
    return [_selector(config), *(_server(server, came.get(server.name)) for server in config.servers)]


def _selector(config: HostConfig) -> Resolved:
    if config.selector is None:
        return Resolved("selector", "ok", "none: deferred tools are searchable, all others declared (S1)")
    try:
        resolve(config.selector)
    except ToolkitError as error:
        return Resolved("selector", "broken", f"{config.selector}: {error}")
    return Resolved("selector", "ok", config.selector)


def _server(server: ServerConfig, report: ServerReport | None) -> Resolved:
    limits = f"start {server.startup_timeout_sec:g} s, call {server.tool_timeout_sec:g} s"
    flag = "deferred" if server.deferred else "declared"
    state, came = _came(server, report)
    return Resolved(f"mcp_servers.{server.name}", state, f"{came}{shown(server)} ({flag}; {limits})")


def _came(server: ServerConfig, report: ServerReport | None) -> tuple[str, str]:
    """Return the state of a server, and what came of starting it."""
    if not server.enabled:
        return "off", ""
    if report is None:
        return "not started", "Run: pip install 'selector-toolkit[mcp]'. "
    if report.state == NOT_FOUND:
        return "missing", f"{report.error} "
    said = f"{report.error} " if report.error else ""
    return ("ok", f"{len(report.tools)} tools. {said}") if report.state == OK else ("broken", said)
