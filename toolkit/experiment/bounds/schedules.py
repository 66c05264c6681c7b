"""The cheapest declared sets of a session for one who knows it all: the bound `oracle_cost`.

A set of definitions that is declared in some turns makes a chain of prompts of its own: the first is written
to the cache, each later one reads what the chain left. Chains do not touch each other where a changed
tools block reads nothing (`breakpoints`), so a session's cost is the sum over its chains, and the cheapest
partition of its turns into chains is the cheapest schedule. Up to `EXACT` turns every partition counts; in
longer sessions chains are runs of turns, and their change points are found by dynamic programming.
What is not declared is withheld: no search is bought, and a call to it is blocked and pays the fallback.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from toolkit.ledger import PassRow
from toolkit.prices.price import Price
from toolkit.prompt_cache.cache import PromptCache, Segment
from toolkit.prompt_cache.rules import CacheRules
from toolkit.replaying.prepared import Prepared, PreparedPass
from toolkit.replaying.trace import Trace

EXACT = 8
Names = frozenset[str]


class Step(NamedTuple):
    """One recorded pass as a request with nothing declared.

    Attributes:
        turn: Index of its turn, from 0.
        prompt: Prompt tokens.
        messages: How many messages it holds.
        era: Compactions before it.
        at: When it was sent, in seconds.
        output: Output tokens.
        calls: The visible tools that it calls, one name a call.
        fallback: USD of the pass that one blocked call costs.
    """

    turn: int
    prompt: int
    messages: int
    era: int
    at: float | None
    output: int
    calls: tuple[str, ...]
    fallback: float


def steps(prepared: Prepared, trace: Trace, rows: Sequence[PassRow], price: Price) -> list[Step]:
    """Return the steps of a session.

    Args:
        prepared: The recording and its own tokens.
        trace: Its replay under `none`.
        rows: The ledger of that replay.
        price: What tokens cost.
    """
    made: list[Step] = []
    for row, (turn, messages, era, one), played in zip(rows, _requests(prepared), trace.passes(), strict=True):
        visible = trace.turns[turn].basis.visible
        calls = tuple(call.name for call in played.calls if call.name in visible)
        again = row.fallback_prompt_tokens / row.fallback_passes if row.fallback_passes else 0.0
        fallback = price.cost(again, 0, 0, row.output_tokens)
        made.append(Step(turn, row.prompt_tokens, messages, era, one.at, row.output_tokens, calls, fallback))
    return made


def _requests(prepared: Prepared) -> Iterator[tuple[int, int, int, PreparedPass]]:
    """Yield (turn, messages in the prompt, compactions before it, pass) of each recorded request."""
    messages = era = 0
    for number, turn in enumerate(prepared.turns):
        messages, era = (1, era + 1) if turn.compacts else (messages + 1, era)
        for one in turn.passes:
            messages, era = (0, era + 1) if one.compacts else (messages, era)
            yield number, messages, era, one
            messages += one.messages


class Chains:
    """What a session's turns cost when they declare one set, and the set that is cheapest for them.

    Args:
        steps: The session's requests.
        told: What each turn is told, and so could declare; a turn may have no request.
        declared: Names → tokens of their definitions together.
        rules: The provider's cache.
        price: What tokens cost.
        system: Tokens of the system prompt.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        told: Sequence[Names],
        declared: Callable[[Names], int],
        rules: CacheRules,
        price: Price,
        system: int,
    ) -> None:
        self.told, self.declared, self.rules, self.price, self.system = told, declared, rules, price, system
        self.turns: list[list[Step]] = [[] for _ in told]
        for number, some in groupby(steps, key=lambda step: step.turn):
            self.turns[number] = list(some)

    def cost(self, turns: Sequence[int], names: Names) -> float:
        """Return the USD of turns (ascending indices) that all declare `names`, blocked calls with their fallback."""
        cache = PromptCache(self.rules)
        cache.declare([Segment("", self.declared(names), "tools"), Segment("", self.system, "system")])
        total, era, tokens, messages = 0.0, 0, self.system, 0
        for step in (step for turn in turns for step in self.turns[turn]):
            if step.era != era:
                cache.drop()
                era, tokens, messages = step.era, self.system, 0
            cache.say(Segment((era, step.messages), step.prompt - tokens, "messages", step.messages - messages))
            tokens, messages = step.prompt, step.messages
            blocked = sum(name not in names for name in step.calls)
            total += cache.send(step.at).cost(self.price, step.output) + blocked * step.fallback
        return total

    def best(self, turns: Sequence[int]) -> tuple[float, Names]:
        """Return the least USD of turns that declare one set, and that set: what they call, or less where it pays.

        What one of them is not told, hidden or gone with its server, is not in it: there the set would be another.
        """
        called = frozenset(name for turn in turns for step in self.turns[turn] for name in step.calls)
        names = called.intersection(*(self.told[turn] for turn in turns if self.turns[turn]))
        least = self.cost(turns, names)
        for name in sorted(names):
            if self._may_pay(turns, name):
                fewer = self.cost(turns, names - {name})
                least, names = (fewer, names - {name}) if fewer < least else (least, names)
        return least, names

    def _may_pay(self, turns: Sequence[int], name: str) -> bool:
        """Say whether blocking a tool's calls could cost less than to write its definition at every request."""
        tried = [step for turn in turns for step in self.turns[turn]]
        blocked = sum(step.calls.count(name) * step.fallback for step in tried)
        rates = [self.price.rates(step.prompt) for step in tried]
        return blocked < self.declared(frozenset((name,))) * sum(max(rate.input, rate.write) for rate in rates)


def cheapest(chains: Chains) -> list[Names]:
    """Return the declared set of each turn that costs least in all."""
    return _partition(chains) if len(chains.turns) <= EXACT else _change_points(chains)


def _partition(chains: Chains) -> list[Names]:
    """Try every partition of the turns into chains."""
    size = len(chains.turns)
    best = cache(lambda mask: chains.best([turn for turn in range(size) if mask >> turn & 1]))

    @cache
    def solve(left: int) -> tuple[float, tuple[int, ...]]:
        if not left:
            return 0.0, ()
        first = left & -left
        return min(_with(best(mask)[0], mask, solve(left ^ mask)) for mask in _submasks(left) if mask & first)

    chosen = solve((1 << size) - 1)[1]
    return [next(best(mask)[1] for mask in chosen if mask >> turn & 1) for turn in range(size)]


def _with(cost: float, mask: int, rest: tuple[float, tuple[int, ...]]) -> tuple[float, tuple[int, ...]]:
    return cost + rest[0], (mask, *rest[1])


def _submasks(mask: int) -> Iterator[int]:
    sub = mask
    while sub:
        yield sub
        sub = (sub - 1) & mask


def _change_points(chains: Chains) -> list[Names]:
    """Cut the turns into runs."""
    least: list[tuple[float, list[Names]]] = [(0.0, [])]
    for end in range(1, len(chains.turns) + 1):
        runs = ((start, chains.best(range(start, end))) for start in range(end))
        options = ((least[start][0] + cost, start, names) for start, (cost, names) in runs)
        cost, start, names = min(options, key=lambda option: option[:2])
        least.append((cost, least[start][1] + [names] * (end - start)))
    return least[-1][1]
