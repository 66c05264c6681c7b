"""The reference engine behind plain JSON events: what conformance vectors, twins and adapters drive."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from toolkit.engine import Profile, Verdict
from toolkit.errors import IllegalStepError, UnknownNameError
from toolkit.host import Host, Turn, text_of
from toolkit.plugins import Bound
from toolkit.search import Ranking, ToolSearch
from toolkit.tool import Tool, definition_text

Event = Mapping[str, Any]
Outcome = dict[str, Any]
NameSelector = Callable[[list[str], dict[str, Any]], Any]
NameRanker = Callable[[str, list[str]], list[tuple[str, float]]]


def read_tool(row: Mapping[str, Any]) -> Tool:
    """Return the tool of an event's row."""
    return Tool(
        row["name"],
        row.get("description"),
        row.get("input_schema"),
        source=row.get("source"),
        deferred=bool(row.get("deferred")),
        annotations=row.get("annotations") or None,
    )


class Driver:
    """One session of the reference engine, told and asked in events.

    Args:
        config: `tools`, and optionally `scope`, `policy`, `selector`, `ui`, `same_pass`.
        selectors: Name → function of (told names, {}), beside the registered ones.
        rank: Function of (query, names) to (name, score), best first; the lexical retriever if None.
        record: A session file that the host writes.

    Raises:
        UnknownNameError: The selector is not known (S8).
    """

    def __init__(
        self,
        config: Mapping[str, Any],
        selectors: Mapping[str, NameSelector] | None = None,
        rank: NameRanker | None = None,
        record: Any = None,
    ) -> None:
        self.selectors = selectors or {}
        self.host = Host(
            [read_tool(row) for row in config["tools"]],
            selector=self.selector(config.get("selector")),
            scope=config.get("scope"),
            policy=[(pattern, verdict) for pattern, verdict in config.get("policy") or ()],
            retriever=ToolSearch("lexical" if rank is None else lambda tools: _Ranked(tools, rank)),
            profile=Profile(same_pass=config.get("same_pass", "refuse")),
            ui=bool(config.get("ui")),
            record=record,
        )
        self.spans: dict[str | None, Turn] = {}
        self.passes: dict[str | None, Any] = {}
        self.text = ""  # What the model read of the last call or search.

    def selector(self, name: str | None) -> Any:
        """Return the selector of a name, out of the given ones or the registry."""
        if name is None or name not in self.selectors:
            return name
        return Bound(name, lambda visible, host: self.selectors[name]([tool.name for tool in visible], {}), {})

    def apply(self, event: Event) -> Outcome:
        """Apply one event and return its outcome.

        Raises:
            IllegalStepError: The state does not allow it; nothing was changed.
        """
        handler = _HANDLERS.get(event["op"])
        if handler is None:
            raise UnknownNameError("event", str(event["op"]), _HANDLERS)
        outcome: Outcome | None = handler(self, event)
        return outcome or {}

    def _hide(self, event: Event) -> None:
        self.host.extension(event["extension"]).hide(event["patterns"])

    def _show(self, event: Event) -> None:
        self.host.extension(event["extension"]).show(event["patterns"])

    def _unload(self, event: Event) -> None:
        self.host.extension(event["extension"]).unload()

    def _scope(self, event: Event) -> None:
        self.host.set_scope(event["patterns"], event.get("of", "session"))

    def _policy(self, event: Event) -> None:
        self.host.set_policy([(pattern, verdict) for pattern, verdict in event["policy"]])

    def _selector_changed(self, event: Event) -> None:
        self.host.set_selector(self.selector(event["selector"]))

    def _tools_changed(self, event: Event) -> None:
        self.host.tools_changed(event["source"], [read_tool(row) for row in event["tools"]])

    def _server_down(self, event: Event) -> None:
        self.host.server_down(event["server"])

    def _server_up(self, event: Event) -> None:
        self.host.server_up(event["server"])

    def _compaction(self, event: Event) -> None:
        self.host.compaction()

    def _resume(self, event: Event) -> None:
        """Resuming changes no state (B7)."""

    def _turn(self, event: Event) -> Outcome:
        trips = self.host.selector_trips
        turn = self.host.start_turn(event.get("input") or "")
        self.spans, self.passes = {None: turn}, {}
        return {**_offer(turn), "notices": list(turn.notices), "selector_trips": self.host.selector_trips - trips}

    def _end_turn(self, event: Event) -> None:
        self._span(None).end()
        self.spans, self.passes = {}, {}

    def _step(self, event: Event) -> Outcome:
        trips = self.host.selector_trips
        step = self._span(event.get("parent")).start_step(event.get("scope"), id=event["id"])
        self.spans[event["id"]] = step
        self.passes.pop(event["id"], None)
        return {**_offer(step), "selector_trips": self.host.selector_trips - trips}

    def _end_step(self, event: Event) -> None:
        self._span(event["id"]).end()

    def _pass(self, event: Event) -> None:
        id = event.get("step")
        self.passes[id] = self._span(id).start_pass()

    def _search(self, event: Event) -> Outcome:
        limit = {"limit": event["limit"]} if "limit" in event else {}
        verdict = self._open_pass(event).call("tools.search", {"query": event["query"], **limit})
        self.text = text_of(verdict)
        outcome: Outcome = {"verdict": verdict.code, "reads": verdict.reads, "hits": list(verdict.names)}
        answer = verdict.answer
        outcome["matched"] = answer.matched if answer else 0
        outcome["declared_matches"] = sorted(answer.declared_matches) if answer else []
        outcome["down"] = list(answer.down) if answer else []
        return outcome

    def _call(self, event: Event) -> Outcome:
        verdict: Verdict = self._open_pass(event).call(event["name"], event.get("arguments"))
        self.text = text_of(verdict)
        return {"verdict": verdict.code, "reads": verdict.reads}

    def _span(self, id: str | None) -> Turn:
        if id not in self.spans:
            raise IllegalStepError("no turn is open." if id is None else f"no step {id!r} is open.")
        return self.spans[id]

    def _open_pass(self, event: Event) -> Any:
        id = event.get("step")
        self._span(id)
        if id not in self.passes:
            raise IllegalStepError("no pass has started.")
        return self.passes[id]


_HANDLERS: dict[str, Callable[[Driver, Event], Outcome | None]] = {
    "hide": Driver._hide,
    "show": Driver._show,
    "unload": Driver._unload,
    "scope": Driver._scope,
    "policy": Driver._policy,
    "selector": Driver._selector_changed,
    "tools_changed": Driver._tools_changed,
    "server_down": Driver._server_down,
    "server_up": Driver._server_up,
    "compaction": Driver._compaction,
    "resume": Driver._resume,
    "turn": Driver._turn,
    "end_turn": Driver._end_turn,
    "step": Driver._step,
    "end_step": Driver._end_step,
    "pass": Driver._pass,
    "search": Driver._search,
    "call": Driver._call,
}


class _Ranked:
    """A retriever out of a function of names."""

    def __init__(self, tools: Sequence[Tool], rank: NameRanker) -> None:
        self.names, self.function = [tool.name for tool in tools], rank
        self.ties = {tool.name: (not tool.read_only, tool.name) for tool in tools}

    def rank(self, query: str, among: Collection[str] | None = None, k: int = 10) -> Ranking:
        names = self.names if among is None else [name for name in self.names if name in among]
        pairs = sorted(self.function(query, names), key=lambda pair: (-pair[1], self.ties[pair[0]]))[:k]
        return Ranking(tuple(name for name, _ in pairs), tuple(score for _, score in pairs))


def _offer(turn: Turn) -> Outcome:
    return {
        "declared": list(turn.declared),
        "searchable": sorted(turn.searchable),
        "withheld": sorted(turn.withheld),
        "definitions": {tool.name: definition_text(tool) for tool in turn.offer.declared},
    }
