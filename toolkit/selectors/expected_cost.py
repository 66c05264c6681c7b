"""`expected_cost`: declare what costs less in every prompt than it would cost to search for, or to miss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from toolkit.engine import HostView, Selection
from toolkit.engine.view import Price
from toolkit.prices.price import USUAL
from toolkit.prices.price import price as price_of
from toolkit.selectors.checks import number
from toolkit.selectors.fitted import Fitted
from toolkit.selectors.forecast import Forecast, facts_of, forecast
from toolkit.selectors.need import NO_USAGE
from toolkit.selectors.usage import Usage
from toolkit.tool import SEARCH, Tool

Chosen = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Row:
    """Why a tool is declared or not, in USD over what is left of the session.

    Attributes:
        needed: Probability that this turn calls it.
        later: Probability that a later turn does.
        missed: Probability that a search for it fails.
        declaring: What its definition costs in every prompt, written once.
        searching: What leaving it searchable is expected to cost: search trips, and misses with their fallback.
    """

    name: str
    declared: bool
    needed: float
    later: float
    missed: float
    tokens: int
    declaring: float
    searching: float


class _Plan(NamedTuple):
    """What could be done, and what it would cost."""

    cost: float
    declared: Chosen
    search: bool


@dataclass(frozen=True, slots=True, repr=False)
class ExpectedCost(Fitted):
    """Declare the set that minimises the expected cost of the rest of the session, misses with their fallback.

    For each tool it weighs two prices: its definition, written once and read on every request still to
    come; and leaving it searchable: the probability that this turn or a later one calls it, times a search
    trip when the search finds it, or a request with everything declared and nothing cached when it does not.
    A declared set that changes breaks the cached prefix, so it changes only where that is cheaper than to
    keep the one before. Where earlier sessions say that no other tool is worth searching for, nothing is
    searchable; without them nothing is withheld.

    Use it when prices count, fitted on your own earlier sessions (`toolkit fit`, `compare(fit=…)`): a handful
    is enough to begin with. Without them it goes by priors (`priors.json`), the input, and what the session
    used so far; it then knows nothing of your hosts, and `all` may be cheaper for a small catalog. `fit` alone
    counts use; the two commands also replay searches, and weigh the evidence anew.

    Args:
        horizon: What share of the turns that are expected to come counts; 0 looks at this turn alone.
        usage: What earlier sessions say: a `Usage`, or the file of one.
        model: Whose prices count; by default those that the host gives (`HostView.price`), else the
            usual ratios of prices (cached input a tenth, cache writes 1.25, output 5 times plain input).

    Raises:
        InputError: The usage file cannot be read or is of another version, or a number is out of range.
        UnknownNameError: Nobody knows the model's price.
    """

    spec: ClassVar[str] = "expected_cost"
    learns_from_replays: ClassVar[bool] = True
    horizon: float = 1
    usage: Any = None
    model: str | None = None

    def __post_init__(self) -> None:
        number(self.spec, "horizon", self.horizon, 0, 1)
        self._read()
        if self.usage is not None:
            facts_of(self.learnt)
        if self.model is not None:
            price_of(self.model)

    def check(self) -> None:
        """Run unfitted too: by the priors."""

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        found = self._forecast(told, host)
        plan = _cheapest(found, host, self.usage is not None)
        declared = list(compress(found.names, plan.declared.tolist()))
        if self.usage is None:
            return Selection(declared, found.names if plan.search else ())
        chosen = self.chosen(declared, told)
        return chosen if plan.search else Selection(declared, (), chosen.notices)

    def explain(self, turn: Any) -> list[Row]:
        """Return each tool's row for a host's turn (`Host.start_turn`), the surest to declare first."""
        found = self._forecast(turn.told, turn.view)
        declared = _cheapest(found, turn.view, self.usage is not None).declared
        likely = (found.needed, found.later, found.missed, found.tokens.astype(int))
        columns = [column.tolist() for column in (declared, *likely, found.declaring, found.searching)]
        rows = [Row(*row) for row in zip(found.names, *columns, strict=True) if row[0] != SEARCH]
        return sorted(rows, key=lambda row: (row.declaring - row.searching, row.name))

    def __repr__(self) -> str:
        """Return the spec; a horizon of all turns goes without saying."""
        return Fitted.__repr__(self).replace("horizon=1, ", "").replace("(horizon=1)", "")

    def _forecast(self, told: Sequence[Tool], host: HostView) -> Forecast:
        usage: Usage = NO_USAGE if self.usage is None else self.learnt
        price: Price = price_of(self.model) if self.model is not None else host.price or USUAL
        return forecast(told, host, usage, price, self.horizon)


def _cheapest(found: Forecast, host: HostView, withholds: bool) -> _Plan:
    """Return the cheapest of: a new set with search, a new set without where that may be, and the set that stands."""
    plans = [_plan(found, found.searching > found.declaring, True, True)]
    if withholds:
        plans.append(_plan(found, found.withholding > found.declaring, False, True))
    stands = [name for name in host.declared_before if name != SEARCH]
    if host.turn_no > 1 and all(name in found.arrays.place for name in stands):
        before = np.zeros(len(found.names), dtype=bool)
        before[[found.arrays.place[name] for name in stands]] = True
        plans.insert(0, _plan(found, before, SEARCH in host.declared_before, False))
    return min(plans, key=lambda plan: plan.cost)


def _plan(found: Forecast, declared: Chosen, search: bool, new: bool) -> _Plan:
    tokens = float(found.tokens[declared].sum()) + found.search * search
    lost = found.searching if search else found.withholding
    rewritten = found.rewriting * (tokens + found.history) if new else 0.0
    return _Plan(found.kept * tokens + rewritten + float(lost[~declared].sum()), declared, search)
