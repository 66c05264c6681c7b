"""What a host's TOML says to the toolkit: the selector (K1) and the MCP servers (K2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolkit import specs
from toolkit.errors import InputError, UnknownNameError
from toolkit.hosts.toml_tables import ConfigError, Table, TomlFile, name_of, read_toml
from toolkit.selectors.registry import known_selectors, options_of

START_SECONDS, CALL_SECONDS = 30.0, 60.0
_OF_COMMAND, _OF_URL = ("args", "env", "cwd"), ("headers",)
_SERVER_KEYS = frozenset(
    ("command", "url", *_OF_COMMAND, *_OF_URL, "deferred", "enabled", "startup_timeout_sec", "tool_timeout_sec")
)

__all__ = ["ConfigError", "HostConfig", "ServerConfig", "read_config"]


@dataclass(frozen=True, slots=True)
class ServerConfig:
    """One `[mcp_servers.<name>]`: a command over stdio, or a URL over streamable HTTP.

    Attributes:
        name: The server's name; its tools are `mcp.<name>.…`.
        command, args, cwd: What is started.
        env: Added to a bare environment; its values are secrets and never shown.
        url: The endpoint of a server that already runs; its password and query are secrets.
        headers: Sent with every request; their values are secrets.
        deferred: Flags every tool of the server (K2).
        enabled: False leaves the server out.
        startup_timeout_sec: How long starting it and listing all its tools may take.
        tool_timeout_sec: How long one call may take.
    """

    name: str
    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    deferred: bool = False
    enabled: bool = True
    startup_timeout_sec: float = START_SECONDS
    tool_timeout_sec: float = CALL_SECONDS


@dataclass(frozen=True, slots=True)
class HostConfig:
    """What was resolved from a host's file.

    Attributes:
        selector: The selector's spec with the options of its table, or None for rule S1 (K1).
        selector_table: The table of a selector that takes no options: its `HostView.config`.
        servers: The servers, in the order of the file.
        path: The file.
    """

    selector: str | None = None
    selector_table: Mapping[str, Any] = field(default_factory=dict)
    servers: tuple[ServerConfig, ...] = ()
    path: str = ""

    @property
    def enabled(self) -> tuple[ServerConfig, ...]:
        """The servers that are to be started."""
        return tuple(server for server in self.servers if server.enabled)


def read_config(path: str | Path) -> HostConfig:
    """Read `[tools]` and `[mcp_servers]` of a host's TOML; other tables are left alone (K3).

    Raises:
        ConfigError: The file is no TOML, or one of these tables has a misspelt key, a wrong type or
            a selector that nothing registered (S8). The message names the file, line, table and key.
    """
    file = read_toml(path)
    selector, table = _selector(file)
    return HostConfig(selector, table, _servers(file), str(path))


def _selector(file: TomlFile) -> tuple[str | None, Mapping[str, Any]]:
    tools = file.table("tools")
    if tools is None:
        return None, {}
    text = tools.get("selector", str, expected="text such as 'lazy' or 'semantic(k=8)'")
    spec = None if text is None else _registered(tools, text)
    own = {spec.name} if spec else set()
    tools.check_keys({"selector", *known_selectors(), *own})
    tables = {key: file.table("tools", key) for key in tools.values if key != "selector"}
    chosen = tables.get(spec.name) if spec else None
    return (text, {}) if spec is None or chosen is None else _with_options(text, spec, chosen)


def _registered(tools: Table, text: str) -> specs.Spec:
    try:
        spec = specs.expression(text)
        for name in specs.names(spec):
            if ":" not in name and name not in known_selectors():
                raise UnknownNameError("selector", name, known_selectors())
    except (InputError, UnknownNameError) as error:
        raise tools.error("selector", f"[tools] selector: {error.message}", error.hint) from error
    return spec


def _with_options(text: str, spec: specs.Spec, table: Table) -> tuple[str, Mapping[str, Any]]:
    """Put the options of a selector's table into its spec; a selector without options reads the table itself."""
    known = options_of(spec.name)
    if not known:
        return text, table.values
    table.check_keys(known)
    given = [*known[: len(spec.args)], *spec.kwargs]
    twice = next((key for key in table.values if key in given), None)
    if twice is not None:
        raise table.error(twice, f"{name_of(table.path)} {twice} stands in [tools] selector too.", "Keep one of them.")
    options = {**dict(zip(known, spec.args, strict=False)), **spec.kwargs, **table.values}
    return specs.format(spec.name, options), {}


def _servers(file: TomlFile) -> tuple[ServerConfig, ...]:
    names = file.table("mcp_servers")
    tables = [(name, file.table("mcp_servers", name)) for name in (names.values if names else ())]
    return tuple(_server(name, table) for name, table in tables if table is not None)


def _server(name: str, table: Table) -> ServerConfig:
    table.check_keys(_SERVER_KEYS)
    if not name.strip():
        raise table.error(None, f"{name_of(table.path)} has an empty name.", "Its tools are mcp.<name>.…")
    _check_transport(table)
    return ServerConfig(
        name,
        command=table.get("command", str, lambda text: bool(text.strip()), "the text of a command"),
        args=table.texts("args"),
        env=table.text_table("env"),
        cwd=table.get("cwd", str),
        url=table.get("url", str, _is_http, "a URL that begins with http:// or https://"),
        headers=table.text_table("headers"),
        deferred=table.get("deferred", bool) or False,
        enabled=table.get("enabled", bool) is not False,
        startup_timeout_sec=table.seconds("startup_timeout_sec", START_SECONDS),
        tool_timeout_sec=table.seconds("tool_timeout_sec", CALL_SECONDS),
    )


def _check_transport(table: Table) -> None:
    """Raise unless exactly one of command and url is given, with the keys that go with it."""
    name = name_of(table.path)
    given = [key for key in ("command", "url") if key in table.values]
    if len(given) != 1:
        came = "both" if given else "neither"
        message = f"{name} needs exactly one of command (stdio) and url (streamable HTTP); it has {came}."
        raise table.error(given[-1] if given else None, message)
    other, foreign = ("url", _OF_URL) if given == ["command"] else ("command", _OF_COMMAND)
    for key in foreign:
        if key in table.values:
            raise table.error(key, f"{name} {key} goes with {other}, and this server has a {given[0]}.")


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))
