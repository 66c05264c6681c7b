"""A deliberately naive engine, written from `docs/semantics.md` alone: sets, lists, loops, no caching.

It exists to be compared with the real engine. Where a rule leaves room, a comment that starts with
`READING` cites the rule and says how it is read here. Core definitions (`tools.search`, `ui.*`) are this
file's own texts: docs/semantics.md gives no bytes for them, so a comparison leaves them out.
"""

from __future__ import annotations

import difflib
import fnmatch
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tests.engine.naive_schema import TYPES, accepts, json_equal
from toolkit.tool import wire_name

Tool = dict[str, Any]
Event = dict[str, Any]
Outcome = dict[str, Any]
Scope = list[str] | None
Policy = list[list[str]]
Selector = Callable[[list[str], dict[str, Any]], Any]
Rank = Callable[[str, list[str]], list[tuple[str, float]]]

SEARCH = "tools.search"
UI = ["ui.show", "ui.hide"]
RESERVED = {SEARCH, *UI, *(wire_name(name) for name in [SEARCH, *UI])}
DEFAULT_LIMIT, MOST_HITS = 5, 20


class IllegalStepError(Exception):
    """The state does not allow this event; nothing was changed (B9)."""


class UnknownSelector(ValueError):
    """A selector name that nothing registered (S8)."""

    def __init__(self, name: str, known: list[str]) -> None:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.0)
        super().__init__(f"unknown selector {name!r}; nearest: {near}; registered: {sorted(known)}")


@dataclass
class Rules:
    """Scopes of session and role, and the policy, as they stood at one moment."""

    session: Scope
    role: Scope
    policy: Policy


@dataclass
class Word:
    """One pattern that an extension hid or showed (H2)."""

    extension: str
    verb: str
    pattern: str
    judged: bool = False


@dataclass
class Boundary:
    """What a turn took over when it started (B1)."""

    catalog: list[Tool]
    words: list[Word]
    selector: str | None
    input: str


@dataclass
class Caller:
    """The main turn or one of its steps: who has an offer, passes and a found set."""

    id: str | None
    parent: str | None
    scopes: list[Scope]
    then: list[Rules]
    declared: list[str] = field(default_factory=list)
    searchable: list[str] = field(default_factory=list)
    found: set[str] = field(default_factory=set)
    found_this_pass: set[str] = field(default_factory=set)
    passes: int = 0

    def offers(self, name: str) -> bool:
        return name in self.declared or name in self.searchable


# --- patterns, scopes, policy, hides -------------------------------------------------------------------------------


def glob(pattern: str, name: str) -> bool:
    return fnmatch.fnmatchcase(name, pattern)  # V4; READING: an unclosed `[` is literal, as in fnmatch.


def in_scope(scope: Scope, name: str) -> bool:
    return scope is None or any(glob(pattern, name) for pattern in scope)  # V8


def policy_verdict(policy: Policy, name: str) -> str:
    verdict = "allow"
    for pattern, says in policy:
        if glob(pattern, name):
            verdict = says
    return verdict


def scopes_allow(rules: Rules, name: str) -> bool:
    return name == SEARCH or (in_scope(rules.session, name) and in_scope(rules.role, name))  # V1


def allows(rules: Rules, name: str) -> bool:
    return scopes_allow(rules, name) and policy_verdict(rules.policy, name) != "deny"


def hides(words: list[Word], extension: str, name: str) -> bool:
    last = "show"
    for word in words:
        if word.extension == extension and glob(word.pattern, name):
            last = word.verb
    return last == "hide"


def is_hidden(words: list[Word], name: str) -> bool:
    return any(hides(words, extension, name) for extension in {word.extension for word in words})


def note(code: str, subject: str = "") -> str:
    # READING (12): with an empty subject (an empty name, an empty pattern) only the code stands.
    return f"{code}:{subject}" if subject else code


# --- catalog -------------------------------------------------------------------------------------------------------


def core_tool(name: str, deferred: bool) -> Tool:
    schema: dict[str, Any] = {"type": "object"}
    return {"name": name, "description": f"Core tool {name}.", "input_schema": schema, "source": "core",
            "deferred": deferred, "annotations": {}}  # fmt: skip


def is_reserved(tool: Tool) -> bool:
    # READING (V5): a tool of source `core` is the host registering that core tool; its wire name is nobody's name.
    return tool["name"] in RESERVED and (tool["source"] != "core" or tool["name"] not in [SEARCH, *UI])


def settle_names(tools: list[Tool], holders: dict[str, str]) -> tuple[list[Tool], set[str]]:
    """Return the tools that stay in the catalog, and a notice for each that does not (V5, V7)."""
    notices = set()
    candidates = []
    for tool in tools:
        if tool["name"] == "":
            notices.add(note("invalid_name"))
        elif is_reserved(tool):
            notices.add(note("reserved_name", tool["name"]))
        else:
            candidates.append(tool)
    rivals: dict[str, list[Tool]] = {}
    for tool in candidates:
        rivals.setdefault(tool["name"], []).append(tool)
    winners = []
    for name, group in rivals.items():
        if len(group) > 1:
            notices.add(note("duplicate_name", name))
        # READING (V7): "the one that held it" is told by its source; among one source's, the first listed.
        winners.append(sorted(group, key=lambda tool: source_rank(tool["source"], holders.get(tool["name"])))[0])
    # READING (V6, V7): only wire names of tools that stay count, and the tool *named* so goes, even if it was first.
    wires = {wire_name(tool["name"]) for tool in winners if wire_name(tool["name"]) != tool["name"]}
    notices |= {note("duplicate_name", tool["name"]) for tool in winners if tool["name"] in wires}
    return [tool for tool in winners if tool["name"] not in wires], notices


def source_rank(source: str, holder: str | None) -> tuple[bool, bool, bool, str]:
    return (source != holder, source != "core", source != "builtin", source)


def definition(tool: Tool) -> dict[str, Any]:
    """Name, description and schema: what B6 calls the definition."""
    told: dict[str, Any] = {"name": tool["name"], "description": tool.get("description") or ""}
    if tool.get("input_schema") is not None:
        told["parameters"] = tool["input_schema"]
    return told


def read_only(tool: Tool) -> bool:
    return (tool.get("annotations") or {}).get("readOnlyHint") is True


# --- search --------------------------------------------------------------------------------------------------------


def words_of(text: str) -> list[str]:
    """Casefolded runs of letters and digits; everything else separates."""
    return "".join(char if char.isalnum() else " " for char in text.casefold()).split()


def last_segment(tool: Tool) -> str:
    # READING (Q4): as `Tool.leaf` has it, an MCP tool's last segment is all that follows `mcp.<server>.`.
    name, prefix = tool["name"], f"mcp.{tool['source'][4:]}."
    if tool["source"].startswith("mcp:") and name.startswith(prefix):
        return str(name[len(prefix) :])
    return str(name.split(".")[-1])


def identifier_words(query: str) -> list[str]:
    """Return the words of a query with a separator between letters or digits, or a capital after a small letter."""
    words = "".join(char if char.isalnum() or char in "_-./:" else " " for char in query).split()
    stripped = [word.strip("_-./:") for word in words]
    humped = [any(a.islower() and b.isupper() for a, b in zip(word, word[1:], strict=False)) for word in stripped]
    return [word for word, hump in zip(stripped, humped, strict=True) if word and (hump or not word.isalnum())]


def is_named(query: str, tool: Tool) -> bool:
    # READING (Q4): a word goes as far as separators stand between letters or digits; the whole of it is the name.
    # READING (Q4): what holds neither letter nor digit names nothing.
    asked = {"".join(words_of(text)) for text in [query, *identifier_words(query)]} - {""}
    # READING (Q4): in a name that a host has flattened (`mcp__git__log`) two underscores part segments too.
    spellings = [tool["name"], wire_name(tool["name"]), last_segment(tool), last_segment(tool).split("__")[-1]]
    return any("".join(words_of(spelling)) in asked for spelling in spellings)


def best_first(query: str, tools: list[Tool], rank: Rank) -> list[str]:
    """Return every name that matches, in the order of Q4 and Q3."""
    scores = {name: score for name, score in rank(query, sorted(tool["name"] for tool in tools)) if score > 0}
    matching = [tool for tool in tools if tool["name"] in scores or is_named(query, tool)]
    keyed = [(not is_named(query, t), -scores.get(t["name"], 0.0), not read_only(t), t["name"]) for t in matching]
    return [name for _, _, _, name in sorted(keyed)]


def valid_search(arguments: dict[str, Any]) -> bool:
    query, limit = arguments.get("query"), arguments.get("limit", DEFAULT_LIMIT)
    # READING (Q5): an explicit null is "not an integer"; true is none either; 2.0 is one, as in JSON Schema.
    return isinstance(query, str) and query.strip() != "" and TYPES["integer"](limit) and limit >= 1


# --- the seed's selectors (S9) -------------------------------------------------------------------------------------


def lazy(names: list[str], info: dict[str, Any]) -> Any:
    declared = [name for name in names if name.startswith("builtin.")]
    return declared, [name for name in names if name not in declared]


SEED_SELECTORS: dict[str, Selector] = {
    "lazy": lazy,
    "builtin-only": lambda names, info: ([name for name in names if name.startswith("builtin.")], []),
    "all": lambda names, info: (list(names), []),
}


def two_lists(answer: Any) -> tuple[list[str], list[str]]:
    """Return (declared, searchable), or raise when the answer is not two lists of names (S7)."""
    # READING (S7): a mapping needs both keys and may have more; a pair is a tuple or list of length two.
    if isinstance(answer, Mapping):
        parts = [answer["declared"], answer["searchable"]]
    elif isinstance(answer, tuple | list):
        parts = list(answer)
    else:
        raise TypeError("neither a mapping nor a pair")
    if len(parts) != 2 or not all(isinstance(part, list | tuple) for part in parts):
        raise TypeError("not two lists")
    if not all(isinstance(name, str) for part in parts for name in part):
        raise TypeError("not names")
    return list(parts[0]), list(parts[1])


# --- the engine ----------------------------------------------------------------------------------------------------


class NaiveEngine:
    """Plays one session, event by event."""

    def __init__(self, config: dict[str, Any], selectors: Mapping[str, Selector], rank: Rank) -> None:
        self.selectors = dict(selectors)
        self.rank = rank
        self.same_pass = config.get("same_pass") or "refuse"
        ui = [core_tool(name, True) for name in UI] if config.get("ui") else []
        self.core = [core_tool(SEARCH, False), *ui]
        self.lists: dict[str, list[Tool]] = {"core": list(self.core)}
        for tool in config.get("tools") or []:
            self.lists.setdefault(tool["source"], []).append(dict(tool))
        self.now = Rules(config.get("scope"), None, config.get("policy") or [])
        self.selector = self._registered(config.get("selector"))
        self.down: set[str] = set()
        self.words: list[Word] = []
        self.holders: dict[str, str] = {}
        self.had: dict[str, dict[str, Any]] = {}
        self.problems: set[str] = set()
        self.pending: set[str] = set()
        self.patterns_to_judge: dict[str, list[str]] = {"session": self.now.session or []}
        self.patterns_to_judge["policy"] = [pattern for pattern, _ in self.now.policy]
        self.boundary = Boundary([], [], None, "")
        self.callers: dict[str | None, Caller] = {}

    def apply(self, event: Event) -> Outcome:
        handler: Callable[[Event], Outcome] = getattr(self, f"_on_{event['op']}")
        return handler(event)

    # --- changes that wait for the boundary (B2) ---

    def _on_hide(self, event: Event) -> Outcome:
        # READING (H7): a hide by an extension that was unloaded before means that it was loaded again.
        self.words += [Word(event["extension"], event["op"], pattern) for pattern in event["patterns"]]
        return {}

    _on_show = _on_hide

    def _on_unload(self, event: Event) -> Outcome:
        # The boundary has its own copy of the words, so the hides go at the next one (H7); the tools go now (B4).
        self.words = [word for word in self.words if word.extension != event["extension"]]
        self.lists[f"extension:{event['extension']}"] = []
        return {}

    def _on_scope(self, event: Event) -> Outcome:
        self.now = replace(self.now, **{event["of"]: event["patterns"]})
        self.patterns_to_judge[event["of"]] = event["patterns"] or []
        return {}

    def _on_policy(self, event: Event) -> Outcome:
        self.now = replace(self.now, policy=event["policy"])
        self.patterns_to_judge["policy"] = [pattern for pattern, _ in event["policy"]]
        return {}

    def _on_selector(self, event: Event) -> Outcome:
        self.selector = self._registered(event["selector"])
        return {}

    def _on_tools_changed(self, event: Event) -> Outcome:
        source = event["source"]
        new = [{**tool, "source": source} for tool in event["tools"]]
        self.pending |= self._schemas_changed(source, new)
        self.lists[source] = [*self.core, *new] if source == "core" else new
        return {}

    def _on_server_down(self, event: Event) -> Outcome:
        self.down.add(event["server"])
        return {}

    def _on_server_up(self, event: Event) -> Outcome:
        self.down.discard(event["server"])
        return {}

    def _on_compaction(self, event: Event) -> Outcome:
        return {}  # Q9

    def _on_resume(self, event: Event) -> Outcome:
        return {}  # B7

    def _registered(self, name: str | None) -> str | None:
        if name is not None and name not in self.selectors:
            raise UnknownSelector(name, list(self.selectors))
        return name

    def _schemas_changed(self, source: str, new: list[Tool]) -> set[str]:
        # READING (B6): noted when it happens in an open turn, for a tool that the turn or an open step offers; a
        # change back before the boundary does not unsay it. Of a doubled name the first listed counts.
        changed = set()
        for told in self.boundary.catalog:
            offered = any(caller.offers(told["name"]) for caller in self.callers.values())
            fresh = [tool for tool in new if tool["name"] == told["name"]]
            same = told["source"] != source or not fresh or json_equal(definition(told), definition(fresh[0]))
            if offered and not same:
                changed.add(note("schema_changed_in_turn", told["name"]))
        return changed

    # --- turns and steps ---

    def _on_turn(self, event: Event) -> Outcome:
        catalog, problems = settle_names(self._listed(with_down=False), self.holders)
        self.holders = {tool["name"]: tool["source"] for tool in catalog}
        catalog = [self._as_had(tool) for tool in catalog]
        self.boundary = Boundary(catalog, list(self.words), self.selector, event.get("input", ""))
        main = Caller(None, None, [], [self.now])
        self.callers = {None: main}
        outcome, notices = self._make_offer(main)
        # READING (12): a name that is left out "arises" once: it is told again only after a boundary without it.
        notices |= self.pending | self._judge_patterns() | (problems - self.problems)
        self.problems, self.pending = problems, set()
        return {**outcome, "notices": sorted(notices)}

    def _on_end_turn(self, event: Event) -> Outcome:
        self._caller(None)  # READING (B9): with no turn open this is the host's error too.
        self.callers = {}
        return {}

    def _on_step(self, event: Event) -> Outcome:
        parent = self._caller(event.get("parent"))
        if event["id"] in self.callers:
            raise IllegalStepError("this step is open")  # READING: the id of a step that has ended may be used again.
        # READING (A3, B8): the boundaries of a step are the main turn's start, its parents' starts and its own: what
        # was denied at any of them is `denied` in this step even when it is allowed again later.
        step = Caller(event["id"], event.get("parent"), [*parent.scopes, event.get("scope")], [*parent.then, self.now])
        self.callers[step.id] = step
        outcome, notices = self._make_offer(step)
        # READING (12): a step has no notices of its own, so they stand in the next turn's; its patterns as well.
        self.pending |= notices
        judged = self.patterns_to_judge.setdefault("steps", [])
        self.patterns_to_judge["steps"] = judged + (event.get("scope") or [])
        return outcome

    def _on_end_step(self, event: Event) -> Outcome:
        self._caller(event["id"])
        ended = {event["id"]}
        for step in list(self.callers.values()):  # A parent stands before its steps.
            if step.id is not None and step.parent in ended:
                ended.add(step.id)
        self.callers = {key: caller for key, caller in self.callers.items() if key not in ended}
        return {}

    def _on_pass(self, event: Event) -> Outcome:
        caller = self._caller(event.get("step"))
        caller.passes += 1
        caller.found |= caller.found_this_pass  # Q6
        caller.found_this_pass = set()
        return {}

    def _caller(self, step: str | None) -> Caller:
        if step not in self.callers:
            raise IllegalStepError("no turn is open" if step is None else f"no step {step!r} is open")
        return self.callers[step]

    def _listed(self, with_down: bool) -> list[Tool]:
        # READING (B4, V7): at a boundary the tools of a server that is down are not in the catalog (`unknown_tool`),
        # and hold no name.
        down = set() if with_down else {f"mcp:{server}" for server in self.down}
        return [tool for source, tools in self.lists.items() if source not in down for tool in tools]

    def _as_had(self, tool: Tool) -> Tool:
        # READING (B6): "the bytes that the session last had" are those of the last boundary whose catalog held this
        # name, from whichever source and offered or not; a definition no boundary saw was never had.
        last = self.had.get(tool["name"])
        if last is None or not json_equal(last, definition(tool)):
            self.had[tool["name"]] = definition(tool)
            return dict(tool)
        return {**tool, "description": last["description"], "input_schema": last.get("parameters")}

    def _judge_patterns(self) -> set[str]:
        # READING (V4, 12): every pattern (scope, policy, hide, show, a step's scope) is judged once, at the first
        # boundary after it was given, if it is still in force there, against the whole new catalog.
        names = [tool["name"] for tool in self.boundary.catalog]
        patterns = [pattern for given in self.patterns_to_judge.values() for pattern in given]
        notices = set()
        for place, word in enumerate(self.words):
            if not word.judged:
                word.judged = True
                patterns.append(word.pattern)
                if word.verb == "show" and self._shows_nothing(place, word, names):
                    notices.add(note("show_no_effect", word.pattern))
        self.patterns_to_judge = {}
        return notices | {note("unmatched_pattern", p) for p in patterns if not any(glob(p, name) for name in names)}

    def _shows_nothing(self, place: int, word: Word, names: list[str]) -> bool:
        # READING (H3): reported when the pattern matches something that another extension hides at this boundary,
        # and lifted no hide of its own extension, not even a hide of the same turn (H8).
        matching = [name for name in names if glob(word.pattern, name)]
        others = [other for other in self.words if other.extension != word.extension]
        lifted = any(hides(self.words[:place], word.extension, name) for name in matching)
        return not lifted and any(is_hidden(others, name) for name in matching)

    # --- the offer ---

    def _make_offer(self, caller: Caller) -> tuple[Outcome, set[str]]:
        told = [t for t in self.boundary.catalog if self._may(caller, t["name"]) and not self._hidden(t["name"])]
        told.sort(key=lambda tool: (tool["source"] != "core", tool["name"]))  # B5
        names = [tool["name"] for tool in told]
        declared, searchable, notices = self._split(caller, told)
        searchable -= {SEARCH}
        declared -= {SEARCH}
        if searchable and SEARCH not in names:
            declared, searchable = declared | searchable, set()
            notices.add("search_unavailable")
        if searchable:
            declared.add(SEARCH)
        caller.declared = [name for name in names if name in declared]
        caller.searchable = sorted(searchable)
        outcome = {
            "declared": list(caller.declared),
            "searchable": list(caller.searchable),
            "withheld": sorted(set(names) - declared - searchable - {SEARCH}),
            "selector_trips": 0 if self.boundary.selector is None else 1,
            "definitions": {t["name"]: json_text(definition(t)) for t in told if t["name"] in declared},
        }
        return outcome, notices

    def _split(self, caller: Caller, told: list[Tool]) -> tuple[set[str], set[str], set[str]]:
        names = [tool["name"] for tool in told]
        deferred = [tool["name"] for tool in told if tool.get("deferred")]
        plain = set(names) - set(deferred)
        if self.boundary.selector is None:
            return plain, set(deferred), set()
        info = {"input": self.boundary.input, "step": caller.id, "deferred": list(deferred)}
        try:
            first, second = two_lists(self.selectors[self.boundary.selector](list(names), info))
        except Exception:
            return plain, set(deferred), {"selector_failed"}
        unknown = {note("selector_unknown_name", name) for name in [*first, *second] if name not in names}
        declared = {name for name in first if name in names}
        return declared, {name for name in second if name in names} - declared, unknown

    def _hidden(self, name: str) -> bool:
        return is_hidden(self.boundary.words, name)

    def _may(self, caller: Caller, name: str) -> bool:
        """Permitted: at every boundary that the caller stands in, and now (B8, V2)."""
        own = name == SEARCH or all(in_scope(scope, name) for scope in caller.scopes)
        return own and all(allows(rules, name) for rules in [*caller.then, self.now])

    # --- calls and searches ---

    def _in_pass(self, event: Event) -> Caller:
        caller = self._caller(event.get("step"))
        if caller.passes == 0:
            raise IllegalStepError("no pass has started")
        return caller

    def _on_call(self, event: Event) -> Outcome:
        caller = self._in_pass(event)
        tool = self._named(event["name"])
        if tool is not None and tool["name"] == SEARCH:
            outcome = self._search(caller, event["arguments"])
            return {"verdict": outcome["verdict"], "reads": outcome["reads"]}
        verdict, reads = self._judge(caller, tool, event["arguments"])
        return {"verdict": verdict, "reads": reads}

    def _on_search(self, event: Event) -> Outcome:
        caller = self._in_pass(event)
        return self._search(caller, {key: event[key] for key in ("query", "limit") if key in event})

    def _named(self, name: str) -> Tool | None:
        for tool in self.boundary.catalog:
            if name == tool["name"] or name == wire_name(tool["name"]):
                return tool
        return None

    def _judge(self, caller: Caller, tool: Tool | None, arguments: dict[str, Any]) -> tuple[str, str]:
        """Return the verdict and what the model reads, in the order of C1."""
        if tool is None:
            return "unknown_tool", "unknown_tool"
        name = tool["name"]
        if not self._may(caller, name):
            # READING (C1, 12): when scope and policy both exclude it now, scope hides the name: `unknown_tool`.
            by_policy = caller.offers(name) and scopes_allow(self.now, name)
            return "denied", "denied" if by_policy else "unknown_tool"
        if not caller.offers(name):
            return "not_offered", "unknown_tool"
        if not self._alive(tool):
            return "unavailable", "unavailable"
        if name not in caller.declared and name not in caller.found:
            return "not_found_yet", "not_found_yet"
        if not (valid_search(arguments) if name == SEARCH else accepts(tool.get("input_schema"), arguments)):
            return "invalid_arguments", "invalid_arguments"
        # READING (12): "ok" and "ask" stand in `reads` where the model reads the result, or nothing yet.
        verdict = "ask" if policy_verdict(self.now.policy, name) == "ask" else "ok"
        return verdict, verdict

    def _alive(self, tool: Tool) -> bool:
        listed = any(one["name"] == tool["name"] for one in self.lists.get(tool["source"], []))
        return listed and tool["source"] not in {f"mcp:{server}" for server in self.down}

    def _search(self, caller: Caller, arguments: dict[str, Any]) -> Outcome:
        # READING (C1): a search under `ask` is not run here (no event confirms it): no hits, nothing found.
        verdict, reads = self._judge(caller, self._named(SEARCH), arguments)
        outcome: Outcome = {"hits": [], "matched": 0, "declared_matches": [], "down": []}
        if verdict == "ok":
            try:
                outcome = self._answer(caller, arguments["query"], arguments.get("limit", DEFAULT_LIMIT))
            except Exception:
                verdict = reads = "search_failed"
        caller.found_this_pass |= set(outcome["hits"])
        if self.same_pass == "allow":
            caller.found |= caller.found_this_pass
        return {"verdict": verdict, "reads": reads, **outcome}

    def _answer(self, caller: Caller, query: str, limit: float) -> Outcome:
        there = [t for t in self.boundary.catalog if self._may(caller, t["name"]) and self._alive(t)]
        matching = best_first(query, [t for t in there if t["name"] in caller.searchable], self.rank)
        # READING (Q10): declared tools are ranked apart, `tools.search` among them.
        declared = best_first(query, [t for t in there if t["name"] in caller.declared], self.rank)
        hits = matching[: min(int(limit), MOST_HITS)]
        return {"hits": hits, "matched": len(matching), "declared_matches": sorted(declared),
                "down": sorted(server for server in self.down if self._tells_down(caller, server))}  # fmt: skip

    def _tells_down(self, caller: Caller, server: str) -> bool:
        # READING (Q10): "would be told" if every server were up: names by V5 and V7, hides of the boundary, permission
        # by B8; "without any scope" means none at the boundaries, now, or of the step.
        if not self.lists.get(f"mcp:{server}"):
            rules = [*caller.then, self.now]
            return all(scope is None for scope in caller.scopes + [s for r in rules for s in (r.session, r.role)])
        everything, _ = settle_names(self._listed(with_down=True), self.holders)
        names = [tool["name"] for tool in everything if tool["source"] == f"mcp:{server}"]
        return any(self._may(caller, name) and not self._hidden(name) for name in names)


def json_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
