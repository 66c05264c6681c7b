"""Requests chained into sessions: by conversation, by the response they go on from, or by what one tells of another."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from toolkit.formats.building import Building
from toolkit.formats.files import Problem
from toolkit.formats.importing import Source
from toolkit.formats.traffic.chain_session import Run, Writer
from toolkit.formats.traffic.exchanges import Exchange
from toolkit.session import Session


@dataclass(slots=True)
class Chain:
    """The exchanges of one session, in order."""

    steps: list[Exchange | Run] = field(default_factory=list)
    users: list[Any] = field(default_factory=list)
    replied: frozenset[Any] = frozenset()
    told: int = 0

    def add(self, one: Exchange) -> None:
        """Take an exchange as the last one."""
        self.steps.append(one)
        keys = _users(one)
        self.users = [*self.users, *keys] if one.previous else keys
        self.replied = frozenset(piece.key for piece in one.reply or () if piece.kind in ("text", "call"))
        self.told = sum(piece.kind != "system" for piece in one.history)

    def goes_on_with(self, one: Exchange) -> bool:
        """Whether a request tells what this chain's last one told, and its reply."""
        users = _users(one)
        longer = sum(piece.kind != "system" for piece in one.history) > self.told
        if not longer or not self.users or users[: len(self.users)] != self.users:
            return False
        return not self.replied or any(piece.key in self.replied for piece in one.history)


def _users(one: Exchange) -> list[Any]:
    return [piece.key for piece in one.history if piece.kind == "user"]


def chained(steps: Iterable[Exchange | Run]) -> list[Chain]:
    """Return the chains of exchanges that come in the order of time; a request that is told twice counts once."""
    chains: list[Chain] = []
    named: dict[Any, Chain] = {}
    seen: set[Any] = set()
    for step in steps:
        if isinstance(step, Run):
            _of_run(step, chains, named).steps.append(step)
            continue
        once = _told_once(step)
        if once in seen:
            continue
        seen.add(once)
        chain = _of_exchange(step, chains, named)
        chain.add(step)
        named |= {name: chain for name in _names(step)}
    return chains


def _told_once(one: Exchange) -> Any:
    """What is the same in an exchange that was recorded twice; what tells nothing is always another one."""
    if not one.history and not one.reply:
        return id(one)
    keys = tuple(piece.key for piece in (*one.history, *(one.reply or ())))
    return keys, one.id, one.usage, one.previous, one.conversation, one.timestamp if one.group else None


def _names(step: Exchange) -> Iterator[Any]:
    if step.id:
        yield "response", step.id
    if step.conversation:
        yield "conversation", step.conversation, step.agent
    yield "group", step.group, step.agent


def _of_exchange(one: Exchange, chains: list[Chain], named: dict[Any, Chain]) -> Chain:
    found = named.get(("response", one.previous)) if one.previous else None
    if found is None and one.conversation:
        found = named.get(("conversation", one.conversation, one.agent))
    elif found is None and any(piece.kind == "user" for piece in one.history):
        found = next((chain for chain in reversed(chains) if chain.goes_on_with(one)), None)
    elif found is None and (one.group or one.agent):
        found = named.get(("group", one.group, one.agent))
    return found if found is not None else _new(chains)


def _of_run(run: Run, chains: list[Chain], named: dict[Any, Chain]) -> Chain:
    keys: list[Any] = [("group", run.group, run.agent)]
    if run.conversation:
        keys.insert(0, ("conversation", run.conversation, run.agent))
    found = next((named[key] for key in keys if key in named), None)
    if found is None:
        found = _new(chains)
        named |= {key: found for key in keys}
    return found


def _new(chains: list[Chain]) -> Chain:
    chains.append(Chain())
    return chains[-1]


def sessions_of(
    steps: Iterable[Exchange | Run],
    source: Source,
    problems: list[Problem],
    format: str,
    transcripts: bool = False,
    facts: Mapping[str, Any] | None = None,
) -> Iterator[Session]:
    """Yield the sessions of exchanges in the order of time; one without any reply is none and is told.

    Args:
        steps: The exchanges, and tools that ran.
        source: The file.
        problems: What was passed over goes here.
        format: The format's name.
        transcripts: Whether the file holds conversations and no traffic: then every message of a model is a pass.
        facts: Further fields of every session.
    """
    good = []
    for step in steps:
        if isinstance(step, Exchange) and step.fault and not step.reply:
            source.note(problems, 0, "failed_request", f"a request was answered with an error ({step.fault}).")
        else:
            good.append(step)
    chains = chained(good)
    ids = Ids()
    made = [(chain, ids.of(chain)) for chain in chains]
    mains = {step.group: id for chain, id in made for step in chain.steps if not step.agent}
    for chain, id in made:
        first = chain.steps[0]
        agent = first.agent
        parent = mains.get(first.group, first.group or None) if agent else None
        writer = Writer(Building(source, problems, format), transcripts)
        session = writer.session(chain.steps, id, {**(facts or {}), **({"parent": parent} if parent else {})})
        if agent:
            name, _, own = agent.rpartition("/")
            session = replace(session, agent={**session.agent, "name": name or own, "id": own})
        yield session


def _told(chain: Chain) -> list[Any]:
    """Return what tells a chain from others: what the first request told, and every reply."""
    first = chain.steps[0]
    begun = [piece.key for piece in first.history] if isinstance(first, Exchange) else [first]
    replies = (step for step in chain.steps if isinstance(step, Exchange))
    return [begun, [(one.id, one.timestamp, [piece.key for piece in one.reply or ()]) for one in replies]]


class Ids:
    """Ids of the sessions of one file: the conversation's, else a digest of what the first request tells."""

    def __init__(self) -> None:
        self.given: Counter[str] = Counter()

    def of(self, chain: Chain) -> str:
        """Return the id of a chain; one that was given before gets `-2`, `-3` and so on."""
        first = chain.steps[0]
        id = first.conversation
        if id is None or first.agent:
            base = hashlib.sha256(repr(_told(chain)).encode("utf-8", "surrogatepass")).hexdigest()[:16]
            id = f"{id}/{base}" if id else base
        self.given[id] += 1
        return id if self.given[id] == 1 else f"{id}-{self.given[id]}"
