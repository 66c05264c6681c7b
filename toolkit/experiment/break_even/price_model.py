"""From which catalog size and session length on a search instead of a full declaration begins to pay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from toolkit.prices.price import Price
from toolkit.prompt_cache.cache import CacheUse, Prompt, segments, simulate
from toolkit.prompt_cache.rules import CacheRules
from toolkit.replaying.search_billing import SearchBilling


@dataclass(frozen=True, slots=True)
class Outline:
    """A session in numbers: a catalog, and turns that are all alike.

    Attributes:
        tools: Tools in the catalog; `definition` tokens each; `overhead` tokens as soon as one is declared.
        turns: Turns of `passes` passes each, `message` tokens of new history a pass, `output` tokens a reply.
        needed: Tools that a turn needs; with a search they must be found, `searches` trips a turn.
        declared: Tools that stay declared beside the search.
        fresh: The declared tools are others at every turn, as with a selector that goes by the turn's words.
        seconds: Between two passes; 0 has no clock.
    """

    tools: int = 60
    definition: int = 150
    overhead: int = 0
    system: int = 600
    turns: int = 5
    passes: int = 3
    message: int = 300
    output: int = 120
    needed: int = 1
    searches: int = 1
    search_tool: int = 120
    search_words: int = 60
    declared: int = 5
    fresh: bool = False
    seconds: float = 10.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a plan costs with everything declared and with a search."""

    tools: int
    turns: int
    cost_all: float
    cost_search: float

    @property
    def ratio(self) -> float:
        """The search's cost as a multiple of declaring everything; below 1 it pays."""
        return self.cost_search / self.cost_all if self.cost_all else 1.0


def outcome(plan: Outline, price: Price, rules: CacheRules, search: SearchBilling) -> Outcome:
    """Return the USD of a session under both ways, its prompt cache included."""
    return over_turns(plan, price, rules, search)[-1]


def over_turns(plan: Outline, price: Price, rules: CacheRules, search: SearchBilling) -> list[Outcome]:
    """Return the outcome after each turn of a session: a shorter session is the front of a longer one."""
    everything = _sums(simulate(_all_declared(plan), rules), price, plan, plan.passes)
    searched = _sums(simulate(_searched(plan, search), rules), price, plan, plan.passes + plan.searches)
    pairs = enumerate(zip(everything, searched, strict=True), 1)
    return [Outcome(plan.tools, turn, one, other) for turn, (one, other) in pairs]


def _sums(uses: Sequence[CacheUse], price: Price, plan: Outline, replies: int) -> Iterator[float]:
    """The USD up to the end of each turn; all turns have as many requests."""
    size = len(uses) // plan.turns
    written = price.cost(0, 0, 0, replies * plan.output)
    turns = (uses[start : start + size] for start in range(0, len(uses), size))
    return accumulate(sum(use.cost(price) for use in turn) + written for turn in turns)


def _all_declared(plan: Outline) -> Iterator[Prompt]:
    tools = [("overhead", plan.overhead)] * bool(plan.tools) + _block("tool", plan.tools, plan)
    messages: list[tuple[str, int]] = []
    for number in range(plan.turns * plan.passes):
        messages.append((f"m{number}", plan.message))
        yield Prompt(segments(tools, [("system", plan.system)], messages), plan.seconds * number)


def _searched(plan: Outline, search: SearchBilling) -> Iterator[Prompt]:
    """The same session with trips before the work of each turn, and what was found carried where the host puts it.

    A trip is a pass of its own: a hosted search that samples twice within one response bills the same two prompts.
    """
    own = [("search", plan.overhead + search.prefix(0, plan.search_tool))]
    added: list[tuple[str, int]] = []
    messages: list[tuple[str, int]] = []
    clock = 0
    for turn in range(plan.turns):
        declared = _block(f"tool{turn if plan.fresh else ''}", min(plan.declared, plan.tools), plan)
        tools = own + declared + added
        for step in range(plan.passes + plan.searches):
            trip = step < plan.searches
            found = [plan.definition] * plan.needed if trip and step == 0 else []
            if step == 0 or step > plan.searches:
                messages.append((f"t{turn}s{step}", plan.message))
            yield Prompt(segments(tools, [("system", plan.system)], messages), plan.seconds * clock)
            clock += 1
            if trip:
                messages.append((f"t{turn}f{step}", search.history(1, found, plan.search_words)))
                added += [(f"found{turn}.{i}", one) for i, one in enumerate(found) if search.where == "tools"]
                tools = own + declared + added


def _block(label: str, count: int, plan: Outline) -> list[tuple[str, int]]:
    """A block that never changes is one segment, however many definitions it has."""
    return [(f"{label} x{count}", count * plan.definition)] if count else []
