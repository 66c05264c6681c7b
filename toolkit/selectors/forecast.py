"""What each tool is expected to cost for the rest of a session: in every prompt, or left to be searched for."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import lru_cache
from importlib.resources import files
from typing import Any

import numpy as np

from toolkit.engine import HostView
from toolkit.engine.view import Price, Rates
from toolkit.errors import InputError
from toolkit.selectors.costs import Costs, costs
from toolkit.selectors.need import FEATURES, Arrays, Chance, Floats, arrays, evidence, probability
from toolkit.selectors.usage import Usage
from toolkit.tool import SEARCH, Tool
from toolkit.toolset import ToolSet, toolset

MOST_TRIES = 3
ANSWERED = 5
QUERY_TOKENS = 60
REPLY_TOKENS = 100
SEARCH_TOKENS = 150
"""Searches for a tool that is not found; tools an answer holds; tokens of a query, of a reply, of `tools.search`."""
_STRENGTH = 4.0
"""Searches that the general rate of misses counts as, beside a tool's own."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What the forecast rests on.

    Attributes:
        now: Does this turn call the tool?
        later: The same for a later turn of the session.
        miss: Weights of constant, place among the first five, and `rank`: does a search for it in this turn fail?
        miss_rate: Share of searches that fail, whatever the turn.
        missed: (tool, searches for it that failed, all of them), by name.
        calls: Calls of a tool in a turn that calls it.
        later_turns: Later turns that call a tool, when any does.
        tries: Searches until a tool is found; all `MOST_TRIES` are made for one that is not.
        passes: Requests a turn.
        remaining: Turns still to come after the first, the second …; the last number holds for all after it.
    """

    now: Chance
    later: Chance
    miss: tuple[float, ...]
    miss_rate: float
    missed: tuple[tuple[str, int, int], ...]
    calls: float
    later_turns: float
    tries: float
    passes: float
    remaining: tuple[float, ...]


def as_facts(row: Mapping[str, Any]) -> Facts:
    """Return the facts of a JSON object; what else is in it is left alone."""
    known = {one.name: _tuples(row[one.name]) for one in fields(Facts)}
    return Facts(**{**known, "now": Chance(**known["now"]), "later": Chance(**known["later"])})


def _tuples(value: Any) -> Any:
    """Return JSON lists as tuples, whatever holds them."""
    if isinstance(value, dict):
        return {key: _tuples(one) for key, one in value.items()}
    return tuple(map(_tuples, value)) if isinstance(value, list | tuple) else value


_PRIORS = json.loads(files("toolkit.selectors").joinpath("priors.json").read_text("utf-8"))
PRIOR, PRIOR_WITH_COUNTS = as_facts(_PRIORS["without_counts"]), as_facts(_PRIORS["with_counts"])
"""What holds of any sessions, without counts of use and beside them; `priors.json` says what they were fitted on."""


@dataclass(frozen=True, slots=True, eq=False)
class Forecast:
    """Arrays over the told tools in canonical order, and the prices that a prompt meets, in USD.

    Attributes:
        needed, later: Probabilities: this turn calls it, a later one does.
        missed: Probability that a search for it in this turn fails.
        tokens: Tokens of its definition; 0 for `tools.search`, which is no candidate.
        searching: What leaving it searchable costs: search trips, and misses with their fallback.
        withholding: What it costs when there is no search: every call pays the fallback.
        kept: USD a token of what stands in every prompt still to come.
        rewriting: What a token costs more when the cache must be written anew.
        history: Tokens that stand before this turn's input.
        search: Tokens of `tools.search`.
    """

    arrays: Arrays
    needed: Floats
    later: Floats
    missed: Floats
    tokens: Floats
    searching: Floats
    withholding: Floats
    kept: float
    rewriting: float
    history: int
    search: float

    @property
    def names(self) -> tuple[str, ...]:
        return self.arrays.told.names

    @property
    def declaring(self) -> Floats:
        """What declaring each tool costs from here on, written once and read on every request."""
        return self.tokens * (self.kept + self.rewriting)


def forecast(told: Sequence[Tool], host: HostView, usage: Usage, price: Price, horizon: float) -> Forecast:
    """Return what the told tools are expected to cost.

    Args:
        told: The told tools.
        host: The present.
        usage: What earlier sessions say, and the fitted facts in it.
        price: Of the model (`toolkit.prices.price.Price`).
        horizon: What share of the turns to come counts.
    """
    facts = facts_of(usage)
    rows = evidence(told, host, usage)
    tokens, search = _tokens(toolset(told), costs(told, host.tokens))
    passes, turns = _ahead(facts, host, horizon)
    rates = price.rates(host.history_tokens)
    fallback = price.cost(host.history_tokens + tokens.sum(), 0, 0, REPLY_TOKENS)
    trip = _trip(rates, host.history_tokens, float(tokens.mean()) if len(tokens) else 0.0, passes, turns)
    needed, later = facts.now(rows), facts.later(rows)
    missed, missed_later = _missed(rows, facts, told)
    then = later * facts.later_turns * horizon
    failed, found = facts.calls * (fallback + MOST_TRIES * trip), facts.tries * trip
    lost = needed * (found + missed * (failed - found)) + then * (found + missed_later * (failed - found))
    return Forecast(
        arrays=arrays(told),
        needed=needed,
        later=later,
        missed=missed,
        tokens=tokens,
        searching=lost * (tokens > 0),
        withholding=(needed + then) * facts.calls * fallback * (tokens > 0),
        kept=rates.cached * passes * (1 + turns),
        rewriting=max(rates.write, rates.input) - rates.cached,
        history=host.history_tokens,
        search=search,
    )


@lru_cache(maxsize=32)
def facts_of(usage: Usage) -> Facts:
    """Return the fitted facts in a usage, or the priors where there are none.

    Raises:
        InputError: They were fitted to other evidence.
    """
    found = usage.more.get("expected_cost")
    if found is None:
        return PRIOR_WITH_COUNTS if usage.turns else PRIOR
    if list(found.get("features", ())) != list(FEATURES):
        hint = "Fit it again: toolkit fit SESSIONS --out usage.json."
        raise InputError("the forecast in this usage was fitted by another version of expected_cost.", hint=hint)
    return as_facts(found)


def _tokens(known: ToolSet, counted: Costs) -> tuple[Floats, float]:
    """Return the tokens of each definition (n,), and those of `tools.search`, which counts as nothing there."""
    tokens = np.array([0 if name == SEARCH else counted[name] for name in known.names], dtype=float)
    return tokens, float(counted[SEARCH] or SEARCH_TOKENS)


def miss_evidence(rank: Floats) -> Floats:
    """Return the evidence for a failing search, (n, 3), from the feature `rank` (n,)."""
    return np.stack([np.ones(len(rank)), rank >= -np.log2(ANSWERED), rank], axis=1)


def _missed(rows: Floats, facts: Facts, told: Sequence[Tool]) -> tuple[Floats, Floats]:
    """Return how likely a search for each tool fails, in this turn and in a later one, (n,) each.

    In this turn as its place for the input says; both as earlier searches for that tool went.
    """
    now = probability(miss_evidence(rows[:, FEATURES.index("rank")]), facts.miss)
    later = np.full(len(now), facts.miss_rate)
    place = arrays(told).place
    for name, failed, tried in facts.missed:
        at = place.get(name)
        if at is not None:
            for guess in (now, later):
                guess[at] = (failed + _STRENGTH * guess[at]) / (tried + _STRENGTH)
    return now, later


def _ahead(facts: Facts, host: HostView, horizon: float) -> tuple[float, float]:
    """Return the requests that a turn is expected to take, and how many turns to come count."""
    seen = [turn.passes for turn in host.earlier]
    passes = (2 * facts.passes + sum(seen)) / (2 + len(seen))
    left = facts.remaining[min(host.turn_no, len(facts.remaining)) - 1]
    return max(passes, 1.0), left * horizon


def _trip(rates: Rates, history: int, definition: float, passes: float, turns: float) -> float:
    """Return USD of one search: a request more, and its answer in the history for the rest of the session (T1)."""
    asked = rates.cached * history + rates.output * QUERY_TOKENS
    return float(asked + (ANSWERED * definition + QUERY_TOKENS) * (rates.write + rates.cached * passes * (0.5 + turns)))
