"""The core of every adapter: a conversation in, what is declared now and what may be called out.

An adapter holds no session. Offers and found tools follow from the messages alone: the engine is folded over the turns
and replies that they hold, so that a resumed, forked or concurrent run is decided as if it had never been
interrupted. A selector is asked once for each turn that it has not seen yet.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from toolkit.engine.calls import Verdict
from toolkit.engine.ports import Selection, Selector
from toolkit.engine.state import MAIN
from toolkit.engine.view import HostView
from toolkit.host import CALL_TOOL, Host, Pass, Turn, text_of
from toolkit.plain import plain
from toolkit.selectors.registry import resolve
from toolkit.tool import SEARCH, SEARCH_NAMES, Catalog, Tool, source_of, wire_name

_REMEMBERED = 4096
OWN_NAMES = frozenset((*SEARCH_NAMES, CALL_TOOL.name))
"""The names of the tools that an adapter adds."""
ASK = '{"error":"ask","message":"This call needs a person\'s confirmation."}'


@dataclass(frozen=True, slots=True)
class Called:
    """A call that the model has made: its name as the model wrote it, its arguments, and what it was answered."""

    name: str
    arguments: Any = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A user's words, and the calls of each reply that the model has given to them."""

    words: str
    replies: tuple[tuple[Called, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class ToRun:
    """A call that the engine allows: the host runs it and answers it."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True)
class Replied:
    """What becomes of a reply: the answers to its searches and refused calls, and the calls that are to run."""

    answers: list[Any]
    to_run: list[ToRun]


def full_name(name: str) -> str:
    """Return the full name of a tool that a framework knows by a legal name.

    >>> full_name("mcp__github__get_issue"), full_name("get_weather"), full_name("mcp.git.log")
    ('mcp.github.get_issue', 'builtin.get_weather', 'mcp.git.log')
    """
    dotted = name.replace("__", ".")
    if name.startswith("mcp__") and wire_name(dotted) == name:
        return dotted
    return name if "." in name else f"builtin.{name}"


class Selecting:
    """A selector, a retriever and the rules around them, for conversations of any host.

    Args:
        selector: A spec, a function, or None for rule S1.
        retriever: What searches rank with.
        scope: Patterns granted; None narrows nothing (V8).
        policy: Pattern → verdict; the last match decides (V8).
        hide: Patterns that are hidden.
        config: The selector's own table.
        full_name: The framework's name of a tool → its full name.
        call_tool: Whether `tools_call` is declared beside `tools_search`: models call only what they were declared.

    Raises:
        UnknownNameError: No selector (S8) or retriever of that name is registered.
    """

    def __init__(
        self,
        selector: str | Selector | None = None,
        *,
        retriever: str | None = None,
        scope: Iterable[str] | None = None,
        policy: Mapping[str, str] | None = None,
        hide: Iterable[str] = (),
        config: Mapping[str, Any] | None = None,
        full_name: Callable[[str], str] = full_name,
        call_tool: bool = True,
    ) -> None:
        found = None if selector is None else resolve(selector)
        self._selector = found if found is None or getattr(found, "is_default", False) else _Remembering(found)
        self._retriever, self._config, self._hide = retriever, config, tuple(hide)
        self._scope, self._policy = None if scope is None else tuple(scope), dict(policy or {})
        self.full_name, self.call_tool = full_name, call_tool
        self._host(())

    def now(self, tools: Iterable[Tool], conversation: Sequence[Said]) -> Now:
        """Return what holds for the model's next reply.

        Args:
            tools: All tools of the host, under the framework's names; one of an own tool's name is left out (V5).
            conversation: Every turn so far, the open one last.
        """
        by_name = {self.full_name(tool.name): tool for tool in tools if tool.name not in OWN_NAMES}
        host = self._host(Catalog(_renamed(tool, full) for full, tool in by_name.items()))
        turn = host.start_turn(conversation[0].words if conversation else "")
        for number, said in enumerate(conversation):
            turn = turn if number == 0 else host.start_turn(said.words)
            for reply in said.replies:
                passed = turn.start_pass()
                for call in map(self._meant, reply):
                    self._made(turn, passed, call)
        names = {full: tool.name for full, tool in by_name.items()}
        return Now(turn, turn.start_pass(), names, self.call_tool, self._meant)

    def _made(self, turn: Turn, passed: Pass, call: Called) -> None:
        """Take a call of the history: what a search answered is found, whatever it would answer now (Q6)."""
        if call.name not in SEARCH_NAMES:
            passed.call(call.name, call.arguments)
            return
        found = map(self.full_name, answered(call.answer))
        turn.host.change("found", id=MAIN, names=[name for name in found if name in turn.offer.searchable.by_name])
        query = plain(call.arguments).get("query") if isinstance(call.arguments, Mapping) else None
        turn.searches.append(str(query or ""))

    def _meant(self, call: Called) -> Called:
        """Return the call that a call through `tools_call` holds, under its full name."""
        name, arguments = call.name, call.arguments
        if name == CALL_TOOL.name and isinstance(arguments, Mapping) and isinstance(arguments.get("name"), str):
            name, arguments = arguments["name"], arguments.get("arguments")
        return Called(name if name in SEARCH_NAMES else self.full_name(name), arguments, call.answer)

    def _host(self, tools: Iterable[Tool]) -> Host:
        host = Host(
            tools,
            self._selector,
            self._scope,
            self._policy,
            retriever=self._retriever,
            config=self._config,
        )
        if self._hide:
            host.extension("adapter").hide(self._hide)
        return host


@dataclass(frozen=True, slots=True)
class Now:
    """What holds for one reply of the model.

    Attributes:
        turn: The engine's open turn.
        names: Full name → the framework's name.
    """

    turn: Turn
    _pass: Pass
    names: Mapping[str, str]
    _call_tool: bool
    _meant: Callable[[Called], Called]

    @property
    def declared(self) -> list[Tool]:
        """The declared tools under the framework's names, the search tool and `tools_call` first (B5)."""
        offer = self.turn.offer
        shown = [tool.renamed(self.named(tool.name)) for tool in offer.declared]
        return [*shown[:1], CALL_TOOL, *shown[1:]] if self._call_tool and self.searches else shown

    @property
    def searches(self) -> bool:
        """Whether `tools_search` is declared (S5)."""
        return SEARCH in self.turn.offer.declared.by_name

    def named(self, full: str) -> str:
        """Return the name by which the framework and the model know a tool."""
        return self.names.get(full) or wire_name(full)

    def judge(self, name: str, arguments: Any, *, confirmed: bool = False) -> Verdict:
        """Return what becomes of a call of this reply; a search runs (C1, Q1)."""
        call = self._meant(Called(name, arguments))
        return self._pass.call(call.name, call.arguments, confirmed=confirmed)

    def meant(self, name: str, arguments: Any) -> tuple[str, Any]:
        """Return the framework's name and the arguments of the tool that a call is meant for."""
        call = self._meant(Called(name, arguments))
        return self.named(call.name), {} if call.arguments is None else call.arguments

    def told(self, verdict: Verdict) -> str:
        """Return what the model reads of a verdict; empty when a tool is to run."""
        return ASK if verdict.code == "ask" else text_of(verdict, self.named)


class _Remembering:
    """A selector that is asked once for what it is told and sees; forks and resumes ask the same again."""

    def __init__(self, selector: Selector) -> None:
        self.selector, self.static = selector, getattr(selector, "static", False)
        self._known: OrderedDict[Any, Any] = OrderedDict()
        self._lock = Lock()

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection | Any:
        key = (told, host.turn_no, host.turn_input, tuple(host.earlier), host.declared_before, host.searchable_before)
        with self._lock:
            if key in self._known:
                self._known.move_to_end(key)
                return self._known[key]
        made = self.selector(told, host)
        with self._lock:
            self._known[key] = made
            while len(self._known) > _REMEMBERED:
                self._known.popitem(last=False)
        return made


def _renamed(tool: Tool, full: str) -> Tool:
    """Return a tool under its full name, from the source that it tells unless the framework said another."""
    renamed = tool.renamed(full)
    return renamed.sourced(source_of(full)) if tool.source == "builtin" else renamed


def answered(text: str) -> list[str]:
    r"""Return the names that a search result holds, in its order; see `toolkit.host.texts.search_result`.

    >>> answered('{"name":"builtin.read","description":""}\n{"matched":1}')
    ['builtin.read']
    """
    found = []
    for line in text.splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("name"), str):
            found.append(row["name"])
    return found
