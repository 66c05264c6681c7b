"""Hosts that break one rule each: `python -m tests.testing.broken_hosts H3` serves the one that breaks H3.

They are the naive engine with a few lines changed. `twin` makes the unbroken one.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tests.engine import naive
from tests.engine.naive import SEARCH, Boundary, Caller, Event, NaiveEngine, Outcome, Tool, glob
from toolkit.errors import IllegalStepError, UnknownNameError
from toolkit.testing.reference_host import MakeEngine, serve


def deferred(names: list[str], info: dict[str, Any]) -> Any:
    return [name for name in names if name not in info["deferred"]], info["deferred"]


def twin(kind: type[NaiveEngine] = NaiveEngine) -> MakeEngine:
    """Return a maker of naive engines that say what a host under test says."""

    def make(config: Mapping[str, Any], selectors: Any, rank: Any) -> Any:
        texts = {tool["name"]: f"{tool['name']} {tool['description']}" for tool in config["tools"]}

        def by_words(query: str, names: list[str]) -> list[tuple[str, float]]:
            if query == config.get("failing_query"):
                raise RuntimeError("the index is broken")
            wanted = set(naive.words_of(query))
            return [(name, float(len(wanted & set(naive.words_of(texts.get(name, name)))))) for name in names]

        return Twin(kind, dict(config), {**naive.SEED_SELECTORS, "deferred": deferred, **selectors}, by_words)

    return make


class Twin:
    """A naive engine whose refusals are those of the toolkit."""

    def __init__(self, kind: type[NaiveEngine], config: dict[str, Any], selectors: Any, rank: Any) -> None:
        try:
            self.engine = kind(config, selectors, rank)
        except naive.UnknownSelector as error:
            raise UnknownNameError("selector", config["selector"], selectors) from error

    @property
    def text(self) -> str | None:
        return getattr(self.engine, "text", None)

    def apply(self, event: Event) -> Outcome:
        try:
            return self.engine.apply(event)
        except naive.IllegalStepError as error:
            raise IllegalStepError(str(error)) from error


# --- V: what may be seen ---


class V1(NaiveEngine):
    def _may(self, caller: Caller, name: str) -> bool:
        return all(naive.policy_verdict(rules.policy, name) != "deny" for rules in [*caller.then, self.now])


class V2(NaiveEngine):
    def _on_scope(self, event: Event) -> Outcome:
        return super()._on_scope({**event, "of": "session"})


class V3(NaiveEngine):
    """Takes `ask` for `deny`."""

    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        super().__init__({**config, "policy": self.strict(config.get("policy") or [])}, selectors, rank)

    def _on_policy(self, event: Event) -> Outcome:
        return super()._on_policy({**event, "policy": self.strict(event["policy"])})

    @staticmethod
    def strict(policy: list[list[str]]) -> list[list[str]]:
        return [[pattern, "deny" if says == "ask" else says] for pattern, says in policy]


class V4(NaiveEngine):
    """Takes a negated class for a plain one."""

    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        scope = config.get("scope")
        super().__init__({**config, "scope": scope and [p.replace("[!", "[") for p in scope]}, selectors, rank)


class V5(NaiveEngine):
    def _named(self, name: str) -> Tool | None:
        return next((t for t in self.boundary.catalog if t["name"].lower() == name.lower()), super()._named(name))


class V6(NaiveEngine):
    def _named(self, name: str) -> Tool | None:
        return next((tool for tool in self.boundary.catalog if tool["name"] == name), None)


class V7(NaiveEngine):
    """Forgets who held a name."""

    def _on_turn(self, event: Event) -> Outcome:
        self.holders = {}
        return super()._on_turn(event)


class V8(NaiveEngine):
    """Takes an empty scope for none."""

    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        super().__init__({**config, "scope": config.get("scope") or None}, selectors, rank)


# --- H: hide and show ---


class H1(NaiveEngine):
    """Takes all extensions for one."""

    def _on_hide(self, event: Event) -> Outcome:
        return super()._on_hide({**event, "extension": "all"})

    _on_show = _on_hide


class H2(NaiveEngine):
    """A show never lifts a hide."""

    def _on_show(self, event: Event) -> Outcome:
        return {}


class H3(NaiveEngine):
    """A show lifts everybody's hides."""

    def _on_show(self, event: Event) -> Outcome:
        for extension in {word.extension for word in self.words} | {event["extension"]}:
            super()._on_show({**event, "extension": extension})
        return {}


class H4(NaiveEngine):
    """A show makes visible what is denied or out of scope."""

    def _may(self, caller: Caller, name: str) -> bool:
        shown = any(word.verb == "show" and glob(word.pattern, name) for word in self.boundary.words)
        return shown or super()._may(caller, name)


class H5(NaiveEngine):
    """A hide takes effect at once."""

    def _on_hide(self, event: Event) -> Outcome:
        super()._on_hide(event)
        for caller in self.callers.values():
            self.boundary.words = list(self.words)
            self._make_offer(caller)
        return {}

    _on_show = _on_hide


class H6(NaiveEngine):
    """Hidden tools are found by a search."""

    def _make_offer(self, caller: Caller) -> tuple[Outcome, set[str]]:
        made = super()._make_offer(caller)
        caller.searchable += [tool["name"] for tool in self.boundary.catalog if self._hidden(tool["name"])]
        return made


class H7(NaiveEngine):
    """Hides outlive their extension."""

    def _on_unload(self, event: Event) -> Outcome:
        words = self.words
        super()._on_unload(event)
        self.words = words
        return {}


class H8(NaiveEngine):
    """A search leaves out what was hidden in mid-turn."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        outcome = super()._answer(caller, query, limit)
        return {**outcome, "hits": [name for name in outcome["hits"] if not naive.is_hidden(self.words, name)]}


# --- B: turn boundaries ---


class B1(NaiveEngine):
    """Makes the offer anew for every pass."""

    def _on_pass(self, event: Event) -> Outcome:
        caller = self._caller(event.get("step"))
        self.boundary.catalog = naive.settle_names(self._listed(with_down=False), {})[0]
        self._make_offer(caller)
        return super()._on_pass(event)


class B2(NaiveEngine):
    """Another selector takes over at once."""

    def _on_selector(self, event: Event) -> Outcome:
        super()._on_selector(event)
        self.boundary.selector = self.selector
        for caller in self.callers.values():
            self._make_offer(caller)
        return {}


class B3(NaiveEngine):
    """Permission is that of the boundary."""

    def _may(self, caller: Caller, name: str) -> bool:
        now, self.now = self.now, caller.then[-1]
        try:
            return super()._may(caller, name)
        finally:
            self.now = now


class B4(NaiveEngine):
    def _alive(self, tool: Tool) -> bool:
        return True


class B5(NaiveEngine):
    def _make_offer(self, caller: Caller) -> tuple[Outcome, set[str]]:
        outcome, notices = super()._make_offer(caller)
        listed = [tool["name"] for tool in self.boundary.catalog if tool["name"] in outcome["declared"]]
        return {**outcome, "declared": listed}, notices


class B6(NaiveEngine):
    def _as_had(self, tool: Tool) -> Tool:
        return dict(tool)


class B7(NaiveEngine):
    """Resuming starts the turn anew."""

    def _on_resume(self, event: Event) -> Outcome:
        for caller in self.callers.values():
            caller.found, caller.found_this_pass = set(), set()
        return {}


class B8(NaiveEngine):
    """What was denied once stays denied in this turn."""

    def _on_policy(self, event: Event) -> Outcome:
        super()._on_policy(event)
        for caller in self.callers.values():
            caller.then.append(self.now)
        return {}


class B9(NaiveEngine):
    """Opens a turn or a pass for whoever asks."""

    def _caller(self, step: str | None) -> Caller:
        if None not in self.callers:
            self._on_turn({"op": "turn"})
        return self.callers.get(step, self.callers[None])

    def _in_pass(self, event: Event) -> Caller:
        return self._caller(event.get("step"))


# --- S: selectors ---


class S1(NaiveEngine):
    def _split(self, caller: Caller, told: list[Tool]) -> tuple[set[str], set[str], set[str]]:
        declared, searchable, notices = super()._split(caller, told)
        return (declared, searchable, notices) if self.boundary.selector else (declared | searchable, set(), notices)


class S2(NaiveEngine):
    """Counts a selector's trip only when there is something to search."""

    def _make_offer(self, caller: Caller) -> tuple[Outcome, set[str]]:
        outcome, notices = super()._make_offer(caller)
        return {**outcome, "selector_trips": min(outcome["selector_trips"], len(outcome["searchable"]))}, notices


class S3(NaiveEngine):
    """What a selector leaves out stays searchable."""

    def _split(self, caller: Caller, told: list[Tool]) -> tuple[set[str], set[str], set[str]]:
        declared, _, notices = super()._split(caller, told)
        return declared, {tool["name"] for tool in told} - declared, notices


class S4(NaiveEngine):
    """A deferred tool is never declared."""

    def _split(self, caller: Caller, told: list[Tool]) -> tuple[set[str], set[str], set[str]]:
        declared, searchable, notices = super()._split(caller, told)
        locked = {tool["name"] for tool in told if tool["deferred"]}
        return declared - locked, searchable | (declared & locked), notices


class S5(NaiveEngine):
    """Declares tools.search always."""

    def _make_offer(self, caller: Caller) -> tuple[Outcome, set[str]]:
        outcome, notices = super()._make_offer(caller)
        return {**outcome, "declared": sorted({SEARCH, *outcome["declared"]})}, notices


class S6(NaiveEngine):
    """Registers the ui tools in every session."""

    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        super().__init__({**config, "ui": True}, selectors, rank)


class S7(NaiveEngine):
    """Offers nothing when the selector fails."""

    def _split(self, caller: Caller, told: list[Tool]) -> tuple[set[str], set[str], set[str]]:
        declared, searchable, notices = super()._split(caller, told)
        return (set(), set(), notices) if "selector_failed" in notices else (declared, searchable, notices)


class S8(NaiveEngine):
    def _registered(self, name: str | None) -> str | None:
        return name if name in self.selectors else None


class S9(NaiveEngine):
    """Lets `lazy` go by the flags."""

    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        super().__init__(config, {**selectors, "lazy": deferred}, rank)


# --- Q: searches ---


class Q1(NaiveEngine):
    """Answers declared tools as well."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        outcome = super()._answer(caller, query, limit)
        return {**outcome, "hits": [*outcome["hits"], *outcome["declared_matches"]]}


class Q2(NaiveEngine):
    """A step searches what its turn may see."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        return super()._answer(self.callers[None], query, limit)

    def _may(self, caller: Caller, name: str) -> bool:
        return super()._may(replace(caller, scopes=[], then=caller.then[:1]), name)


class Q3(NaiveEngine):
    """Breaks ties by name alone."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        outcome = super()._answer(caller, query, limit)
        return {**outcome, "hits": sorted(outcome["hits"])}


class Q4(NaiveEngine):
    """Ranks by score alone."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        outcome = super()._answer(caller, query, limit)
        scores = dict(self.rank(query, outcome["hits"]))
        return {**outcome, "hits": sorted(outcome["hits"], key=lambda name: -scores[name])}


class Q5(NaiveEngine):
    """Answers ten unless asked otherwise."""

    def _on_search(self, event: Event) -> Outcome:
        return super()._on_search({"limit": 10, **event})


class Q6(NaiveEngine):
    """Keeps what was found from turn to turn."""

    def _on_turn(self, event: Event) -> Outcome:
        found = {name for caller in self.callers.values() for name in caller.found}
        outcome = super()._on_turn(event)
        self.callers[None].found |= found
        return outcome


class Q7(NaiveEngine):
    def __init__(self, config: dict[str, Any], selectors: Any, rank: Any) -> None:
        super().__init__({**config, "same_pass": "allow"}, selectors, rank)


class Q8(NaiveEngine):
    """Takes a failed search for an empty answer."""

    def _search(self, caller: Caller, arguments: dict[str, Any]) -> Outcome:
        outcome = super()._search(caller, arguments)
        return {**outcome, "verdict": "ok", "reads": "ok"} if outcome["verdict"] == "search_failed" else outcome


class Q9(NaiveEngine):
    """Only the last search counts."""

    def _search(self, caller: Caller, arguments: dict[str, Any]) -> Outcome:
        caller.found, caller.found_this_pass = set(), set()
        return super()._search(caller, arguments)


class Q10(NaiveEngine):
    """Counts the hits for the matches."""

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        outcome = super()._answer(caller, query, limit)
        return {**outcome, "matched": len(outcome["hits"])}


# --- C: calls ---


class C1(NaiveEngine):
    """Tells the model every verdict."""

    def _judge(self, caller: Caller, tool: Tool | None, arguments: dict[str, Any]) -> tuple[str, str]:
        verdict, _ = super()._judge(caller, tool, arguments)
        return verdict, verdict


class C2(NaiveEngine):
    """Permission and servers count as they were at the pass's start."""

    def _on_pass(self, event: Event) -> Outcome:
        self.then = self.now, set(self.down)
        return super()._on_pass(event)

    def _on_call(self, event: Event) -> Outcome:
        if None not in self.callers:
            return super()._on_call(event)
        now, (self.now, self.down) = (self.now, self.down), getattr(self, "then", (self.now, self.down))
        try:
            return super()._on_call(event)
        finally:
            self.now, self.down = now


class C3(NaiveEngine):
    """A refused call counts as a search for its tool."""

    def _on_call(self, event: Event) -> Outcome:
        outcome = super()._on_call(event)
        if outcome["verdict"] == "not_found_yet":
            self._in_pass(event).found_this_pass.add(event["name"])
        return outcome


class C4(NaiveEngine):
    """Suggests the nearest name out of the catalog."""

    text = ""

    def _on_call(self, event: Event) -> Outcome:
        names = [tool["name"] for tool in self.boundary.catalog]
        self.text = f"Did you mean {[name for name in names if name[:-1] == event['name']]}?"
        return super()._on_call(event)


class C5(NaiveEngine):
    """Refuses what it cannot read in a schema."""

    def _judge(self, caller: Caller, tool: Tool | None, arguments: dict[str, Any]) -> tuple[str, str]:
        verdict, reads = super()._judge(caller, tool, arguments)
        broken = tool is not None and re.search("strange|gone|: 7|None", str(tool.get("input_schema")))
        return ("invalid_arguments", "invalid_arguments") if verdict == "ok" and broken else (verdict, reads)


# --- A and T: steps, history ---


class A1(NaiveEngine):
    def _on_step(self, event: Event) -> Outcome:
        return super()._on_step({**event, "scope": None})


class A2(NaiveEngine):
    """Steps and their turn share one found set."""

    def _on_pass(self, event: Event) -> Outcome:
        outcome = super()._on_pass(event)
        found = {name for caller in self.callers.values() for name in caller.found}
        for caller in self.callers.values():
            caller.found = found
        return outcome


class A3(NaiveEngine):
    """A step starts at a boundary of its own."""

    def _on_step(self, event: Event) -> Outcome:
        catalog = naive.settle_names(self._listed(with_down=False), self.holders)[0]
        self.boundary = Boundary(catalog, list(self.words), self.selector, "")
        return super()._on_step(event)


class T1(NaiveEngine):
    """Declares, from the next turn on, what was found."""

    def _on_turn(self, event: Event) -> Outcome:
        found = {name for caller in self.callers.values() for name in caller.found}
        outcome = super()._on_turn(event)
        moved = found & set(outcome["searchable"])
        return {**outcome, "declared": outcome["declared"] + sorted(moved)}


class T2(Q6):
    """Takes what stands in the history for found."""


BROKEN: dict[str, type[NaiveEngine]] = {
    name: kind
    for name, kind in list(globals().items())
    if re.fullmatch(r"[VHBSQCAT]\d+", name) and isinstance(kind, type)
}

if __name__ == "__main__":
    serve(sys.stdin, sys.stdout, twin(BROKEN[sys.argv[1]]))
