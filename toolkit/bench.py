"""The bench on which every study replays: one counter, one set of cache rules, one price, one setting."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

from toolkit.ledger import PassRow, ledger
from toolkit.prices.price import USUAL, Price, price_or_usual, window
from toolkit.prompt_cache.rules import IDEAL, CacheRules, rules_for
from toolkit.replaying.fold import Report, fold
from toolkit.replaying.prepared import Counter, Prepared, Uncounted, prepare
from toolkit.replaying.search_billing import TEXTS_ONLY, billing
from toolkit.replaying.system import Setting, System
from toolkit.replaying.trace import Trace
from toolkit.session import Session
from toolkit.tokens.counter import counter_of
from toolkit.tool import Catalog


class Costs(NamedTuple):
    """The USD of a pass: by the cache's rules, with the fallback for what it missed, and with no and an ideal cache.

    `fallback_usd` is the whole fallback, whatever share of it is charged.
    """

    cost_usd: float
    cost_with_fallback_usd: float
    fallback_usd: float
    cost_no_cache_usd: float
    cost_ideal_cache_usd: float


class Priced(NamedTuple):
    """The tokens of a pass that cost something.

    Attributes:
        prompt: Prompt tokens.
        read: Those of them that are read from the cache.
        write: Those that are written to it.
        shared: Those that an ideal cache reads.
        output: Output tokens.
        again: Prompt tokens of all fallback passes together.
        times: How many fallback passes there are.
    """

    prompt: int
    read: int
    write: int
    shared: int
    output: int
    again: int
    times: int


def costs(price: Price | None, tokens: Priced, charged: float = 1.0) -> Costs:
    """Return what a pass costs, NaN without a price; `charged` is the share of its fallback that counts."""
    if price is None:
        return Costs(*(float("nan"),) * 5)
    prompt, read, write, shared, output, again, times = tokens
    plain = price.cost(prompt - read - write, read, write, output)
    more = times * price.cost(again / times, 0, 0, output) if times else 0.0
    bounds = price.cost(prompt, 0, 0, output), price.cost(prompt - shared, shared, 0, output)
    return Costs(plain, plain + charged * more, more, *bounds)


def within(row: PassRow, window: int) -> PassRow:
    """Return a row that knows the context window; its fallback declares as many tools as fit beside the output."""
    room = row.fallback_passes * max(0, window - row.output_tokens)
    return row._replace(window=window, fallback_prompt_tokens=min(row.fallback_prompt_tokens, room))


@dataclass(frozen=True, slots=True)
class Bench:
    """What sessions are counted, replayed and priced with; `Bench.of` makes it for a setting.

    Attributes:
        setting: What stands around the systems, and the model whose prices selectors are told of.
        counter: Who counts.
        rules: The provider's prompt cache.
        price: What tokens cost.
        window: Tokens of the model's context window; None where nobody knows it.
        billed: Whether tool search is billed by its host's rules, beyond the texts of its calls and results.
    """

    setting: Setting = Setting()
    counter: Counter = field(default_factory=Uncounted)
    rules: CacheRules = IDEAL
    price: Price = USUAL
    window: int | None = None
    billed: bool = False

    @classmethod
    def of(cls, setting: Setting) -> Bench:
        """Return the bench of a setting: its model's tokens, cache and prices, or texts alone without a model."""
        model = setting.model
        made = cls(setting, counter_of(model), billed=bool(model))
        return made._of(model) if model else made

    def for_session(self, session: Session) -> Bench:
        """Return the bench of one session: its own model's cache and prices where the setting names no model."""
        if self.setting.model or not session.model:
            return self
        return self._of(session.model)

    def _of(self, model: str) -> Bench:
        """Return the bench with a model's cache, prices and window."""
        setting, known = replace(self.setting, model=model), price_or_usual(model)
        return replace(self, setting=setting, rules=rules_for(model), price=known, window=window(model))

    def prepare(self, session: Session) -> Prepared:
        """Return a session ready for replays, and counted."""
        return prepare(session, self.counter)

    def replay(
        self, prepared: Prepared, system: System, report: Report | None = None, plan: Sequence[frozenset[str]] = ()
    ) -> Trace:
        """Replay a session under a system (see `toolkit.replaying.fold.fold`)."""
        tokens = self.definition_tokens(prepared.session)
        return fold(prepared, system, self.setting, tokens, report, plan, price=self.price, window=self.window)

    def rows(self, prepared: Prepared, trace: Trace) -> list[PassRow]:
        """Return the token rows of a replay, one a pass."""
        search = billing(trace.profile.name) if self.billed else TEXTS_ONLY
        warm = self.setting.prefix == "shared" and trace.same_everywhere
        rows = ledger(prepared, trace, self.counter, self.rules, search, warm)
        return rows if self.window is None else [within(row, self.window) for row in rows]

    def costs(self, row: PassRow) -> Costs:
        """Return what a pass costs."""
        tokens = (row.prompt_tokens, row.cache_read_tokens, row.cache_write_tokens, row.cached_prompt_tokens)
        priced = Priced(*tokens, row.output_tokens, row.fallback_prompt_tokens, row.fallback_passes)
        return costs(self.price, priced, self.setting.fallback)

    def definition_tokens(self, session: Session) -> Callable[[str], int]:
        """Return name → tokens of its definition, one for all sessions with the same tools."""
        return _definition_tokens(session.catalog, self.setting.catalog, self.counter)


@lru_cache(maxsize=64)
def _definition_tokens(own: Catalog, around: Catalog | None, counter: Counter) -> Callable[[str], int]:
    def tokens(name: str) -> int:
        tool = own.get(name) or (around.get(name) if around is not None else None)
        return counter.definition(tool) if tool else 0

    return tokens
