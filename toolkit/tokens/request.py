"""What a token counter is asked and what it answers, whichever provider, API or model it is for."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from toolkit.tool import Tool, wire_name

METHODS = ("billed", "exact-rules", "calibrated", "estimate", "not countable")
"""How a count was made, from the strongest to the weakest.

`exact-rules`: the bill is a function of the request, and its rules are known. `calibrated`: fitted, the band holds nine
bills of ten. `estimate`: the serving template is not known. `not countable`: the bill is no function of the request,
for something runs within the pass or lies on the server; the count is a lower bound, and there is no upper one.
"""


@dataclass(frozen=True, slots=True)
class Count:
    """A number of tokens, how it was made, and a band that should hold the bill; `high` None where nothing bounds it.

    A sum has the weaker of the two methods, and the sum of the bands.

    >>> Count(10, "exact-rules", 10, 10) + Count(5, "estimate", 4, 8)
    Count(tokens=15, method='estimate', low=14, high=18)
    """

    tokens: int
    method: str
    low: int
    high: int | None

    def __add__(self, other: Count) -> Count:
        method = max(self.method, other.method, key=METHODS.index)
        high = None if self.high is None or other.high is None else self.high + other.high
        return Count(self.tokens + other.tokens, method, self.low + other.low, high)

    def covers(self, billed: int) -> bool:
        return self.low <= billed and (self.high is None or billed <= self.high)


def exact(tokens: int) -> Count:
    """A count by the provider's own rules: no band."""
    return Count(tokens, "exact-rules", tokens, tokens)


def at_least(tokens: int) -> Count:
    """A lower bound of what nobody can count from the request."""
    return Count(tokens, "not countable", tokens, None)


def doubted(below: int, above: int) -> Count:
    """Nothing more, and how far off the rules were seen to be."""
    return Count(0, "calibrated", -below, above)


def shown(parts: Mapping[str, Count]) -> dict[str, Count]:
    """Return the parts that a breakdown shows: the usual three, and what else the request holds."""
    usual = ("base", "messages", "tools")
    free = (0, 0, 0)
    return {name: one for name, one in parts.items() if name in usual or (one.tokens, one.low, one.high) != free}


def total(counts: Iterable[Count]) -> Count:
    """Return the sum of the counts; nothing costs exactly nothing."""
    result = exact(0)
    for one in counts:
        result += one
    return result


def anchored(billed: int, then: Count, now: Count) -> Count:
    """Return `billed` plus the predicted difference between two requests.

    What both requests share has no error left; only what changed has the counter's. Where both are exact the
    prediction stands by itself: an anchor would carry over what a server adds to single bills
    (`docs/token-rules.md`, how far a count goes).

    >>> anchored(120, Count(100, "calibrated", 90, 110), Count(150, "calibrated", 135, 165))
    Count(tokens=170, method='calibrated', low=165, high=175)
    """
    if then.method == now.method == "exact-rules":
        return now
    change = now.tokens - then.tokens
    method = max(then.method, now.method, key=METHODS.index)
    if now.high is None:
        return Count(billed + change, method, billed, None)
    half = math.ceil(abs(change) * (now.high - now.low) / max(2 * now.tokens, 1))
    return Count(billed + change, method, max(0, billed + change - half), billed + change + half)


@dataclass(frozen=True, slots=True)
class Definition:
    """A tool as a request declares it, under its wire name.

    Attributes:
        kind: `function`, or the type of a tool that the provider runs itself (`web_search`, `tool_search`…).
        deferred: Outside the prompt until a search finds it.
        raw: The entry as it was sent, for what only one API has.
    """

    name: str
    description: str = ""
    schema: Any = None
    kind: str = "function"
    deferred: bool = False
    raw: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, tool: Tool | Definition) -> Definition:
        """Return the definition that declares `tool`."""
        if isinstance(tool, Definition):
            return tool
        return cls(wire_name(tool.name), tool.description, tool.input_schema if tool.schema_text else None)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a message: `text`, `call`, `result`, `media`, or `opaque` (billed, but nobody can read it).

    Attributes:
        text: The words; the arguments of a call as JSON text; the content of a result.
        name: The tool of a call or a result.
        id: What joins a result to its call.
        raw: The piece as it was sent.
    """

    kind: str
    text: str = ""
    name: str = ""
    id: str = ""
    raw: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a request; `role` is `system`, `developer`, `user`, `assistant` or `tool`."""

    role: str
    parts: tuple[Part, ...] = ()
    name: str = ""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if part.kind == "text")

    def of_kind(self, *kinds: str) -> list[Part]:
        return [part for part in self.parts if part.kind in kinds]


@dataclass(frozen=True, slots=True)
class Request:
    """One request to a model in a form that all APIs share.

    Attributes:
        tool_choice: `auto`, `none`, `required`, or the name of a tool.
        parallel: False when the request forbids parallel calls.
        output_schema: The JSON schema of a structured answer.
        opaque: Names of what the request holds that no rule can count (`previous_response_id`, `media`…).
    """

    provider: str
    api: str
    model: str
    messages: tuple[Message, ...] = ()
    tools: tuple[Definition, ...] = ()
    tool_choice: str = "auto"
    parallel: bool = True
    output_schema: Mapping[str, Any] | None = None
    opaque: tuple[str, ...] = ()
    raw: Mapping[str, Any] | None = None


class TokenCounter(Protocol):
    """Counts requests for one provider, API and model, whole or in additive pieces.

    The pieces let a replay tokenise each text once: a request costs `base`, plus `message` of each
    message, plus `tools_overhead` where anything is declared, plus `definition` of each declared
    tool. Where that is not the whole rule, `remainder` says in words what is left out.
    """

    @property
    def name(self) -> str: ...

    @property
    def remainder(self) -> str: ...

    def count(self, request: Request) -> Count: ...

    def breakdown(self, request: Request) -> dict[str, Count]: ...

    def base(self) -> Count: ...

    def message(
        self, role: str, text: str = "", calls: Sequence[tuple[str, str]] = (), results: Sequence[tuple[str, str]] = ()
    ) -> Count: ...

    def definition(self, tool: Tool | Definition) -> Count: ...

    def tools_overhead(self, n_tools: int, has_system: bool = True) -> Count: ...


def arguments_text(arguments: Any) -> str:
    """Return a call's arguments as compact JSON, whether they came as JSON text or as an object.

    >>> arguments_text({"a": 1}) == arguments_text('{"a": 1}') == '{"a":1}'
    True
    """
    if arguments is None or arguments == "":
        return "{}"
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError:
            return str(arguments)
    return json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
