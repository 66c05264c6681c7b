"""The cheapest declared sets of a session for one who knows it all: the bound `oracle_cost`.

A set of definitions that is declared in some turns makes a chain of prompts of its own: the first is written
to the cache, each later one reads what the chain left. Chains do not touch each other where a changed
tools block reads nothing (`breakpoints`), so a session's cost is the sum over its chains, and the cheapest
partition of its turns into chains is the cheapest schedule. Up to `EXACT` turns every partition counts; in
longer sessions chains are runs of turns, and their change points are found by dynamic programming.
What is not declared is withheld: no search is bought, and a pass that calls it is blocked and pays the fallback. A set
may be padded with tools that nobody calls, where that lifts its prompts over the cache's minimum.
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
from toolkit.replaying.trace import Trace, TurnTrace
from toolkit.tool import SEARCH

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
        calls: What it calls.
        lost: Those of them that no declaration could save.
        fallback: USD of the fallback that the pass pays where a call is blocked.
    """

    turn: int
    prompt: int
    messages: int
    era: int
    at: float | None
    output: int
    calls: Names
    lost: Names
    fallback: float


def steps(
    prepared: Prepared, trace: Trace, rows: Sequence[PassRow], again: Callable[[PassRow, TurnTrace], float]
) -> list[Step]:
    """Return the steps of a session.

    Args:
        prepared: The recording and its own tokens.
        trace: Its replay under `none`.
        rows: The ledger of that replay.
        again: What the fallback of a pass costs, in USD.
    """
    made: list[Step] = []
    for row, (turn, messages, era, one), played in zip(rows, _requests(prepared), trace.passes(), strict=True):
        calls = frozenset(call.name for call in played.calls)
        lost = frozenset(call.name for call in played.calls if call.verdict in ("unknown_tool", "denied"))
        fallback = again(row, trace.turns[turn]) if calls else 0.0
        made.append(Step(turn, row.prompt_tokens, messages, era, one.at, row.output_tokens, calls, lost, fallback))
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
        total, era, tokens, messages = self._fallbacks(turns, names), 0, self.system, 0
        for step in (step for turn in turns for step in self.turns[turn]):
            if step.era != era:
                cache.drop()
                era, tokens, messages = step.era, self.system, 0
            cache.say(Segment((era, step.messages), step.prompt - tokens, "messages", step.messages - messages))
            tokens, messages = step.prompt, step.messages
            total += cache.send(step.at).cost(self.price, step.output)
        return total

    def _fallbacks(self, turns: Sequence[int], names: Names) -> float:
        """Return the USD of all fallbacks: one a pass, after which what it called is known until the turn ends."""
        total = 0.0
        for turn in turns:
            known: set[str] = set()
            for step in self.turns[turn]:
                blocked = ((step.calls - names) | step.lost) - known
                known |= blocked
                total += step.fallback if blocked else 0.0
        return total

    def best(self, turns: Sequence[int]) -> tuple[float, Names]:
        """Return the least USD of turns that declare one set, and that set: what they call, or less or more of it.

        What one of them is not told, hidden or gone with its server, is not in it: there the set would be another.
        """
        made = [step for turn in turns for step in self.turns[turn]]
        told = frozenset[str]().union(*self.told).intersection(*(self.told[turn] for turn in turns if self.turns[turn]))
        called = told.intersection(frozenset[str]().union(*(step.calls for step in made)))
        starts = [called, frozenset[str]()] if self._may_pay(turns, called, called) else [called]
        moves = [*(frozenset((name,)) for name in sorted(called)), *dict.fromkeys(step.calls & called for step in made)]
        least = min((self._improved(turns, start, moves) for start in starts), key=_usd)
        padded = ((self.cost(turns, one), one) for one in self._padded(made, least[1], told - {SEARCH}))
        return min((least, *padded), key=_usd)

    def _improved(self, turns: Sequence[int], names: Names, moves: Sequence[Names]) -> tuple[float, Names]:
        """Take names out of a set, or put them in, for as long as that costs less."""
        least, before = self.cost(turns, names), None
        while before != names:
            before = names
            for some in moves:
                other = names - some if some <= names else names | some
                if not some or (some <= names and not self._may_pay(turns, names, some)):
                    continue
                if (cost := self.cost(turns, other)) < least:
                    least, names = cost, other
        return least, names

    def _may_pay(self, turns: Sequence[int], names: Names, some: Names) -> bool:
        """Say whether the fallbacks of a set without some of its names could cost less than to write those always."""
        more = self._fallbacks(turns, names - some) - self._fallbacks(turns, names)
        rates = [self.price.rates(step.prompt) for turn in turns for step in self.turns[turn]]
        return more < self.declared(some) * sum(max(rate.input, rate.write) for rate in rates)

    def _padded(self, made: Sequence[Step], names: Names, told: Names) -> Iterator[Names]:
        """Yield a set with more tools, for each prompt below the cache's minimum enough to lift it there."""
        own, least = self.declared(names), self.rules.minimum
        spare = sorted(told - names, key=lambda name: (-self.declared(frozenset((name,))), name))
        for prompt in sorted({step.prompt for step in made if own + step.prompt < least}) if len(made) > 1 else ():
            padded = names
            for name in spare:
                if self.declared(padded | {name}) + prompt <= least:
                    padded |= {name}
            enough = (name for name in reversed(spare) if self.declared(padded | {name}) + prompt >= least)
            if self.declared(padded) + prompt < least and (last := next(enough, "")):
                padded |= {last}
            yield padded


def _usd(found: tuple[float, Names]) -> float:
    return found[0]


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
