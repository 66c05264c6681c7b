"""`sticky(selector)`: the declared set stays as it is until changing it is worth a broken prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from toolkit.engine import HostView, Selection
from toolkit.selectors import checks
from toolkit.selectors.combined import Wrapping, asked, reachable, resolve_into
from toolkit.selectors.costs import Costs, costs
from toolkit.tool import SEARCH, Tool


@dataclass(frozen=True, slots=True, repr=False)
class Sticky(Wrapping):
    """Keep what the turn before declared while that is cheaper than what a selector wants now.

    Use it around a selector that follows every input (`sticky(hybrid(k=8))`) on a provider with a
    prompt cache: definitions stand before the history, so a changed set is written anew with the
    whole history behind it. Both sets are priced over the requests to come:

    - changed: definitions and history written once, then read by every further request;
    - kept: both read by every request, and for each tool that is wanted and not declared, as often
      as it is `used`, a search trip: a request that reads all, the definition written, `trip`.

    The first turn follows the selector, and so does one in which a declared tool is no longer told,
    or is now withheld: then the prefix is broken anyway. A new tool is searchable at first.

    Args:
        of: The selector, or its spec.
        read: Price of a token read from the cache, in those of an input token.
        write: Price of a token written to the cache, in the same.
        passes: How many requests to the model the set will stand for, this turn's and later ones'.
        used: Which part of the wanted tools is really called in that time.
        trip: What a search trip costs besides, in input tokens: the query, as output, and the answer's frame.

    Raises:
        InputError: A number is out of range, or the selector's spec cannot be read.
    """

    of: Any = "hybrid(k=8)"
    read: float = 0.1
    write: float = 1.25
    passes: float = 3
    used: float = 0.15
    trip: float = 300
    spec: ClassVar[str] = "sticky"
    static: ClassVar[bool] = False

    def __post_init__(self) -> None:
        resolve_into(self, "of")
        for option in ("read", "write", "trip"):
            checks.number("sticky", option, getattr(self, option))
        checks.number("sticky", "passes", self.passes, 1)
        checks.number("sticky", "used", self.used, 0, 1)

    def __call__(self, told: Sequence[Tool], host: HostView) -> Selection:
        """Split the told tools for one turn (`docs/semantics.md` S2)."""
        wanted = asked(self.of, told, host)
        kept = [name for name in host.declared_before if name != SEARCH]
        offered = reachable(wanted, told)
        broken = host.turn_no == 1 or not set(kept).issubset(offered)
        if broken or self._pays(kept, wanted.declared, told, host):
            return wanted
        return Selection(kept, offered, wanted.notices)

    def _pays(self, kept: Sequence[str], wanted: Sequence[str], told: Sequence[Tool], host: HostView) -> bool:
        """Say whether the wanted set is cheaper than the kept one, in prices of an input token."""
        cost, new = costs(told, host.tokens), set(wanted) - {SEARCH}
        before = host.history_tokens + cost.of(kept)
        after = host.history_tokens + cost.of(tuple(new))
        keeping = self.passes * self.read * before + self._trips(new.difference(kept), before, cost)
        return (self.write + (self.passes - 1) * self.read) * after < keeping

    def _trips(self, missing: set[str], before: int, cost: Costs) -> float:
        """Return what searching for tools that are not declared costs, as often as they are used."""
        each = len(missing) * (self.read * before + self.trip)
        return self.used * (each + self.write * cost.of(tuple(missing)))
