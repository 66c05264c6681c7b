"""Recorded events onto a live host, and the tools that exist when a session starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, Literal

import msgspec

from toolkit.engine.catalog import listed
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.errors import InputError
from toolkit.host import Host, listing
from toolkit.patterns import matches_any
from toolkit.session import Event, Session
from toolkit.tool import Catalog, Tool, definition_text

WINDOW = 200_000
"""Tokens of the window that a profile's share is of."""


class _Tool(msgspec.Struct):
    name: str
    description: str | None = None
    input_schema: Any = None
    parameters: Any = None
    source: str | None = None
    deferred: bool | None = None
    annotations: dict[str, Any] | None = None


_Maker = Callable[[str | _Tool], Tool | None]


class _Words(msgspec.Struct):
    extension: str
    patterns: list[str]


class _Unload(msgspec.Struct):
    extension: str


class _Policy(msgspec.Struct):
    policy: dict[str, Literal["allow", "ask", "deny"]] | list[tuple[str, Literal["allow", "ask", "deny"]]] | None


class _Scope(msgspec.Struct):
    patterns: list[str] | None = None
    of: str = "session"


class _ToolsChanged(msgspec.Struct):
    """Either what was added, removed and changed, or a source's new full list."""

    source: str | None = None
    tools: list[_Tool] | None = None
    added: list[str | _Tool] | None = None
    removed: list[str | _Tool] | None = None
    changed: list[str | _Tool] | None = None


class _Server(msgspec.Struct):
    server: str


class _Selector(msgspec.Struct):
    """A live host took another selector: a replay has its own."""

    selector: str | None = None


class _Compaction(msgspec.Struct):
    pass


def starting_listing(
    session: Session, around: Catalog | None, defer: tuple[str, ...] = (), rules: Profile = REFERENCE
) -> Catalog:
    """Return what a session's host lists at its start: tools that an event adds later are not there yet."""
    first: dict[str, bool] = {}
    for event in _all_events(session):
        for name, added in _named(event):
            first.setdefault(name, added)
    later = frozenset(name for name, added in first.items() if added)
    return _listing(session.catalog, around, deferred_patterns(session.catalog, around, defer, rules), later)


@lru_cache(maxsize=128)
def _listing(own: Catalog, around: Catalog | None, patterns: tuple[str, ...], later: frozenset[str]) -> Catalog:
    flagged = own.around(around or ()).deferring(lambda name: matches_any(patterns, name))
    return listing(tool for tool in flagged if tool.name not in later)


@lru_cache(maxsize=1024)
def deferred_patterns(
    own: Catalog, around: Catalog | None, defer: tuple[str, ...] = (), rules: Profile = REFERENCE
) -> tuple[str, ...]:
    """Return the patterns of all tools that are deferred, whenever they come: those given, and a host's own."""
    return (*defer, *(rules.defer if rules.defer and _defers(rules, own.around(around or ())) else ()))


def _defers(rules: Profile, catalog: Catalog) -> bool:
    """Say whether the catalog is large enough for a host to defer by itself; tokens at four characters each."""
    tokens = sum(len(definition_text(tool)) for tool in catalog) / 4 if rules.defer_over_percent else 0
    return len(catalog) >= rules.defer_over_tools and tokens >= WINDOW * rules.defer_over_percent / 100


def _all_events(session: Session) -> Iterable[Event]:
    for turn in session.turns:
        yield from turn.events
        for one in turn.passes:
            yield from one.events


def _named(event: Event) -> list[tuple[str, bool]]:
    """Return the names that an event adds or takes away: a tool that is added first was not there before."""
    if event.type != "tools_changed":
        return []
    try:
        body = _body(event)
    except InputError:
        return []  # it is reported where it is applied
    gone = [(_name(item), False) for item in (*(body.removed or ()), *(body.changed or ()))]
    return gone + [(_name(item), True) for item in body.added or ()]


def apply(event: Event, host: Host, session: Session, deferred: tuple[str, ...] = ()) -> None:
    """Apply one recorded event to a host; tools that it brings are flagged when a pattern of `deferred` matches (K2).

    Raises:
        InputError: The event's type is not known, or it does not hold what it needs.
    """
    body = _body(event)
    _HANDLERS[event.type][1](body, host, lambda item: _tool(item, session, deferred))


def _body(event: Event) -> Any:
    """Return what an event says, checked."""
    if event.type not in _HANDLERS:
        raise InputError(f"unknown event {event.type!r}.", hint=f"Known: {', '.join(sorted(_HANDLERS))}.")
    try:
        return msgspec.convert(event.body, _HANDLERS[event.type][0])
    except msgspec.ValidationError as error:
        raise InputError(f"event {event.type!r} is not as it should be: {error}.") from error


def _tools_changed(body: _ToolsChanged, host: Host, made: _Maker) -> None:
    if body.source is not None and body.tools is not None:
        host.tools_changed(body.source, [tool for row in body.tools if (tool := made(row))])
        return
    gone = set(map(_name, body.removed or ()))
    new = {tool.name: tool for item in (*(body.added or ()), *(body.changed or ())) if (tool := made(item))}
    before = listed(host.state.listing)
    touched = {tool.source for tool in (*before, *new.values()) if tool.name in gone or tool.name in new}
    for source in sorted(touched):
        kept = [new.pop(t.name, t) for t in before if t.source == source and t.name not in gone]
        added = [tool for tool in new.values() if tool.source == source]
        host.tools_changed(source, [*kept, *added])


def _name(item: str | _Tool) -> str:
    return item if isinstance(item, str) else item.name


def _tool(item: str | _Tool, session: Session, deferred: tuple[str, ...]) -> Tool | None:
    """Return the tool that an event names or defines; a pattern of `deferred` flags it, whatever its server says."""
    known = session.catalog.get(_name(item))
    tool = known if isinstance(item, str) else _defined(item, known)
    return tool and tool.flagged(tool.deferred or matches_any(deferred, tool.name))


def _defined(item: _Tool, known: Tool | None) -> Tool:
    """Return the tool that an event defines; what it leaves out is as it is known."""
    flagged = known.deferred if known else False
    return Tool(
        item.name,
        item.description,
        item.input_schema if item.input_schema is not None else item.parameters,
        source=item.source or (known.source if known else None),
        deferred=flagged if item.deferred is None else item.deferred,
        annotations=item.annotations,
    )


_HANDLERS: dict[str, tuple[type, Callable[[Any, Host, _Maker], None]]] = {
    "hide": (_Words, lambda body, host, _: host.extension(body.extension).hide(body.patterns)),
    "show": (_Words, lambda body, host, _: host.extension(body.extension).show(body.patterns)),
    "unload": (_Unload, lambda body, host, _: host.extension(body.extension).unload()),
    "policy": (_Policy, lambda body, host, _: host.set_policy(body.policy)),
    "scope": (_Scope, lambda body, host, _: host.set_scope(body.patterns, body.of)),
    "tools_changed": (_ToolsChanged, _tools_changed),
    "server_down": (_Server, lambda body, host, _: host.server_down(body.server)),
    "server_up": (_Server, lambda body, host, _: host.server_up(body.server)),
    "selector": (_Selector, lambda body, host, _: None),
    "compaction": (_Compaction, lambda body, host, _: host.compaction()),
}
