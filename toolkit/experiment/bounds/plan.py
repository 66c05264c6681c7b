"""What the bound `oracle_cost` declares: worked out from a whole recording before it is replayed."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from toolkit.experiment.bounds.schedules import Chains, Names, cheapest, steps
from toolkit.ledger import ledger
from toolkit.prices.price import price_or_usual
from toolkit.prompt_cache.rules import CacheRules
from toolkit.replaying.fold import Surroundings, fold
from toolkit.replaying.script import Script
from toolkit.replaying.script_tokens import Counter, ScriptTokens
from toolkit.replaying.system import NONE, System


def oracle_plan(
    script: Script,
    tokens: ScriptTokens,
    surroundings: Surroundings,
    counter: Counter,
    definition: Callable[[str], int],
    rules: CacheRules,
    model: str | None,
) -> list[Names]:
    """Return what each turn declares at the least cost of the whole session, blocked calls with their fallback.

    Args:
        script: The session's script.
        tokens: Its tokens.
        surroundings: More tools around the recorded ones.
        counter: Who counts.
        definition: Name → tokens of a definition.
        rules: The provider's prompt cache.
        model: Whose prices.
    """
    paid = price_or_usual(model)
    trace = fold(script, System(NONE), surroundings)
    made = steps(tokens, trace, ledger(tokens, trace, counter, rules), paid)

    @cache
    def declared(names: Names) -> int:
        return sum(map(definition, names)) + counter.overhead(len(names))

    told = [turn.basis.told_names for turn in trace.turns]
    return cheapest(Chains(made, told, declared, rules, paid, tokens.system))
