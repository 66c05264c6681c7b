"""What the bound `oracle_cost` declares: worked out from a whole recording before it is replayed."""

from __future__ import annotations

from functools import cache

from toolkit.bench import Bench
from toolkit.experiment.bounds.schedules import Chains, Names, cheapest, steps
from toolkit.ledger import PassRow, visible_tokens
from toolkit.replaying.prepared import Prepared
from toolkit.replaying.system import NONE, System
from toolkit.replaying.trace import TurnTrace


def oracle_plan(bench: Bench, prepared: Prepared) -> list[Names]:
    """Return what each turn declares at the least cost of the whole session, blocked passes with their fallback."""
    trace = bench.replay(prepared, System(NONE))
    definition, system = bench.definition_tokens(prepared.session), bool(prepared.session.system)

    @cache
    def declared(names: Names) -> int:
        return sum(map(definition, names)) + bench.counter.overhead(len(names), system)

    def again(row: PassRow, turn: TurnTrace) -> float:
        whole = row.prompt_tokens + visible_tokens(turn.basis, bench.counter, system)
        room = whole if bench.window is None else max(0, bench.window - row.output_tokens)
        return bench.setting.fallback * bench.price.cost(min(whole, room), 0, 0, row.output_tokens)

    made = steps(prepared, trace, bench.rows(prepared, trace), again)
    told = [turn.basis.told.name_set for turn in trace.turns]
    return cheapest(Chains(made, told, declared, bench.rules, bench.price, prepared.system_tokens))
