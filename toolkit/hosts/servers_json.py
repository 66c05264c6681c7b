"""The `mcpServers` of other hosts' JSON files, as the servers of ours; what we have no use for is left alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolkit.errors import why
from toolkit.hosts.config import ConfigError, HostConfig, ServerConfig

_LISTS = ("mcpServers", "servers", "mcp_servers", "context_servers")


def read_servers(path: str | Path) -> HostConfig:
    """Read the servers of a JSON file: those under `mcpServers`, or under `servers` as editors write them.

    Raises:
        ConfigError: The file is no JSON, names no servers, or one has neither a command nor a URL.
    """
    try:
        value = msgspec.json.decode(Path(path).read_bytes())
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {why(error)}.", hint="Check the path.") from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ConfigError(f"{path} is no JSON: {error}.") from error
    table = value if isinstance(value, Mapping) else {}
    listed = next((table[key] for key in _LISTS if isinstance(table.get(key), Mapping)), None)
    if listed is None:
        raise ConfigError(f"{path} names no MCP servers.", hint="Expected an object under mcpServers.")
    return HostConfig(servers=tuple(_server(name, row, path) for name, row in listed.items()), path=str(path))


def _server(name: str, row: Any, path: str | Path) -> ServerConfig:
    given = row if isinstance(row, Mapping) else {}
    command = given.get("command")
    words = [str(one) for one in command] if isinstance(command, list) else [command] if command else []
    url = next((given[key] for key in ("url", "httpUrl", "serverUrl") if isinstance(given.get(key), str)), None)
    if not words and url is None:
        raise ConfigError(f"{path}: server {name!r} has neither a command nor a url.")
    return ServerConfig(
        name,
        command=str(words[0]) if words else None,
        args=(*words[1:], *_texts(given.get("args"))),
        env=_table(given.get("env")),
        cwd=given["cwd"] if isinstance(given.get("cwd"), str) else None,
        url=None if words else url,
        headers={} if words else _table(given.get("headers")),
        enabled=given.get("disabled") is not True and given.get("enabled") is not False,
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _table(value: Any) -> dict[str, str]:
    return {str(key): str(one) for key, one in value.items()} if isinstance(value, Mapping) else {}
