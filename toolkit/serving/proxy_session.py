"""One client's session with the proxy: the engine as it decides for an MCP server, which sees no turns and no passes.

A turn begins with the first request, with every `tools/list` after something has changed, and wherever the client
says so. Each call is a pass of its own. So what was found stays found for the session, and a call may follow the
search at once: an MCP server cannot tell one reply of the model from the next.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from toolkit.engine.calls import Verdict
from toolkit.engine.profile import REFERENCE
from toolkit.errors import IllegalStepError
from toolkit.host import CALL_TOOL, Host, Pass, Turn, text_of
from toolkit.hosts.changes import Change
from toolkit.tool import SEARCH_NAMES, Tool, wire_name

PROFILE = replace(REFERENCE, name="mcp-proxy", found_until="session", same_pass="allow", offer_changes="conversation")
RULES = {
    "ok": "C1",
    "ask": "V8",
    "unknown_tool": "C1, C4",
    "denied": "B3, V8",
    "not_offered": "C1, S3",
    "not_found_yet": "Q6",
    "unavailable": "B4",
    "invalid_arguments": "C1, C5",
    "search_failed": "Q8",
}
"""A verdict, and the rules of `docs/semantics.md` that gave it."""
Log = Callable[..., None]


@dataclass(frozen=True, slots=True)
class ProxySettings:
    """What a proxy decides by, the same for every session.

    Attributes:
        selector: A spec, a function, or None for rule S1.
        retriever: What `tools_search` ranks with.
        selector_table: The selector's own table of the configuration.
        scope: Patterns granted to every session; None narrows nothing.
        policy: (pattern, verdict) pairs; the last match decides.
        hide: Patterns that are hidden from every session.
        longest: Characters of a description that a client is shown.
        call_tool: Whether `tools_call` is declared beside `tools_search`, for clients that call listed tools only.
    """

    selector: Any = None
    retriever: str | None = None
    selector_table: Mapping[str, Any] = field(default_factory=dict)
    scope: tuple[str, ...] | None = None
    policy: tuple[tuple[str, str], ...] = ()
    hide: tuple[str, ...] = ()
    longest: int = 4000
    call_tool: bool = True


@dataclass(frozen=True, slots=True)
class Asked:
    """A call that was judged: by which pass, and with which arguments."""

    verdict: Verdict
    by: Pass
    arguments: Any = None

    def answered(self, content: Any, is_error: bool) -> None:
        """Put down what an upstream server answered; a turn that is over meanwhile keeps none."""
        with suppress(IllegalStepError):
            self.by.result(0, content, is_error)


class ProxySession:
    """The engine for one client; not safe to share between threads at the same moment.

    Args:
        id: What the log calls it.
        tools: What the upstream servers list.
        down: The servers that have not come up.
        settings: What every session is decided by.
        log: Takes an event and its facts.
        record: A session file to write.
    """

    def __init__(
        self,
        id: str,
        tools: Sequence[Tool],
        down: Sequence[str],
        settings: ProxySettings,
        log: Log,
        record: str | None = None,
    ) -> None:
        self.id, self.settings, self.log = id, settings, log
        self.host = Host(
            tools,
            settings.selector,
            settings.scope,
            settings.policy,
            retriever=settings.retriever,
            profile=PROFILE,
            config=settings.selector_table,
            record=record,
        )
        for server in down:
            self.host.server_down(server)
        if settings.hide:
            self.host.extension("proxy").hide(settings.hide)
        self.turn: Turn | None = None
        self.changed = False

    def apply(self, change: Change) -> None:
        """Take what happened to an upstream server; the offer waits for the next boundary (B2, B4)."""
        change.apply(self.host)
        self.changed = True
        self.log("change", session=self.id, server=change.server, what=change.kind, rule="B2, B4")

    def declared(self, words: str | None = None) -> list[Tool]:
        """Return what a client is listed: the declared tools under wire names, in canonical order (B5, V6)."""
        turn = self._turn(words, self.changed)
        shown = [self._shown(tool) for tool in turn.offer.declared]
        if turn.searchable and self.settings.call_tool:
            shown.insert(1, CALL_TOOL)
        return shown

    def ask(self, name: str, arguments: Any, words: str | None = None) -> Asked:
        """Judge a call, or search; a call through `tools_call` is judged as the call that it holds."""
        turn, given = self._turn(words, False), {} if arguments is None else arguments
        if name == CALL_TOOL.name and isinstance(given, Mapping) and isinstance(given.get("name"), str):
            name, given = given["name"], given.get("arguments")
        began = turn.start_pass()
        verdict = began.call(name, given)
        kind = "search" if name in SEARCH_NAMES else "call"
        facts: dict[str, Any] = {"query": given.get("query"), "found": list(verdict.names)} if verdict.answer else {}
        self.log(kind, session=self.id, name=verdict.name, verdict=verdict.code, rule=RULES[verdict.code], **facts)
        return Asked(verdict, began, given)

    def end(self) -> None:
        """End the session and its recording."""
        self.host.close()
        self.log("end", session=self.id)

    def _turn(self, words: str | None, renew: bool) -> Turn:
        if self.turn is None or words is not None or renew:
            self.turn, self.changed = self.host.start_turn(words or ""), False
            lists = {"declared": len(self.turn.declared), "searchable": len(self.turn.searchable)}
            self.log("offer", session=self.id, rule="B1, S2", **lists, notices=list(self.turn.notices))
        return self.turn

    def _shown(self, tool: Tool) -> Tool:
        """Return a tool as a client is shown it: its wire name, and no more of its description than is fit."""
        text, longest = tool.description, self.settings.longest
        short = text if len(text) <= longest else text[: longest - 1] + "…"
        return Tool(
            wire_name(tool.name), short, tool.schema_text or None, tool.source, annotations=tool.annotations_text
        )


def told(verdict: Verdict) -> str:
    """Return what a model reads of a verdict that runs nothing; `ask` has nobody here whom to ask."""
    if verdict.code == "ask":
        return '{"error":"ask","message":"This call needs a person\'s confirmation, and this proxy has nobody to ask."}'
    return text_of(verdict, wire_name)
