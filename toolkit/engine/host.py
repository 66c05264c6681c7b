"""`Host`: the engine as a live host uses it, a thin face over the pure transitions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from toolkit.engine import ports, texts, turns
from toolkit.engine import state as st
from toolkit.engine.live import Turn
from toolkit.engine.offer import Offer, rankable
from toolkit.engine.profile import REFERENCE, Profile
from toolkit.engine.roster import Listing
from toolkit.engine.view import EarlierTurn, Scored
from toolkit.engine.visibility import as_patterns, as_policy
from toolkit.errors import InputError
from toolkit.tool import Tool


def _unnoted(op: str, **body: Any) -> None:
    """Take a note that nobody keeps."""


def _specs(**given: Any) -> dict[str, str | None]:
    return {name: None if spec is None else str(spec) for name, spec in given.items()}


def listing(tools: Iterable[Tool], *, ui: bool = False) -> Listing:
    """Return what a host lists: its core tools (S6), then the given ones."""
    core = (texts.SEARCH_TOOL, *(texts.UI_TOOLS if ui else ()))
    own = {tool.name for tool in core}
    listed = Listing((*core, *(t for t in tools if t.source != "core" or t.name not in own)))
    assert listed.roster.index  # worked out at the start, so that no turn waits for it
    return listed


class Host:
    """A session's host: what exists and is allowed, and turn by turn what its model is told.

    Args:
        catalog: The tools, or a `Listing` that several sessions share.
        selector: A spec such as `"lazy"` or `"semantic(k=8)"`, a function, or None for rule S1.
        scope: Patterns granted to the session; None narrows nothing (V8).
        policy: Pattern → `allow`, `ask` or `deny`; the last match decides (V8).
        retriever: A retriever's spec for `tools.search`, or a searcher; None takes the default.
        profile: The host's rules; `docs/semantics.md` is the profile `reference`.
        ui: Register `ui.show` and `ui.hide` (S6).
        config: The selector's own table of the configuration.
        time_limit: Seconds that a selector may take (S7); None waits for it.
        tokens: Name → tokens of its definition, for selectors that weigh cost.
        record: A session file to write while the host runs; a killed process leaves it readable.

    Raises:
        UnknownNameError: No selector (S8) or retriever of that name is registered.
        InputError: A scope or policy cannot be read (V8).

    >>> host = Host([Tool("builtin.read"), Tool("mcp.git.log", deferred=True)])
    >>> turn = host.start_turn("what changed?")
    >>> turn.declared, turn.searchable
    (('tools.search', 'builtin.read'), ('mcp.git.log',))
    """

    def __init__(
        self,
        catalog: Iterable[Tool] | Listing,
        selector: Any = None,
        scope: Iterable[str] | None = None,
        policy: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        *,
        retriever: Any = None,
        profile: Profile = REFERENCE,
        ui: bool = False,
        config: Mapping[str, Any] | None = None,
        time_limit: float | None = 5.0,
        tokens: Any = None,
        record: Any = None,
    ) -> None:
        listed = catalog if isinstance(catalog, Listing) else listing(catalog, ui=ui)
        if not isinstance(profile, Profile):
            hint = "toolkit.replaying.profiles.profile(name) gives a shipped one."
            raise InputError(f"profile must be a Profile, not {profile!r}.", hint=hint)
        self.state = st.State(listed, profile=profile)
        self._selector = self._resolved(selector)
        self._searcher = None if retriever is None else ports.resolve("searcher", retriever)
        self.note: Any = _unnoted
        if record is not None:
            facts = {**_specs(selector=selector, retriever=retriever), "profile": profile.name}
            self.note = ports.resolve("recorder", (record, listed.tools, facts))
        if scope is not None:
            self.set_scope(scope)
        if policy:
            self.set_policy(policy)
        self.earlier: tuple[EarlierTurn, ...] = ()
        self.last_offer = Offer()
        self.selector_trips = 0
        self._view: dict[str, Any] = {
            "config": MappingProxyType(dict(config or {})),
            **({"tokens": tokens} if tokens else {}),
        }
        self._time_limit = time_limit
        self._turn: Turn | None = None

    @staticmethod
    def _resolved(selector: Any) -> Any:
        """Return the selector of a spec; one that is rule S1 itself is no selector, and costs no trip."""
        found = None if selector is None else ports.resolve("selector", selector)
        return None if getattr(found, "is_default", False) else found

    @property
    def searcher(self) -> Any:
        """The searcher of `tools.search`; the default one is made when it is first needed."""
        if self._searcher is None:
            self._searcher = ports.resolve("searcher", None)
        return self._searcher

    def ranking(self, query: str, told: tuple[Tool, ...], k: int, retriever: str | None) -> Scored:
        """Rank told tools for a selector, by the host's retriever or another."""
        searcher = self.searcher if retriever is None else ports.resolve("searcher", retriever)
        ranked = tuple(searcher.rank(query, rankable(told), k))
        names = {tool.name for tool in told}
        return tuple(pair for pair in ranked if pair[0] in names)[:k]

    def extension(self, id: str) -> Extension:
        """Return the handle by which one extension hides and shows (H1)."""
        return Extension(self, id)

    def happened(self, type: str, **body: Any) -> None:
        """Apply an event by the name and keys that recordings use; a refused one changes nothing."""
        self.state = st.TRANSITIONS[type](self.state, **body)
        self.note("event", type=type, **body)

    def set_scope(self, patterns: Iterable[str] | None, of: str = "session") -> None:
        """Grant a scope, or with None take it away (V1, V8)."""
        self.happened("scope", patterns=None if patterns is None else list(as_patterns(patterns, "a scope")), of=of)

    def set_policy(self, policy: Mapping[str, str] | Iterable[tuple[str, str]] | None) -> None:
        """Put another policy in force (V8, B3)."""
        self.happened("policy", policy=[list(pair) for pair in as_policy(policy)])

    def set_selector(self, selector: Any) -> None:
        """Take another selector, from the next boundary on (B2)."""
        self._selector = self._resolved(selector)

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

    def start_turn(self, input: str = "", history_tokens: int = 0) -> Turn:
        """Cross the boundary: ask the selector, fix the offer, start the turn (B1, S2).

        Args:
            input: The words of the input.
            history_tokens: Tokens of what stands before it, definitions left out, for selectors that weigh cost.
        """
        self.end_turn()
        boundary = turns.turn_boundary(self.state)
        self._view["history_tokens"] = history_tokens
        turn = Turn(self, turns.MAIN, input, self._selector)
        turn.open(boundary, turns.open_turn)
        self._turn, self.last_offer = turn, turn.offer
        self.note("turn", input=input, offer=turn.offer)
        return turn

    def end_turn(self) -> None:
        """End the open turn, if there is one; it becomes the past that a selector may look at."""
        if self._turn is not None:
            self.earlier = (*self.earlier, self._turn.as_earlier())
            self.state, self._turn = turns.end_turn(self.state), None
            self.note("end_turn")


class Extension:
    """What one extension may do: hide, and lift its own hides (H1–H3)."""

    def __init__(self, host: Host, id: str) -> None:
        self._host, self.id = host, id

    def hide(self, patterns: Iterable[str]) -> None:
        self._host.happened("hide", extension=self.id, patterns=list(as_patterns(patterns, "hide")))

    def show(self, patterns: Iterable[str]) -> None:
        self._host.happened("show", extension=self.id, patterns=list(as_patterns(patterns, "show")))

    def unload(self) -> None:
        self._host.happened("unload", extension=self.id)
