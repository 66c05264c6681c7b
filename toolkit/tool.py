"""What a tool is: its identity, its canonical order, its wire name, and its text as it is billed.

The text that is *searched* is made elsewhere (`toolkit.search.terms.texts`); the two never mix.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from operator import attrgetter
from typing import Any

from toolkit.errors import InputError
from toolkit.plain import is_finite, plain

SEARCH = "tools.search"
UI_TOOLS = ("ui.show", "ui.hide")
CORE_NAMES = frozenset((SEARCH, *UI_TOOLS))
WIRE_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_READABLE_SEGMENTS = re.compile(r"[A-Za-z0-9-]+(?:_[A-Za-z0-9-]+)*\Z")


def compact_json(value: Any) -> str:
    """Return `value` as JSON without spaces, keys in the order they came in; an infinite number as its name."""
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    except ValueError:
        return json.dumps(plain(value), ensure_ascii=False, separators=(",", ":"))


def _as_text(value: Mapping[str, Any] | bool | str | None, what: str) -> str:
    if not isinstance(value, Mapping | bool | str | None):
        raise InputError(f"{what} must be an object, not {type(value).__name__}.")
    try:
        if isinstance(value, str):
            return value if is_finite(json.loads(value or "null")) else compact_json(json.loads(value))
        return "" if value is None else compact_json(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{what} is no JSON value: {error}.") from error


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Tool:
    """One tool definition, immutable to the last byte.

    The input schema is kept as the JSON text that its server gave (`docs/semantics.md` B6), so that
    nobody can change it and equal bytes stay equal; `input_schema` parses a fresh copy.

    Args:
        name: Full name, e.g. `mcp.github.create_issue`.
        description: What the model reads.
        input_schema: JSON Schema as a mapping, a bool or JSON text; None when it is unknown.
        source: `core`, `builtin`, `mcp:<server>` or `extension:<id>`; read off the name by default.
        deferred: Searchable unless a selector declares it (S1, S4).
        annotations: MCP annotations, e.g. `{"readOnlyHint": True}` (Q3).
        id: The row's id in its catalog file; the name by default.
    """

    name: str
    description: str
    schema_text: str
    source: str
    deferred: bool
    annotations_text: str
    id: str
    _hash: int = field(compare=False)

    def __init__(
        self,
        name: str,
        description: str | None = "",
        input_schema: Mapping[str, Any] | bool | str | None = None,
        source: str | None = None,
        deferred: bool = False,
        annotations: Mapping[str, Any] | str | None = None,
        id: str | None = None,
    ) -> None:
        if not isinstance(name, str):
            raise InputError(f"a tool's name must be text, not {type(name).__name__}.")
        if not isinstance(description, str | None):
            raise InputError(f"the description of {name!r} must be text, not {type(description).__name__}.")
        put = object.__setattr__
        put(self, "name", name)
        put(self, "description", description or "")
        put(self, "schema_text", _as_text(input_schema, f"the input schema of {name!r}"))
        put(self, "source", source or source_of(name))
        put(self, "deferred", bool(deferred))
        put(self, "annotations_text", _as_text(annotations, f"the annotations of {name!r}"))
        put(self, "id", id or name)
        put(self, "_hash", hash(self.__getstate__()))

    @property
    def input_schema(self) -> Any:
        """A fresh copy of the parsed JSON Schema; `{}` when it is unknown."""
        return json.loads(self.schema_text) if self.schema_text else {}

    @property
    def annotations(self) -> dict[str, Any]:
        """A fresh copy of the MCP annotations."""
        return json.loads(self.annotations_text) if self.annotations_text else {}

    @property
    def read_only(self) -> bool:
        """True when the server annotated the tool `readOnlyHint` (Q3)."""
        return bool(self.annotations_text) and self.annotations.get("readOnlyHint") is True

    @property
    def server(self) -> str | None:
        """The MCP server that serves it, or None."""
        return self.source[4:] if self.source.startswith("mcp:") else None

    @property
    def leaf(self) -> str:
        """The last segment of the name: `create_issue` of `mcp.github.create_issue`."""
        if self.server is not None and self.name.startswith(f"mcp.{self.server}."):
            return self.name[len(self.server) + 5 :]
        return self.name.rpartition(".")[2]

    def renamed(self, name: str) -> Tool:
        """Return the same tool under another name."""
        return self._changed("name", name)

    def flagged(self, deferred: bool) -> Tool:
        """Return the same tool with another `deferred` flag (K2)."""
        return self if self.deferred == deferred else self._changed("deferred", deferred)

    def sourced(self, source: str) -> Tool:
        """Return the same tool from another source."""
        return self if self.source == source else self._changed("source", source)

    def with_schema_text(self, text: str) -> Tool:
        """Return the same tool with another JSON text for its schema (B6)."""
        return self._changed("schema_text", text)

    def _changed(self, field: str, value: Any) -> Tool:
        copy = object.__new__(Tool)
        copy.__setstate__(tuple(value if slot == field else getattr(self, slot) for slot in _CONTENT))
        return copy

    def __hash__(self) -> int:
        return self._hash

    def __getstate__(self) -> tuple[Any, ...]:
        """Leave out the hash: a hash of text is another in another process."""
        return _content(self)

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        for slot, value in zip(_CONTENT, state, strict=True):
            object.__setattr__(self, slot, value)
        object.__setattr__(self, "_hash", hash(state))

    def __repr__(self) -> str:
        return f"Tool({self.name!r})"


_CONTENT = ("name", "description", "schema_text", "source", "deferred", "annotations_text", "id")
_content = attrgetter(*_CONTENT)


def source_of(name: str) -> str:
    """Return the source that a name tells: core names, `mcp.<server>.…`, else `builtin`.

    >>> source_of("mcp.github.get_issue"), source_of("ui.show"), source_of("builtin.read")
    ('mcp:github', 'core', 'builtin')
    """
    if name in CORE_NAMES:
        return "core"
    head, _, rest = name.partition(".")
    server, dot, _ = rest.partition(".")
    return f"mcp:{server}" if head == "mcp" and dot and server else "builtin"


def canonical_order(tool: Tool) -> tuple[bool, str]:
    """Sort key of the canonical order: core tools first, then names by code point (B5)."""
    return (tool.source != "core", tool.name)


@lru_cache(maxsize=1 << 16)
def definition_text(tool: Tool) -> str:
    """Return the definition as it is billed when no provider's own rendering is known.

    Compact JSON `{"name", "description", "parameters"}`, the schema byte for byte as it came.
    """
    head = compact_json({"name": tool.name, "description": tool.description})
    return f'{head[:-1]},"parameters":{tool.schema_text}}}' if tool.schema_text else head


def content_digest(tools: Iterable[Tool]) -> str:
    """Return a digest of the content of tools in their order, the same in every process."""
    content = hashlib.sha256()
    for tool in tools:
        said = (tool.name, tool.description, tool.schema_text, tool.source, tool.annotations_text, str(tool.deferred))
        content.update("\0".join(said).encode("utf-8", "surrogatepass") + b"\1")
    return content.hexdigest()


def wire_name(name: str) -> str:
    """Return the name that a provider accepts, from the name alone and one-to-one (V6).

    A legal name stays. A core name puts `_` for `.`; other dots become `__` where that can be
    told back, as in `mcp__github__get_issue`; all else is cut and gets a digest of the name.

    >>> wire_name("tools.search"), wire_name("mcp.github.get_issue"), wire_name("a-b_c")
    ('tools_search', 'mcp__github__get_issue', 'a-b_c')
    """
    if name in CORE_NAMES:
        return name.replace(".", "_")
    if WIRE_PATTERN.match(name):
        return name
    segments = name.split(".")
    readable = "__".join(segments)
    if len(readable) <= 64 and all(_READABLE_SEGMENTS.match(s) for s in segments):
        return readable
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{re.sub('[^A-Za-z0-9_-]', '_', name)[:50]}_{digest}"


CORE_WIRE_NAMES = frozenset(map(wire_name, CORE_NAMES))
SEARCH_NAMES = frozenset((SEARCH, wire_name(SEARCH)))
"""How a call to `tools.search` may be written: by its full name or its wire name."""


class Catalog:
    """A collection of tools with unique names, in the order they came.

    Of two tools with one name the first stays; the others are listed in `dropped`.

    >>> Catalog([Tool("builtin.read"), Tool("mcp.git.log")])
    Catalog(2 tools, 2 sources)
    """

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        by_name: dict[str, Tool] = {}
        dropped = []
        for tool in tools:
            if by_name.setdefault(tool.name, tool) is not tool:
                dropped.append(tool)
        self._by_name = by_name
        self.dropped = tuple(dropped)

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._by_name.values())

    @cached_property
    def digest(self) -> str:
        """A digest of every tool's content, the same in every process."""
        return content_digest(self)

    def around(self, others: Iterable[Tool]) -> Catalog:
        """Return this catalog with more tools after its own; its own names win."""
        return Catalog((*self.tools, *others))

    def deferring(self, matches: Callable[[str], bool]) -> Catalog:
        """Return the catalog with `deferred` set on each tool whose name `matches` accepts."""
        return Catalog(tool.flagged(tool.deferred or matches(tool.name)) for tool in self)

    @property
    def wire_names(self) -> dict[str, str]:
        """Full name → wire name, one-to-one (V6)."""
        return {name: wire_name(name) for name in self._by_name}

    def get(self, name: str) -> Tool | None:
        return self._by_name.get(name)

    def __getitem__(self, name: str) -> Tool:
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what was worked out: a hash of text is another in another process."""
        return {"_by_name": self._by_name, "dropped": self.dropped}

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        same = isinstance(other, Catalog) and self._hash == other._hash
        return same and (self.tools, self.dropped) == (other.tools, other.dropped)  # type: ignore[attr-defined]

    @cached_property
    def _hash(self) -> int:
        return hash(self.tools)

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"Catalog({len(self)} tools, {len({tool.source for tool in self})} sources)"
