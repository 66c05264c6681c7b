"""Sessions that hypothesis makes: turns, parallel calls, searches, compaction, copied context, events of every type."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.builders import BRANCH, LOG, MAIL, TOOLS, event
from toolkit.session import Billed, Call, Event, Message, Pass, Result, Session, Turn
from toolkit.tool import Catalog, Tool

WORDS = st.sampled_from(
    ["", "read the file", "create a branch", "show the log", "send a message", "Grüße, 你好", "a  b\n", "done"]
)
NAMES = st.sampled_from([*(one.name for one in TOOLS), "mcp.gone.nothing", "tools.search", "Builtin.read_file"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.sampled_from(["x", "ü", "<b>"]),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["a", "b"]), inner, max_size=2),
    max_leaves=4,
)
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "name", "query", "limit"]), VALUES, max_size=2)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": WORDS}) | st.just({"type": "image", "source": {}}),
    max_size=2,
).map(tuple)
CONTENT: st.SearchStrategy[Any] = WORDS | PARTS
EXTRA = st.dictionaries(st.sampled_from(["note", "more"]), VALUES, max_size=1)
PATTERN = st.sampled_from(["mcp.*", "mcp.git.*", "builtin.*", "*", "none.*", LOG.name])
PATTERNS = st.one_of(st.just([]), PATTERN.map(lambda one: [one]), st.tuples(PATTERN, PATTERN).map(list))
POLICIES = st.dictionaries(PATTERN, st.sampled_from(["allow", "ask", "deny"]), max_size=2)
CHANGED = Tool(BRANCH.name, "Makes a branch, or moves one.", BRANCH.input_schema)
FLAGGED = Tool(MAIL.name, MAIL.description, MAIL.input_schema, deferred=True)


def _row(one: Tool) -> dict[str, Any]:
    return {
        "name": one.name,
        "description": one.description,
        "input_schema": one.input_schema,
        "deferred": one.deferred,
    }


EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(event, st.sampled_from(["hide", "show"]), extension=st.sampled_from(["a", "b"]), patterns=PATTERNS),
    st.builds(event, st.just("unload"), extension=st.sampled_from(["a", "b"])),
    st.builds(event, st.just("policy"), policy=POLICIES),
    st.builds(event, st.just("scope"), patterns=st.none() | PATTERNS),
    st.builds(event, st.sampled_from(["server_down", "server_up"]), server=st.sampled_from(["git", "mail", "sea"])),
    st.just(event("compaction")),
    st.just(event("tools_changed", removed=[MAIL.name])),
    st.just(event("tools_changed", added=[LOG.name])),
    st.just(event("tools_changed", changed=[_row(CHANGED)])),
    st.just(event("tools_changed", changed=[_row(FLAGGED)])),
    st.just(event("of a kind that nobody knows")),
)  # fmt: skip
RESULTS = st.builds(
    Result,
    content=CONTENT,
    is_error=st.booleans(),
    returned=st.lists(st.sampled_from([one.name for one in TOOLS]), max_size=2).map(tuple),
    extra=EXTRA,
)


@st.composite
def calls(draw: st.DrawFn, most: int = 3) -> tuple[Call, ...]:
    made = []
    for number in range(draw(st.integers(0, most))):
        raw = draw(st.sampled_from([None, None, None, "no { object"]))
        made.append(
            Call(
                id=f"c{number}",
                name=draw(NAMES),
                arguments=draw(ARGUMENTS) if raw is None else {},
                kind=draw(st.sampled_from(["call", "call", "call", "search"])),
                result=draw(st.none() | RESULTS),
                raw_arguments=raw,
                extra=draw(EXTRA),
            )
        )
    return tuple(made)


MESSAGES = st.builds(Message, st.sampled_from(["system", "user", "agent"]), WORDS, calls(most=1))
HISTORY = st.lists(MESSAGES.map(lambda m: m if m.role == "agent" else Message(m.role, m.content)), max_size=2).map(
    tuple
)
OFFERED = st.none() | st.lists(st.sampled_from([one.name for one in TOOLS]), max_size=3, unique=True).map(tuple)
COUNTS = st.none() | st.integers(0, 99)
PASSES = st.builds(
    Pass,
    content=CONTENT,
    reasoning=WORDS,
    calls=calls(),
    usage=st.none() | st.builds(Billed, COUNTS, COUNTS, COUNTS, COUNTS, st.none() | st.floats(0, 1)),
    declared=OFFERED,
    searchable=OFFERED,
    events=st.lists(EVENTS, max_size=1).map(tuple),
    context=HISTORY,
    timestamp=st.sampled_from([None, "2026-03-04T10:00:00Z"]),
    model=st.sampled_from([None, "gpt-5"]),
    requested=st.sampled_from([True, True, True, False]),
    extra=EXTRA,
)
TURNS = st.builds(
    Turn,
    input=CONTENT,
    passes=st.lists(PASSES, max_size=3).map(tuple),
    events=st.lists(EVENTS, max_size=2).map(tuple),
    context=HISTORY,
    timestamp=st.sampled_from([None, "2026-03-04T10:00:00Z"]),
    extra=EXTRA,
)
CATALOGS = st.permutations(TOOLS).map(Catalog)


@st.composite
def sessions(draw: st.DrawFn, id: str = "s") -> Session:
    return Session(
        id=id,
        catalog=draw(CATALOGS),
        turns=tuple(draw(st.lists(TURNS, max_size=4))),
        system=draw(st.sampled_from(["", "You are helpful."])),
        model=draw(st.sampled_from([None, "gpt-5"])),
        agent={"name": "tester", "version": "1", "extra": None},
        definitions=draw(st.sampled_from(["recorded", "joined", "missing"])),
        outcome=draw(st.sampled_from([None, {"success": True}])),
        extra=draw(EXTRA),
    )
