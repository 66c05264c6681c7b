"""Worlds and event sequences for any engine that has `apply`, and the invariants of `docs/semantics.md` section 11.

Small worlds are for walking exhaustively (`test_exhaustive.py`), large ones are drawn by hypothesis (`runs`). A
*run* is a config and its events; a *history* is what `play` returns: (event, outcome) pairs, the config first.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

from tests.engine.naive import SEED_SELECTORS, Event, Outcome, Selector, Tool, glob, policy_verdict, words_of
from tests.engine.naive_schema import json_equal
from toolkit.tool import wire_name

SEARCH = "tools.search"
CORE = {SEARCH, "ui.show", "ui.hide"}
ILLEGAL: Outcome = {"illegal": True}
History = list[tuple[Event, Outcome]]
MakeEngine = Callable[[dict[str, Any], Mapping[str, Selector], Any], Any]


@dataclass
class Run:
    config: dict[str, Any]
    events: list[Event]


# --- ranking and selectors that every engine is given --------------------------------------------------------------


def word_rank(query: str, names: list[str]) -> list[tuple[str, float]]:
    """Count the words that query and name share; no name's score depends on another's. `boom` fails (Q8)."""
    wanted = set(words_of(query))
    if "boom" in wanted:
        raise RuntimeError("the index is broken")
    scores = [(name, float(len(wanted & set(words_of(name))))) for name in names]
    return sorted([(name, score) for name, score in scores if score > 0], key=lambda pair: -pair[1])


def split_by(seed: int) -> Selector:
    """Return a selector that splits names three ways, told by the name alone."""

    def select(names: list[str], info: dict[str, Any]) -> Any:
        parts: list[list[str]] = [[], [], []]
        for name in names:
            parts[zlib.crc32(f"{seed}{name}".encode("utf-8", "surrogatepass")) % 3].append(name)
        return {"declared": parts[0], "searchable": parts[1]}

    return select


def raising(names: list[str], info: dict[str, Any]) -> Any:
    raise RuntimeError("a selector's own error")


def mutating(names: list[str], info: dict[str, Any]) -> Any:
    first = names[: len(names) // 2]
    names.clear()
    info.clear()
    return first, []


def unknown_names(names: list[str], info: dict[str, Any]) -> Any:
    return ["no.such_tool", *names[::2]], [*names[1::2], "mcp.sea.ghost", "no.such_tool"]


SELECTORS: dict[str, Selector] = {
    **SEED_SELECTORS,
    "split1": split_by(1),
    "split2": split_by(2),
    "nothing": lambda names, info: ([], []),
    "search-all": lambda names, info: ([], list(names)),
    "backwards": lambda names, info: (names[::-2], names[-2::-2]),
    "both-lists": lambda names, info: (names[:3], list(names)),
    "duplicates": lambda names, info: (names[:2] * 3, names[2:] * 2),
    "tuples": lambda names, info: (tuple(names[:1]), tuple(names[1:])),
    "unknown": unknown_names,
    "mutating": mutating,
    "raising": raising,
    "returns-sets": lambda names, info: (set(names), set()),
    "returns-generators": lambda names, info: (iter(names), iter(())),
    "returns-none": lambda names, info: None,
    "returns-texts": lambda names, info: ("ab", "cd"),
    "returns-numbers": lambda names, info: ([1, 2], names),
    "returns-three": lambda names, info: (names, [], []),
    "returns-one-key": lambda names, info: {"declared": names},
}


# --- playing -------------------------------------------------------------------------------------------------------


def apply(engine: Any, event: Event) -> Outcome:
    """Apply one event; an `IllegalStepError` of any engine is the outcome `ILLEGAL`."""
    try:
        outcome: Outcome = engine.apply(event)
    except Exception as error:
        if type(error).__name__ != "IllegalStepError":
            raise
        return dict(ILLEGAL)
    return outcome


def play(make: MakeEngine, run: Run) -> History:
    engine = make(run.config, SELECTORS, word_rank)
    start: History = [({"op": "start", "config": run.config}, {})]
    return start + [(event, apply(engine, event)) for event in run.events]


def comparable(outcome: Outcome) -> Outcome:
    """Return the outcome without the core tools' definitions, whose bytes docs/semantics.md leaves open."""
    plain = dict(outcome)
    if "definitions" in plain:
        plain["definitions"] = {n: as_text(d) for n, d in plain["definitions"].items() if n not in CORE}
    if "notices" in plain:
        plain["notices"] = sorted(notice.rstrip(":") for notice in plain["notices"])
    return plain


def first_difference(one: History, other: History) -> str | None:
    """Tell where two histories of one run part, or None."""
    for place, ((event, a), (_, b)) in enumerate(zip(one, other, strict=True)):
        if comparable(a) != comparable(b) and not is_open(event, a, b):
            return f"event {place}: {event}\n  one:   {comparable(a)}\n  other: {comparable(b)}"
    return None


def is_open(event: Event, a: Outcome, b: Outcome) -> bool:
    """Tell whether two outcomes differ only by what `ui.*` accepts: docs/semantics.md gives those tools no schema."""
    if event["op"] != "call" or event["name"].replace("_", ".") not in CORE - {SEARCH}:
        return False
    return {a.get("verdict"), b.get("verdict")} <= {"ok", "ask", "invalid_arguments"}


def as_text(definition: Any) -> str:
    if isinstance(definition, str):
        return definition
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"))


# --- (a) small worlds, exhaustively --------------------------------------------------------------------------------


def tool(name: str, source: str, deferred: bool = False, **more: Any) -> Tool:
    schema = {"type": "object", "properties": {"bay": {"type": "integer"}}}
    plain = {"name": name, "description": "", "input_schema": schema, "source": source, "deferred": deferred}
    return {**plain, "annotations": {}, **more}


READ = tool("builtin.read", "builtin")
OPEN = tool("mcp.sea.open", "mcp:sea", deferred=True)
LOG = tool("mcp.sea.log", "mcp:sea", deferred=True, annotations={"readOnlyHint": True})
OPEN_CHANGED = {**OPEN, "input_schema": {"type": "object", "required": ["bay"]}}
SMALL_TOOLS = [READ, OPEN, LOG]

# Each letter of the alphabet is one or two events, so that short words already reach a call.
SMALL_ALPHABET: dict[str, list[Event]] = {
    "turn": [{"op": "turn", "input": ""}, {"op": "pass", "step": None}],
    "search": [{"op": "search", "step": None, "query": "sea open"}],
    "search+pass": [{"op": "search", "step": None, "query": "mcp", "limit": 1}, {"op": "pass", "step": None}],
    "call open": [{"op": "call", "step": None, "name": "mcp.sea.open", "arguments": {}}],
    "call read": [{"op": "call", "step": None, "name": "builtin.read", "arguments": {}}],
    "hide e": [{"op": "hide", "extension": "e", "patterns": ["mcp.*"]}],
    "show e": [{"op": "show", "extension": "e", "patterns": ["mcp.sea.open"]}],
    "hide f": [{"op": "hide", "extension": "f", "patterns": ["mcp.sea.open"]}],
    "unload f": [{"op": "unload", "extension": "f"}],
    "deny": [{"op": "policy", "policy": [["mcp.sea.open", "deny"]]}],
    "permit": [{"op": "policy", "policy": []}],
    "narrow": [{"op": "scope", "of": "session", "patterns": ["builtin.*"]}],
    "widen": [{"op": "scope", "of": "session", "patterns": None}],
    "narrow role": [{"op": "scope", "of": "role", "patterns": ["mcp.*"]}],
    "list short": [{"op": "tools_changed", "source": "mcp:sea", "tools": [LOG]}],
    "list changed": [{"op": "tools_changed", "source": "mcp:sea", "tools": [OPEN_CHANGED, LOG]}],
    "down": [{"op": "server_down", "server": "sea"}],
    "up": [{"op": "server_up", "server": "sea"}],
}


def small_configs() -> Iterator[dict[str, Any]]:
    """Every small world: three tools, with and without a selector, lenient or not."""
    for selector, same_pass, ui in itertools.product([None, "lazy", "all"], ["refuse", "allow"], [False, True]):
        yield {"tools": SMALL_TOOLS, "scope": None, "policy": [], "selector": selector, "ui": ui,
               "same_pass": same_pass}  # fmt: skip


# --- (b) random worlds ---------------------------------------------------------------------------------------------

SERVERS = ["sea", "dock", "github", "tools", "a.b"]
EXTENSIONS = ["e", "f"]
ODD_NAMES = [
    "", "tools.search", "tools_search", "ui.show", "ui_hide", "Tools.Search", "mcp__sea__read_log", "sea read",
    "ünï.çode", "a/b/c", "x[1]", "x*", "$", "emoji.\U0001f980", "line\nbreak", "builtin.read_file",
    "builtin.read__file", "builtin__read_file", "mcp.sea.read_log", "mcp.dock.read_log", "l" * 70,
    "mcp.sea." + "long_" * 14, "a.b.", "UPPER.Case",
]  # fmt: skip
VERBS = ["read", "open", "create", "list", "delete", "get"]
NOUNS = ["log", "file", "issue", "gate", "user"]
SCHEMAS: list[Any] = [
    None,
    {},
    True,
    {"type": "object", "properties": {"bay": {"type": "integer"}}, "required": ["bay"]},
    {"type": "object", "properties": {"bay": {"type": "integer", "minimum": 1, "maximum": 9}}},
    {"type": "object", "properties": {"mode": {"enum": ["slow", 1, None]}}, "additionalProperties": False},
    {"type": "object", "properties": {"tags": {"type": "array", "items": {"type": "string"}, "minItems": 1}}},
    {"type": "object", "properties": {"bay": {"$ref": "#/$defs/bay"}}, "$defs": {"bay": {"type": ["integer", "null"]}}},
    {"type": "object", "properties": {"bay": {"$ref": "#/$defs/gone"}}},
    {"type": "object", "properties": {"bay": {"anyOf": [{"type": "string"}, {"const": 1}]}}},
    {"properties": {"bay": {"oneOf": [{"type": "number"}, {"type": "integer"}]}, "mode": {"type": "strange"}}},
    {"allOf": [{"required": ["bay"]}, {"properties": {"bay": {"type": "boolean"}}}]},
]
ARGUMENTS: list[dict[str, Any]] = [
    {}, {"bay": 1}, {"bay": 12}, {"bay": "x"}, {"bay": None}, {"bay": True}, {"bay": 1.5}, {"mode": "slow"},
    {"mode": 1}, {"mode": "fast", "x": 0}, {"tags": []}, {"tags": ["a"]}, {"tags": [1]},
]  # fmt: skip
LIMITS: list[Any] = [1, 2, 3, 20, 100, 0, -1, True, 2.5, "3", None]
QUERIES: list[Any] = [
    "read",
    "log file",
    "mcp",
    "zzz qqq",
    "",
    "  ",
    "boom",
    "mcp sea",
    "mcp",
    5,
    None,
    "READ-LOG please",
    "readlog",
    "ui",
]
PATTERNS = ["*", "mcp.*", "mcp.sea.*", "mcp.dock.*", "builtin.*", "*read*", "*_log", "mcp.?ea.*", "[a-m]*", "[!m]*",
            "zzz.*", "tools.search", "tools.*", "ui.*", "", "[", "x[[]1]", "*file*", "ext.*"]  # fmt: skip


def source_for(name: str, choice: int) -> str:
    """Return a source that fits the name, or, for odd names, any."""
    for server in SERVERS:
        if name.startswith(f"mcp.{server}."):
            return f"mcp:{server}"
    if name.startswith("ext."):
        return f"extension:{name.split('.')[1]}"
    if name.startswith("builtin."):
        return "builtin"
    return ["builtin", "mcp:sea", "mcp:dock", "extension:e", "extension:f"][choice % 5]


def reordered(value: Any) -> Any:
    """Return the same JSON value with the keys of every object backwards."""
    if isinstance(value, dict):
        return {key: reordered(value[key]) for key in reversed(list(value))}
    return [reordered(item) for item in value] if isinstance(value, list) else value


def regular_names(servers: list[str]) -> list[str]:
    heads = ["builtin", *(f"mcp.{server}" for server in servers), *(f"ext.{extension}" for extension in EXTENSIONS)]
    return [f"{head}.{verb}_{noun}" for head in heads for verb in VERBS for noun in NOUNS]


@st.composite
def tools(draw: st.DrawFn, names: st.SearchStrategy[str]) -> Tool:
    name = draw(names)
    return {
        "name": name,
        "description": draw(st.sampled_from(["", "reads a log", "opens the gate"])),
        "input_schema": draw(st.sampled_from(SCHEMAS)),
        "source": source_for(name, draw(st.integers(0, 4))),
        "deferred": draw(st.booleans()),
        "annotations": draw(st.sampled_from([{}, {"readOnlyHint": True}, {"readOnlyHint": False}, None])),
    }


def many_tools(seed: int, count: int) -> list[Tool]:
    """A large list, drawn from one number: cheap for hypothesis, the same for every engine."""
    chance = random.Random(seed)
    drawn = []
    for place in range(count):
        server = chance.choice(SERVERS)
        name = chance.choice([
            f"mcp.{server}.{chance.choice(VERBS)}_{chance.choice(NOUNS)}_{place}",
            f"mcp.{server}.{chance.choice(VERBS)}_{chance.choice(NOUNS)}",
            f"builtin.{chance.choice(VERBS)}_{place}",
            chance.choice(ODD_NAMES),
        ])  # fmt: skip
        drawn.append({
            "name": name, "description": chance.choice(["", "reads", "opens"]), "input_schema": chance.choice(SCHEMAS),
            "source": source_for(name, chance.randrange(5)), "deferred": chance.random() < 0.6,
            "annotations": {"readOnlyHint": chance.random() < 0.5},
        })  # fmt: skip
    return drawn


@st.composite
def tool_lists(draw: st.DrawFn, big: bool = True) -> list[Tool]:
    names = st.sampled_from(regular_names(SERVERS[:2])) | st.sampled_from(ODD_NAMES)
    listed = draw(st.lists(tools(names), max_size=10))
    if big and draw(st.integers(0, 9)) == 9:
        listed += many_tools(draw(st.integers(0, 999)), draw(st.sampled_from([40, 120, 300])))
    return listed


patterns = st.lists(st.sampled_from(PATTERNS), max_size=3)
scopes = st.none() | patterns
policies = st.lists(
    st.tuples(st.sampled_from(PATTERNS), st.sampled_from(["allow", "ask", "deny"])).map(list), max_size=3
)


@st.composite
def configs(draw: st.DrawFn, big: bool = True) -> dict[str, Any]:
    rarely = st.integers(0, 3).map(lambda dice: dice == 3)
    return {
        "tools": draw(tool_lists(big)),
        "scope": draw(scopes) if draw(rarely) else None,
        "policy": draw(policies) if draw(rarely) else [],
        "selector": draw(st.none() | st.sampled_from(sorted(SELECTORS))),
        "ui": draw(st.booleans()),
        "same_pass": draw(st.sampled_from(["refuse", "refuse", "allow"])),
    }


@dataclass
class Draft:
    """What the event strategy remembers, so that most events are legal and many hit something."""

    lists: dict[str, list[Tool]]
    turn: bool = False
    passed: set[str | None] = field(default_factory=set)
    steps: list[str] = field(default_factory=list)
    count: int = 0

    def names(self) -> list[str]:
        return [one["name"] for listed in self.lists.values() for one in listed] + [*sorted(CORE), "no.such"]


KINDS = (
    ["turn"] * 5 + ["pass"] * 3 + ["find"] * 7 + ["search"] * 5 + ["call"] * 8 + ["hide"] * 3 + ["show"] * 3
    + ["scope"] * 2 + ["policy"] * 3 + ["selector"] * 2 + ["tools_changed"] * 6 + ["server_down"] * 2
    + ["server_up"] * 3 + ["step"] * 3 + ["end_step"] + ["nest"] * 2 + ["takeover"] * 2 + ["reshow"] * 2
    + ["unload", "compaction", "resume", "end_turn", "illegal"]
)  # fmt: skip


@st.composite
def event_lists(draw: st.DrawFn, config: dict[str, Any], most: int = 60) -> list[Event]:
    draft = Draft({})
    for one in config["tools"]:
        draft.lists.setdefault(one["source"], []).append(one)
    events: list[Event] = []
    for _ in range(draw(st.integers(1, most))):
        events += draw_events(draw, draft, draw(st.sampled_from(KINDS)))
        if len(events) >= most:
            break
    return events[:most]


def draw_events(draw: st.DrawFn, draft: Draft, kind: str) -> list[Event]:
    if kind == "turn":
        draft.turn, draft.steps, draft.passed = True, [], set()
        return [{"op": "turn", "input": draw(st.sampled_from(["", "read the log"]))}]
    if kind in ("pass", "find", "search", "call", "step"):
        return draw_in_turn(draw, draft, kind)
    if kind == "illegal":
        return [draw_illegal(draw)]
    if kind in ("nest", "takeover", "reshow"):
        return draw_scene(draw, draft, kind)
    if kind == "end_turn":
        was_open, draft.turn, draft.steps, draft.passed = draft.turn, False, [], set()
        return [{"op": "end_turn"}] if was_open else []
    if kind == "end_step":
        # The draft keeps the steps inside the ended one: events of those are then illegal, which is wanted at times.
        return [{"op": "end_step", "id": draft.steps.pop()}] if draft.steps else []
    return [draw_change(draw, draft, kind)]


def draw_in_turn(draw: st.DrawFn, draft: Draft, kind: str) -> list[Event]:
    before = [] if draft.turn else draw_events(draw, draft, "turn")
    step = draw(st.sampled_from([None, None, *draft.steps]))
    if kind == "step":
        draft.count += 1
        draft.steps.append(f"s{draft.count}")
        return [*before, {"op": "step", "id": f"s{draft.count}", "parent": step, "scope": draw(scopes)}]
    if kind == "pass" or step not in draft.passed:
        before.append({"op": "pass", "step": step})
        draft.passed.add(step)
    name = draw(st.sampled_from(draft.names()))
    spelled = draw(st.sampled_from([name, name, wire_name(name), name.upper()]))
    call = {"op": "call", "step": step, "name": spelled, "arguments": draw(st.sampled_from(ARGUMENTS))}
    search: Event = {"op": "search", "step": step, "query": name}
    if kind == "search":
        search["query"] = draw(st.sampled_from([name, name.split(".")[-1], wire_name(name)]) | st.sampled_from(QUERIES))
        if draw(st.booleans()):
            search["limit"] = draw(st.sampled_from(LIMITS))
    between = [{"op": "pass", "step": step}] if draw(st.booleans()) else []
    chosen = {"pass": [], "search": [search], "call": [call], "find": [search, *between, call]}[kind]
    return [*before, *chosen]


def draw_scene(draw: st.DrawFn, draft: Draft, kind: str) -> list[Event]:
    """Draw a few events that seldom come together by chance."""
    name = draw(st.sampled_from(draft.names()))
    if kind == "takeover":  # A tool under a name that another source may hold (V7).
        source = draw(st.sampled_from(["mcp:aaa", "mcp:sea", "mcp:zzz"]))
        draft.lists.setdefault(source, []).append({**tool(name, source), "description": f"of {source}"})
        change: Event = {"op": "tools_changed", "source": source, "tools": list(draft.lists[source])}
        return [change, *draw_events(draw, draft, "turn")]
    if kind == "reshow":  # A hide that is lifted in mid-turn, before a step (A3, H5).
        word = {"extension": draw(st.sampled_from(EXTENSIONS)), "patterns": [name]}
        turn = draw_events(draw, draft, "turn")
        return [{"op": "hide", **word}, *turn, {"op": "show", **word}, *draw_in_turn(draw, draft, "step")]
    before = draw_in_turn(draw, draft, "step")
    outer, inner = draft.steps[-1], f"{draft.steps[-1]}.in"
    ending = draw(st.sampled_from([[], [], [{"op": "end_step", "id": outer}]]))
    call = {"op": "call", "step": inner, "name": name, "arguments": {}}
    step = {"op": "step", "id": inner, "parent": outer, "scope": draw(st.none() | scopes)}
    return [*before, step, {"op": "pass", "step": inner}, *ending, call]


def draw_illegal(draw: st.DrawFn) -> Event:
    """Draw an event of a step that never was: illegal in every state."""
    return draw(st.sampled_from([
        {"op": "pass", "step": "never"},
        {"op": "call", "step": "never", "name": "builtin.read", "arguments": {}},
        {"op": "search", "step": "never", "query": "read"},
        {"op": "step", "id": "lost", "parent": "never", "scope": None},
        {"op": "end_step", "id": "never"},
    ]))  # fmt: skip


def draw_change(draw: st.DrawFn, draft: Draft, kind: str) -> Event:
    extension = draw(st.sampled_from(EXTENSIONS))
    server = draw(st.sampled_from(["sea", "dock", "unheard"]))
    if kind in ("hide", "show"):
        exact = st.lists(st.sampled_from(draft.names()), min_size=1, max_size=2)
        return {"op": kind, "extension": extension, "patterns": draw(patterns | exact)}
    if kind == "unload":
        draft.lists[f"extension:{extension}"] = []
        return {"op": kind, "extension": extension}
    if kind == "scope":
        return {"op": kind, "of": draw(st.sampled_from(["session", "role"])), "patterns": draw(scopes)}
    if kind == "policy":
        return {"op": kind, "policy": draw(policies)}
    if kind == "selector":
        return {"op": kind, "selector": draw(st.none() | st.sampled_from(sorted(SELECTORS)))}
    if kind in ("server_down", "server_up"):
        return {"op": kind, "server": server}
    if kind == "tools_changed":
        return draw_list(draw, draft)
    return {"op": kind}


def draw_list(draw: st.DrawFn, draft: Draft) -> Event:
    """Draw a source's new full list, made from the one it has."""
    # An extension's list is left to `unload`, a builtin one may change.
    sources = [source for source in draft.lists if not source.startswith("extension:")]
    source = draw(st.sampled_from(sorted({*sources, "mcp:sea"})))
    new = [dict(one) for one in draft.lists.get(source, [])]
    how = draw(
        st.sampled_from(["reorder", "reorder", "drop", "alter", "alter", "describe", "add", "turn", "clear", "flag"])
    )
    place = draw(st.integers(0, max(0, len(new) - 1)))
    if how == "reorder":
        new = [{**one, "input_schema": reordered(one["input_schema"])} for one in new]
    elif how == "add" or not new:
        name = draw(st.sampled_from(regular_names(["sea", "dock"])) | st.sampled_from(ODD_NAMES))
        new.append({**tool(name, source), "deferred": draw(st.booleans())})
    elif how == "alter":
        new[place]["input_schema"] = draw(st.sampled_from(SCHEMAS))
    elif how == "describe":
        new[place]["description"] += "!"
    elif how == "flag":
        new[place]["deferred"] = not new[place]["deferred"]
    elif how == "drop":
        new.pop(place)
    else:
        new = new[::-1] if how == "turn" else []
    draft.lists[source] = new
    return {"op": "tools_changed", "source": source, "tools": new}


@st.composite
def runs(draw: st.DrawFn, most: int = 60, big: bool = True) -> Run:
    """Random worlds with random event sequences of up to `most` events."""
    config = draw(configs(big))
    return Run(config, draw(event_lists(config, most)))


# --- the invariants of section 11 ----------------------------------------------------------------------------------


class Ledger:
    """Follows the events of a history, to tell what may be offered at each moment."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.lists: dict[str, list[Tool]] = {}
        for one in config["tools"]:
            self.lists.setdefault(one["source"], []).append(one)
        self.rules: dict[str, Any] = {"session": config["scope"], "role": None, "policy": config["policy"]}
        self.selector = config["selector"]
        self.words: list[tuple[str, str, str]] = []
        self.down: set[str] = set()
        self.plain = config["scope"] is None and not config["policy"]
        self.names_then: set[str] = set()
        self.words_then: list[tuple[str, str, str]] = []
        self.rules_then: dict[str, Any] = dict(self.rules)
        self.selector_then = self.selector
        self.scopes: dict[str | None, list[Any]] = {}
        self.offers: dict[str | None, Outcome] = {}
        self.passes: dict[str | None, int] = {}
        self.answered: dict[str | None, list[tuple[int, str]]] = {}

    def fork(self) -> Ledger:
        """Copy every container that is changed in place."""
        fork = copy.copy(self)
        fork.lists, fork.rules, fork.words, fork.down = dict(self.lists), dict(self.rules), [*self.words], {*self.down}
        fork.scopes, fork.offers, fork.passes = dict(self.scopes), dict(self.offers), dict(self.passes)
        fork.answered = {caller: [*names] for caller, names in self.answered.items()}
        return fork

    def core(self) -> set[str]:
        return CORE if self.config["ui"] else {SEARCH}

    def live(self) -> list[Tool]:
        down = {f"mcp:{server}" for server in self.down}
        return [one for source, listed in self.lists.items() if source not in down for one in listed]

    def follow(self, event: Event, outcome: Outcome) -> None:
        op = event["op"]
        if op in ("hide", "show"):
            self.words += [(event["extension"], op, pattern) for pattern in event["patterns"]]
        elif op == "unload":
            self.words = [word for word in self.words if word[0] != event["extension"]]
            self.lists[f"extension:{event['extension']}"] = []
        elif op == "scope":
            self.rules[event["of"]] = event["patterns"]
        elif op == "policy":
            self.rules["policy"] = event["policy"]
        elif op == "selector":
            self.selector = event["selector"]
        elif op == "tools_changed":
            self.lists[event["source"]] = event["tools"]
        elif op == "server_down":
            self.down.add(event["server"])
        elif op == "server_up":
            self.down.discard(event["server"])
        self.plain = self.plain and op not in ("hide", "show", "scope", "policy")
        self.follow_turn(event, outcome)

    def follow_turn(self, event: Event, outcome: Outcome) -> None:
        op = event["op"]
        if op == "turn":
            self.names_then = {one["name"] for one in self.live()} | self.core()
            self.words_then, self.rules_then, self.selector_then = list(self.words), dict(self.rules), self.selector
            self.open(None, [], outcome)
        elif op == "step":
            self.open(event["id"], [*self.scopes[event["parent"]], event["scope"]], outcome)
        elif op == "pass":
            self.passes[event["step"]] += 1
        elif op == "search":
            now = self.passes[event["step"]]
            self.answered[event["step"]] += [(now, name) for name in outcome["hits"]]

    def open(self, caller: str | None, scopes: list[Any], outcome: Outcome) -> None:
        if caller is None:
            self.scopes, self.offers, self.passes, self.answered = {}, {}, {}, {}
        self.scopes[caller], self.offers[caller] = scopes, outcome
        self.passes[caller], self.answered[caller] = 0, []

    def visible(self, caller: str | None, name: str, rules: dict[str, Any]) -> bool:
        limits = [rules["session"], rules["role"], *self.scopes[caller]]
        inside = all(limit is None or any(glob(pattern, name) for pattern in limit) for limit in limits)
        return (name == SEARCH or inside) and policy_verdict(rules["policy"], name) != "deny"

    def hidden(self, name: str) -> bool:
        last = {}
        for extension, verb, pattern in self.words_then:
            if glob(pattern, name):
                last[extension] = verb
        return "hide" in last.values()


def check_invariants(history: History) -> None:
    """Check invariants 1 to 7 over a history that `play` made (`check_replay` is the eighth)."""
    checker = Checker(Ledger(history[0][0]["config"]))
    for event, outcome in history[1:]:
        checker.see(event, outcome)


@dataclass
class Checker:
    """Checks invariants 1 to 7 event by event."""

    ledger: Ledger
    told: dict[str, str] = field(default_factory=dict)

    def fork(self) -> Checker:
        return Checker(self.ledger.fork(), self.told)

    def see(self, event: Event, outcome: Outcome) -> None:
        if outcome == ILLEGAL:
            return
        ledger, op = self.ledger, event["op"]
        ledger.follow(event, outcome)
        if op in ("turn", "step"):
            caller = event["id"] if op == "step" else None
            check_offer(ledger, caller, outcome)
            check_default(ledger, caller, outcome)
        if op == "turn":
            check_bytes(self.told, outcome)
            self.told = {name: as_text(text) for name, text in outcome["definitions"].items()}
        if op == "pass" and event["step"] is None and "definitions" in outcome:
            assert self.told == {n: as_text(d) for n, d in outcome["definitions"].items()}, "invariant 2"
        if op == "search":
            check_search(ledger, event["step"], outcome)
        if op == "call" and outcome["verdict"] in ("ok", "ask"):
            check_executed(ledger, event)


def check_offer(ledger: Ledger, caller: str | None, outcome: Outcome) -> None:
    declared, searchable, withheld = outcome["declared"], outcome["searchable"], outcome["withheld"]
    told = [*declared, *searchable, *withheld]
    assert len(told) == len(set(told)), "invariant 1: the lists are disjoint, without doubles"
    for name in told:
        assert name in ledger.names_then, f"invariant 1: {name!r} is not in the catalog"
        assert ledger.visible(caller, name, ledger.rules), f"invariants 1 and 4: {name!r} is not visible"
        assert ledger.visible(caller, name, ledger.rules_then), f"A3, B8: {name!r} was not visible at the boundary"
        assert not ledger.hidden(name), f"invariants 1 and 4: {name!r} is hidden"
    assert declared == sorted(declared, key=lambda name: (name not in ledger.core(), name)), "B5: canonical order"
    assert searchable == sorted(searchable) and withheld == sorted(withheld)
    assert (SEARCH in declared) == bool(searchable), "S5"
    assert SEARCH not in searchable and SEARCH not in withheld, "S5"
    assert set(outcome["definitions"]) == set(declared)
    assert outcome["selector_trips"] == (ledger.selector_then is not None), "S2"
    notices = outcome.get("notices", [])
    assert len(notices) == len(set(notices)), "12: no notice stands twice"


def check_default(ledger: Ledger, caller: str | None, outcome: Outcome) -> None:
    """Invariant 7, for the tools whose names raise no question."""
    if ledger.selector_then is not None or not ledger.plain or any(ledger.scopes[caller]) or caller is not None:
        return
    live = ledger.live()
    names = [one["name"] for one in live]
    wires = {wire_name(name) for name in names if wire_name(name) != name}
    for one in live:
        name = one["name"]
        clear = name and names.count(name) == 1 and name not in wires and name not in CORE
        if clear and name not in {wire_name(core) for core in CORE}:
            assert name in outcome["searchable" if one["deferred"] else "declared"], f"invariant 7: {name!r}"
    assert outcome["withheld"] == [], "invariant 7"


def check_bytes(before: dict[str, str], outcome: Outcome) -> None:
    for name, told in outcome["definitions"].items():
        text = as_text(told)
        if before.get(name, text) != text and json_equal(json.loads(before[name]), json.loads(text)):
            raise AssertionError(f"invariant 3: the bytes of {name!r} changed, its value did not")


def check_search(ledger: Ledger, caller: str | None, outcome: Outcome) -> None:
    hits = outcome["hits"]
    assert len(hits) == len(set(hits)) <= outcome["matched"] if hits else True
    live = {one["name"] for one in ledger.live()} | ledger.core()
    for name in [*hits, *outcome["declared_matches"]]:
        assert ledger.visible(caller, name, ledger.rules), f"invariant 6: {name!r} is not visible"
        assert ledger.visible(caller, name, ledger.rules_then), f"B3: {name!r} was widened in mid-turn"
        assert name in live, f"B4: {name!r} is gone"
    assert set(hits) <= set(ledger.offers[caller]["searchable"]), "invariant 6"
    assert set(outcome["declared_matches"]) <= set(ledger.offers[caller]["declared"]), "Q10"
    assert set(outcome["down"]) <= ledger.down, "Q10"
    assert outcome["verdict"] == "ok" or not (hits or outcome["matched"]), "only an `ok` search answers"


def check_executed(ledger: Ledger, event: Event) -> None:
    caller, name = event["step"], event["name"]
    lenient = ledger.config["same_pass"] == "allow"
    earlier = ledger.passes[caller] + (1 if lenient else 0)
    found = [one for place, one in ledger.answered[caller] if place < earlier]
    callable_names = [*ledger.offers[caller]["declared"], *found]
    assert any(name in (one, wire_name(one)) for one in callable_names), f"invariant 5: {name!r} was never found"


def check_replay(make: MakeEngine, history: History) -> None:
    """Invariant 8: the recorded events give the same history."""
    again = play(make, Run(history[0][0]["config"], [event for event, _ in history[1:]]))
    difference = first_difference(history, again)
    assert difference is None, f"invariant 8: {difference}"
