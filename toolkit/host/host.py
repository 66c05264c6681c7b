"""`Host`: the engine as a live host uses it, a thin face over the transitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from threading import RLock
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any
from weakref import finalize

from toolkit.engine.boundary import turn_boundary
from toolkit.engine.catalog import at_start
from toolkit.engine.offer import Offer, rankable
from toolkit.engine.ports import Recorder, Searcher, Selector
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.engine.state import MAIN, State
from toolkit.engine.transitions import TRANSITIONS
from toolkit.engine.view import EarlierTurn, Price, Scored
from toolkit.engine.visibility import as_patterns, as_policy
from toolkit.errors import InputError
from toolkit.host.locking import locked
from toolkit.host.texts import SEARCH_TOOL, UI_TOOLS, text_of
from toolkit.host.turn import Turn
from toolkit.plain import plain
from toolkit.search.ranking import RetrieverFactory
from toolkit.search.shared import ranking, searcher
from toolkit.selectors.registry import resolve
from toolkit.tool import Catalog, Tool
from toolkit.toolset import ToolSet

if TYPE_CHECKING:
    from toolkit.formats.native.recording import Recording


def _unnoted(op: str, **body: Any) -> None:
    """Take a note that nobody keeps."""


def _unnoted_end() -> None:
    """End a recording that nobody keeps."""


@lru_cache(maxsize=256)
def _listing(catalog: Catalog, ui: bool) -> Catalog:
    core = (SEARCH_TOOL, *(UI_TOOLS if ui else ()))
    own = {tool.name for tool in core}
    every = (*catalog, *catalog.dropped)
    listed = Catalog((*core, *(t for t in every if t.source != "core" or t.name not in own)))
    assert at_start(listed).tools.name_index  # worked out at the start, so that no turn waits for it
    return listed


def listing(tools: Iterable[Tool], *, ui: bool = False) -> Catalog:
    """Return what a host lists: its core tools (S6), then the given ones; sessions of one catalog share it."""
    return _listing(tools if isinstance(tools, Catalog) else Catalog(tools), ui)


class Host:
    """A session's host: what exists and is allowed, and turn by turn what its model is told.

    Threads may share a host: each event, call and note is one step under its lock. A boundary holds the lock while
    the selector is asked, so what comes then waits for it; a search does not hold it.

    Args:
        catalog: The tools; hosts of equal catalogs share what is worked out of them.
        selector: A spec such as `"lazy"` or `"semantic(k=8)"`, a function, or None for rule S1.
        scope: Patterns granted to the session; None narrows nothing (V8).
        policy: Pattern → `allow`, `ask` or `deny`; the last match decides (V8).
        retriever: What `tools.search` ranks with: a spec, a retriever's class, a searcher; None is the default.
        profile: The host's rules; `docs/semantics.md` is the profile `reference`.
        ui: Register `ui.show` and `ui.hide` (S6).
        config: The selector's own table of the configuration.
        time_limit: Seconds that a selector may take (S7); None waits for it.
        tokens: Name → tokens of its definition, for selectors that weigh cost.
        price: What the model's tokens cost, for the same.
        window: Tokens of the model's context window, for the same.
        record: A session file to write while the host runs, readable at every moment, also after a kill; `close`, or
            the end of the process, makes a plain session file of it.

    Raises:
        UnknownNameError: No selector (S8) or retriever of that name is registered.
        InputError: A scope or policy cannot be read (V8), or the retriever is none.

    >>> host = Host([Tool("builtin.read"), Tool("mcp.git.log", deferred=True)])
    >>> turn = host.start_turn("what changed?")
    >>> turn.declared, turn.searchable
    (('tools.search', 'builtin.read'), ('mcp.git.log',))
    """

    def __init__(
        self,
        catalog: Iterable[Tool],
        selector: str | Selector | None = None,
        scope: Iterable[str] | None = None,
        policy: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        *,
        retriever: str | RetrieverFactory | Searcher | None = None,
        profile: Profile = REFERENCE,
        ui: bool = False,
        config: Mapping[str, Any] | None = None,
        time_limit: float | None = 5.0,
        tokens: Callable[[str], int] | None = None,
        price: Price | None = None,
        window: int | None = None,
        record: str | Path | None = None,
    ) -> None:
        if not isinstance(profile, Profile):
            hint = "toolkit.replaying.profiles.profile(name) gives a shipped one."
            raise InputError(f"profile must be a Profile, not {profile!r}.", hint=hint)
        self.lock: AbstractContextManager[Any] = RLock()
        self.state = State(listing(catalog, ui=ui), profile=profile)
        self._selector = _selector(selector)
        self._searcher = None if retriever is None else searcher(retriever)
        self.note: Recorder = _unnoted
        self._close: Callable[[], object] = _unnoted_end
        if record is not None:
            facts = {"selector": _spec(selector), "retriever": _spec(retriever), "config": dict(config or {})}
            recording = _recording(record, self.state.listing, {**facts, "window": window}, profile)
            self.note, self._close = _recorder(recording), recording.close
            finalize(self, recording.close)
        if scope is not None:
            self.set_scope(scope)
        if policy:
            self.set_policy(policy)
        self.earlier: tuple[EarlierTurn, ...] = ()
        self.last_offer = Offer()
        self.selector_trips = 0
        self.facts: dict[str, Any] = {"config": MappingProxyType(dict(config or {})), "price": price, "window": window}
        if tokens is not None:
            self.facts["tokens"] = tokens
        self.time_limit = time_limit
        self.turn: Turn | None = None

    @property
    def searcher(self) -> Searcher:
        """The searcher of `tools.search`; the default one is made when it is first needed."""
        if self._searcher is None:
            self._searcher = searcher(None)
        return self._searcher

    def ranking(self, query: str, told: ToolSet, k: int, retriever: str | None) -> Scored:
        """Rank told tools for a selector, by the host's retriever or another (Q8)."""
        asked = self.searcher if retriever is None else searcher(retriever)
        return ranking(asked, query, told.derived(rankable), k)

    def extension(self, id: str) -> Extension:
        """Return the handle by which one extension hides and shows (H1)."""
        return Extension(self, id)

    def change(self, event: str, **body: Any) -> None:
        """Apply a transition; an illegal or wrong one changes nothing."""
        with self.lock:
            self.state = TRANSITIONS[event](self.state, **body)

    def happened(self, type: str, **body: Any) -> None:
        """Apply an event by the name and keys that recordings use."""
        with self.lock:
            self.change(type, **body)
            self.note("event", type=type, **body)

    def set_scope(self, patterns: Iterable[str] | None, of: str = "session") -> None:
        """Grant a scope, or with None take it away (V1, V8)."""
        self.happened("scope", patterns=None if patterns is None else list(as_patterns(patterns, "a scope")), of=of)

    def set_policy(self, policy: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> None:
        """Put another policy in force (V8, B3)."""
        self.happened("policy", policy=[list(pair) for pair in as_policy(policy)])

    def set_selector(self, selector: str | Selector | None) -> None:
        """Take another selector, from the next boundary on (B2)."""
        with self.lock:
            self._selector = _selector(selector)
            self.note("event", type="selector", selector=_spec(selector))

    def tools_changed(self, source: str, tools: Iterable[Tool]) -> None:
        """Take a source's new full list (B4, B6)."""
        self.happened("tools_changed", source=source, tools=tuple(tools))

    def server_down(self, server: str) -> None:
        """Note that a server has gone (B4)."""
        self.happened("server_down", server=server)

    def server_up(self, server: str) -> None:
        """Note that a server is back (B4)."""
        self.happened("server_up", server=server)

    def compaction(self) -> None:
        """Note that the history was compacted (Q9)."""
        self.happened("compaction")

    @locked
    def start_turn(self, input: str = "", history_tokens: int = 0) -> Turn:
        """Cross the boundary: ask the selector, fix the offer, start the turn (B1, S2).

        Args:
            input: The words of the input.
            history_tokens: Tokens of what stands before it, definitions left out, for selectors that weigh cost.
        """
        self.end_turn()
        self.facts["history_tokens"] = history_tokens
        turn = Turn(self, MAIN, input)
        turn.open("turn", turn_boundary(self.state), self._selector)
        self.turn, self.last_offer = turn, turn.offer
        self.note("turn", input=input, history_tokens=history_tokens, offer=turn.offer)
        return turn

    @locked
    def end_turn(self) -> None:
        """End the open turn, if there is one; it becomes the past that a selector may look at."""
        if self.turn is not None:
            self.earlier, self.turn = (*self.earlier, self.turn.as_earlier()), None
            self.change("end_turn")
            self.note("end_turn")

    @locked
    def close(self) -> None:
        """End the open turn, and make a plain session file of the recording; a host that is used again records on."""
        self.end_turn()
        self._close()

    def __enter__(self) -> Host:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class Extension:
    """What one extension may do: hide, and lift its own hides (H1–H3)."""

    def __init__(self, host: Host, id: str) -> None:
        self._host, self.id = host, id

    def hide(self, patterns: Iterable[str]) -> None:
        """Hide what matches, from the next boundary on (H5)."""
        self._host.happened("hide", extension=self.id, patterns=list(as_patterns(patterns, "hide")))

    def show(self, patterns: Iterable[str]) -> None:
        """Lift own hides of what matches, from the next boundary on (H3, H5)."""
        self._host.happened("show", extension=self.id, patterns=list(as_patterns(patterns, "show")))

    def unload(self) -> None:
        """Take the extension's hides and tools away (H7)."""
        self._host.happened("unload", extension=self.id)


def _selector(spec: str | Selector | None) -> Selector | None:
    """Return the selector of a spec; one that is rule S1 itself is no selector, and costs no trip."""
    found: Selector | None = None if spec is None else resolve(spec)
    return None if getattr(found, "is_default", False) else found


def _spec(given: Any) -> str | None:
    """Return by what a selector or retriever is found again: its spec, or `module:name`."""
    if given is None or isinstance(given, str) or not isinstance(given, type | FunctionType):
        return None if given is None else str(given)
    return f"{given.__module__}:{given.__qualname__}"


def _recording(path: str | Path, listed: Catalog, facts: dict[str, Any], profile: Profile) -> Recording:
    from toolkit.formats.native.recording import Recording

    rules = {"profile": profile.name, "rules": asdict(profile)}
    return Recording(path, (*listed, *listed.dropped), plain({**facts, **rules}))


def _recorder(recording: Recording) -> Recorder:
    def note(op: str, **body: Any) -> None:
        recording(op, **body, **({"text": text_of(body["verdict"])} if op == "call" else {}))

    return note
