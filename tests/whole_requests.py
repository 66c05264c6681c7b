"""The whole request of every pass of a replay, as a host would send it: what the ledger's sums are held against.

Like the naive ledger it shares no code with `toolkit.ledger`: it appends messages to one list, and starts a new one
where the history is compacted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolkit.replaying import Trace
from toolkit.replaying.prepared import Prepared, PreparedPass
from toolkit.replaying.trace import PassTrace
from toolkit.session import Call, text_of
from toolkit.session import Message as Said
from toolkit.tokens.request import Definition, Message, Part, Request


def requests(prepared: Prepared, trace: Trace, model: str) -> Iterator[Request]:
    """Yield the request of each pass, those of searches and refused calls among them."""
    system = prepared.session.system
    first = [Message("system", (Part("text", system),))] if system else []
    messages: list[Message] = []
    for recorded, played in zip(prepared.turns, trace.turns, strict=True):
        tools = tuple(map(Definition.of, played.offer.declared))
        messages = [] if recorded.compacts else messages
        given = [Message("user", (Part("text", recorded.input),))] if recorded.input else []
        messages = [*messages, *sent(recorded.before), *given]
        steps, step = iter(recorded.passes), None
        for one in played.passes:
            if step is None:
                step = next(steps)
                messages = [*(given if step.compacts else messages), *sent(step.before)]
            yield Request("", "", model, (*first, *messages), tools)
            messages = [*messages, *added(one, step)]
            step = step if one.made else None
        messages = [*messages, *sent(recorded.after)]


def added(one: PassTrace, step: PreparedPass) -> Iterator[Message]:
    """Yield what a pass leaves in the history: the recorded reply, or the calls of an extra pass."""
    yield from sent([Said("assistant", "", one.made) if one.made else step.reply])


def sent(said: Iterable[Said]) -> Iterator[Message]:
    """Yield messages in the form of a request: a reply with its calls, then what they were answered."""
    for one in said:
        text, role = text_of(one.content), "assistant" if one.role == "agent" else one.role
        parts = (*((Part("text", text),) if text else ()), *map(_called, one.calls, ids(one.calls)))
        answered = (
            Part("result", text_of(call.result.content), call.name, id)
            for call, id in zip(one.calls, ids(one.calls), strict=True)
            if call.result is not None
        )
        if parts:
            yield Message(role, parts)
        if results := tuple(answered):
            yield Message("tool", results)


def ids(calls: Iterable[Call]) -> list[str]:
    return [f"call {id(call)}" for call in calls]


def _called(call: Call, id: str) -> Part:
    return Part("call", call.arguments_text, call.name, id)
