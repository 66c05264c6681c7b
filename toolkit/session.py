"""Recorded sessions in memory: `Session → Turn → Pass → Call`, frozen, however they lay on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from datetime import UTC, datetime
from typing import Any

from toolkit.tool import Catalog, compact_json

Content = str | tuple[Mapping[str, Any], ...]


def text_of(content: Content | None) -> str:
    """Return the words of a message: its text parts joined; media carry no text.

    >>> text_of(({"type": "text", "text": "look"}, {"type": "image", "source": {}}))
    'look'
    """
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(str(part.get("text") or "") for part in content if part.get("type") == "text")


@dataclass(frozen=True, slots=True)
class Event:
    """Something that changed what exists or what is allowed, before the step it stands at."""

    type: str
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """What a call was answered; `returned` are the names that a search found."""

    content: Content | None = None
    is_error: bool = False
    returned: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Call:
    """One tool call of a reply; `kind` is `call` or `search`."""

    id: str
    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    kind: str = "call"
    result: Result | None = None
    raw_arguments: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def arguments_text(self) -> str:
        """The arguments as the model wrote them: raw where they were no JSON object."""
        return self.raw_arguments if self.raw_arguments is not None else compact_json(self.arguments)


@dataclass(frozen=True, slots=True)
class Billed:
    """What the provider billed for a pass, in tokens; `prompt` takes in the cached ones."""

    prompt: int | None = None
    completion: int | None = None
    cached: int | None = None
    cache_write: int | None = None
    cost_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the history that no pass of this session wrote: copied context, a system note."""

    role: str
    content: Content = ""
    calls: tuple[Call, ...] = ()


@dataclass(frozen=True, slots=True)
class Pass:
    """One request to the model and its reply. `requested` is False when no model wrote the reply."""

    content: Content = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    usage: Billed | None = None
    declared: tuple[str, ...] | None = None
    searchable: tuple[str, ...] | None = None
    events: tuple[Event, ...] = ()
    context: tuple[Message, ...] = ()
    timestamp: str | None = None
    model: str | None = None
    requested: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        """What the model said in this pass before its calls."""
        return text_of(self.content)


@dataclass(frozen=True, slots=True)
class Turn:
    """An input and the passes that answer it; `context` stands in the history before the input."""

    input: Content = ""
    passes: tuple[Pass, ...] = ()
    events: tuple[Event, ...] = ()
    context: tuple[Message, ...] = ()
    timestamp: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> str:
        return text_of(self.input)


@dataclass(frozen=True, slots=True, repr=False)
class Session:
    """One recorded session and the tools that existed in it.

    `definitions` says how far its schemas can be trusted: `recorded`, `joined` or `missing`
    (then every token figure is a lower bound). `parent` is the session whose call started it;
    `source` says where it was read, `digest` is of the text it was read from.
    """

    id: str
    catalog: Catalog
    turns: tuple[Turn, ...] = ()
    system: str = ""
    model: str | None = None
    agent: Mapping[str, Any] = field(default_factory=dict)
    definitions: str = "recorded"
    outcome: Mapping[str, Any] | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None
    source: str = field(default="", compare=False)
    digest: str = field(default="", compare=False)

    def passes(self) -> Iterator[Pass]:
        for turn in self.turns:
            yield from turn.passes

    def calls(self) -> Iterator[Call]:
        for one in self.passes():
            yield from one.calls

    def __repr__(self) -> str:
        passes, calls = sum(1 for _ in self.passes()), sum(1 for _ in self.calls())
        return (
            f"Session({self.id!r}, {len(self.turns)} turns, {passes} passes, {calls} calls, {len(self.catalog)} tools)"
        )


def call_text(call: Call) -> str:
    """Return a call as it stands in the history where no provider's form is known: JSON of its name and arguments."""
    written = call.arguments if call.raw_arguments is None else call.raw_arguments
    return compact_json({"name": call.name, "arguments": written})


def digest_of(session: Session) -> str:
    """Return what tells a recording from all others: the digest of the text it was read from, else of what it holds.

    It is the same in every process, and whatever was done with the session.
    """
    if session.digest:
        return session.digest
    held = {one.name: getattr(session, one.name) for one in fields(session) if one.compare}
    content = repr({**held, "catalog": session.catalog.digest})
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


def moments(session: Session) -> list[datetime]:
    """Return every moment that a recording tells, in UTC, turns before passes; what is no ISO time is left out."""
    told = [turn.timestamp for turn in session.turns] + [one.timestamp for one in session.passes()]
    return [moment for text in told if text and (moment := _moment(text)) is not None]


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
