"""What the bound `oracle_cost` declares: worked out from a whole recording before it is replayed."""

from __future__ import annotations

from functools import cache

from toolkit.bench import Bench
from toolkit.experiment.bounds.schedules import Chains, Names, cheapest, steps
from toolkit.replaying.prepared import Prepared
from toolkit.replaying.system import NONE, System


def oracle_plan(bench: Bench, prepared: Prepared) -> list[Names]:
    """Return what each turn declares at the least cost of the whole session, blocked calls with their fallback."""
    trace = bench.replay(prepared, System(NONE))
    made = steps(prepared, trace, bench.rows(prepared, trace), bench.price)
    definition, overhead = bench.definition_tokens(prepared.session), bench.counter.overhead

    @cache
    def declared(names: Names) -> int:
        return sum(map(definition, names)) + overhead(len(names))

    told = [turn.basis.told.name_set for turn in trace.turns]
    return cheapest(Chains(made, told, declared, bench.rules, bench.price, prepared.system_tokens))
