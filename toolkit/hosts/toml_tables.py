"""Reading a TOML file table by table, with errors that a person can act on (`docs/semantics.md` K3)."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolkit.errors import InputError, nearest

KeyPath = tuple[str, ...]
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_PLACE = re.compile(r"\s*\(at line (\d+), column (\d+)\)\s*\Z")
_KINDS = {bool: "true or false", str: "text", int: "a whole number", float: "a number", list: "a list", dict: "a table"}


class ConfigError(InputError):
    """A host's configuration file is not what was expected; the message names file, table and key (K3)."""

    code = "bad_config"


@dataclass(frozen=True, slots=True)
class TomlFile:
    """A TOML file that was read: its path, its text for line numbers, its values."""

    path: str
    text: str
    values: Mapping[str, Any]

    def table(self, *path: str) -> Table | None:
        """Return the table at a path of the file, or None when it is not there."""
        values: Any = self.values
        for depth, key in enumerate(path):
            if key not in values:
                return None
            values = values[key]
            if not isinstance(values, dict):
                where = Table(self, path[:depth], {})
                raise where.error(key, f"{name_of(path[: depth + 1])} must be a table, not {kind_of(values)}.")
        return Table(self, path, values)


def read_toml(path: str | Path) -> TomlFile:
    """Read a TOML file.

    Raises:
        ConfigError: It cannot be opened, is no UTF-8 or no TOML; the message has line and column.
    """
    try:
        text = Path(path).read_bytes().decode("utf-8-sig").replace("\r\n", "\n")
        return TomlFile(str(path), text, tomllib.loads(text))
    except OSError as error:
        hint = "Expected the TOML file of a host."
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.", hint=hint) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is no UTF-8 text (byte {error.start}).", hint="Save it as UTF-8.") from error
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(str(path), str(error)) from error


def _syntax_error(path: str, message: str) -> ConfigError:
    place = _PLACE.search(message)
    where = f"{path}:{place[1]}:{place[2]}" if place else path
    said = f"line {place[1]}, column {place[2]}: " if place else ""
    return ConfigError(f"{where} is no TOML. {said}{_PLACE.sub('', message)}.", hint="See https://toml.io.")


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a file; every question that it cannot answer well is an error with its place."""

    file: TomlFile
    path: KeyPath
    values: Mapping[str, Any]

    def error(self, key: str | None, message: str, hint: str = "") -> ConfigError:
        """Return an error that stands at a key of this table, or at the table itself."""
        line = line_of(self.file.text, self.path if key is None else (*self.path, key))
        where = f"{self.file.path}:{line}" if line else self.file.path
        return ConfigError(f"{where}: {message}", hint=hint)

    def check_keys(self, known: Collection[str]) -> None:
        """Raise when the table has a key that nobody knows; the error names the nearest that somebody does."""
        for key in self.values:
            if key not in known:
                near = nearest(key, known)
                hint = f"Did you mean {near!r}? " if near else ""
                message = f"{name_of(self.path)} has no key {key!r}."
                raise self.error(key, message, f"{hint}Valid keys: {', '.join(sorted(known))}.")

    def get(self, key: str, kind: type, fits: Callable[[Any], bool] | None = None, expected: str = "") -> Any:
        """Return a value, or None when it is not given; another type, or one that does not fit, is an error."""
        value = self.values.get(key)
        if value is None or (is_kind(value, kind) and (fits is None or fits(value))):
            return value
        came = kind_of(value) if not is_kind(value, kind) else "what came"
        raise self.error(key, f"{name_of(self.path)} {key} must be {expected or _KINDS[kind]}, not {came}.")

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; empty when it is not given."""
        expected = "a list of texts"
        for place, value in enumerate(self.get(key, list, expected=expected) or ()):
            if not isinstance(value, str):
                message = f"{name_of(self.path)} {key} must be {expected}; entry {place + 1} is {kind_of(value)}."
                raise self.error(key, message)
        return tuple(self.values.get(key, ()))

    def text_table(self, key: str) -> dict[str, str]:
        """Return a table of texts; empty when it is not given. No value of it is ever named in an error."""
        table: dict[str, Any] = self.get(key, dict) or {}
        for name, value in table.items():
            if not isinstance(value, str):
                inner = Table(self.file, (*self.path, key), table)
                hint = "Put it in quotation marks." if not isinstance(value, list | dict) else ""
                raise inner.error(name, f"{name_of(inner.path)} {name} must be text, not {kind_of(value)}.", hint)
        return dict(table)

    def seconds(self, key: str, default: float) -> float:
        """Return a number of seconds above zero."""
        value = self.get(key, float, lambda v: v > 0 and math.isfinite(v), "a number of seconds above 0")
        return default if value is None else float(value)


def is_kind(value: Any, kind: type) -> bool:
    """Tell whether a TOML value is of a kind; a whole number is a number, true and false are none."""
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, (int, float) if kind is float else kind)


def kind_of(value: Any) -> str:
    """Name the type of a TOML value in the words of a person."""
    return _KINDS.get(type(value), "a date or time")


def name_of(path: KeyPath) -> str:
    """Return a table's name as it stands in the file.

    >>> name_of(("mcp_servers", "my server"))
    '[mcp_servers."my server"]'
    """
    return f"[{'.'.join(key if _BARE.match(key) else _quoted(key) for key in path)}]"


def _quoted(key: str) -> str:
    escaped = key.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def line_of(text: str, target: KeyPath) -> int | None:
    r"""Return the line on which a key or table stands, or the nearest thing that holds it; None when unsure.

    >>> line_of("[tools]\nselector = 'lazy'", ("tools", "selector"))
    2
    """
    best, depth = None, 0
    for number, path in _paths(text):
        if len(path) > depth and path == target[: len(path)]:
            best, depth = number, len(path)
    return best


def _paths(text: str) -> Iterator[tuple[int, KeyPath]]:
    """Yield (line, path) of the headers and keys that stand at the start of a line."""
    table: KeyPath = ()
    for number, line in enumerate(text.split("\n"), 1):
        head = line.strip()
        if head.startswith("["):
            table = _path(head) or table
            yield number, table
        elif "=" in head:
            yield number, (*table, *_path(f"{head.partition('=')[0]}= 0"))


def _path(line: str) -> KeyPath:
    try:
        values: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return ()
    path = []
    while isinstance(values, dict) and values:
        key, values = next(iter(values.items()))
        path.append(key)
    return tuple(path)
