"""What a host in another language says to `toolkit selector-server`, and hears: the contract, as records.

`selector-server.schema.json` is made from these records; a test holds the two together.
"""

from __future__ import annotations

from typing import Any

import msgspec

from toolkit.tool import Tool

VERSION = 1
"""The contract's version; another number means that an older host would misread an answer."""


class ToolRow(msgspec.Struct):
    """A tool as a catalog file writes it; `source` is read off the name where it is missing."""

    name: str
    description: str | None = ""
    input_schema: dict[str, Any] | bool | None = None
    source: str | None = None
    deferred: bool = False
    annotations: dict[str, Any] | None = None

    def tool(self) -> Tool:
        """Return the tool; InputError says what is wrong with its schema."""
        return Tool(self.name, self.description, self.input_schema, self.source, self.deferred, self.annotations)


class Client(msgspec.Struct):
    """Who asks, for the log."""

    name: str = ""
    version: str = ""


class Initialize(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `initialize`: the tools, once, and what does not change while the server runs.

    `selector` and `retriever` take the place of the command line's; `model` says whose tokens, prices
    and context window selectors that weigh cost are told of.
    """

    version: int
    tools: list[ToolRow] = []
    client: Client = msgspec.field(default_factory=Client)
    selector: str | None = None
    retriever: str | None = None
    config: dict[str, Any] = {}
    model: str | None = None


class PastTurn(msgspec.Struct, forbid_unknown_fields=True):
    """One turn that is over: its words, the tools it called, the queries it searched, its requests to the model."""

    input: str = ""
    calls: list[str] = []
    searches: list[str] = []
    passes: int = 0


class Select(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `select`: the present and the past of one session, never the turn's own calls.

    `tools`, when given, takes the place of the list of `initialize`. `visible` names what the model may be told,
    after scope, policy and hides; all tools when it is missing. `deadline_ms` bounds the answer.
    """

    tools: list[ToolRow] | None = None
    visible: list[str] | None = None
    turn_no: int = 1
    turn_input: str = ""
    earlier: list[PastTurn] = []
    declared_before: list[str] = []
    searchable_before: list[str] = []
    history_tokens: int = 0
    deadline_ms: float | None = None


class Search(msgspec.Struct, forbid_unknown_fields=True):
    """The parameters of `search`: the query, and the two lists that the host has fixed for this turn.

    Only what is `searchable` is answered; `declared` tools that match are named apart (Q1, Q10).
    """

    query: str
    searchable: list[str]
    declared: list[str] = []
    limit: int = 5
    deadline_ms: float | None = None


class Initialized(msgspec.Struct):
    """The answer of `initialize`; `tools` counts those that are kept, `dropped` names the doubled ones."""

    version: int
    server: Client
    selector: str | None
    retriever: str
    tools: int
    dropped: list[str]


class Selected(msgspec.Struct):
    """The answer of `select`: two disjoint lists in canonical order, and what is on neither (S3, B5).

    Notices are those of section 12; `selector_failed` says that the lists are the split of rule S1 (S7),
    and `detail` why.
    """

    declared: list[str]
    searchable: list[str]
    withheld: list[str]
    notices: list[str]
    detail: str = ""


class Hit(msgspec.Struct):
    """A tool that a search answers, with its score."""

    name: str
    score: float


class Found(msgspec.Struct):
    """The answer of `search`: hits best first, and the facts of Q10; `search_failed` is a notice (Q8)."""

    hits: list[Hit]
    matched: int = 0
    unmatched_words: list[str] = []
    declared_matches: list[str] = []
    notices: list[str] = []
    poor: bool = False
    detail: str = ""


class Described(msgspec.Struct):
    """The answer of `describe`: what runs here, and every selector and retriever that could."""

    version: int
    server: Client
    selector: str | None
    retriever: str
    selectors: list[str]
    retrievers: list[str]
    schema: dict[str, Any]


METHODS: dict[str, tuple[type[Any] | None, type[Any] | None]] = {
    "initialize": (Initialize, Initialized),
    "select": (Select, Selected),
    "search": (Search, Found),
    "describe": (None, Described),
    "shutdown": (None, None),
}
"""Method → the record of its parameters and of its result; None is an empty object."""


def schema() -> dict[str, Any]:
    """Return the contract as a JSON Schema document: the parameters and the result of each method."""
    records = [one for pair in METHODS.values() for one in pair if one is not None]
    made, definitions = msgspec.json.schema_components(records, ref_template="#/$defs/{name}")
    refs = dict(zip(records, made, strict=True))
    empty: dict[str, Any] = {"type": "object", "maxProperties": 0}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "toolkit selector-server",
        "version": VERSION,
        "methods": {
            name: {
                "params": refs.get(asked, empty) if asked else empty,
                "result": refs.get(told, empty) if told else empty,
            }
            for name, (asked, told) in METHODS.items()
        },
        "$defs": definitions,
    }


def schema_text() -> str:
    """Return the contract as the text of its file."""
    return msgspec.json.format(msgspec.json.encode(schema()), indent=2).decode() + "\n"
