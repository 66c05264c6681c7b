"""The spread of a leaderboard over query models: nobody knows the query that was never asked, so several are tried.

A replay in which nothing was searched for and nothing missed is the same under every query model, since the first
difference could only be a search's. Only the sessions of the others are replayed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from toolkit.errors import InputError
from toolkit.experiment.comparison.run import Done, Unit, units
from toolkit.formats.files import Problem
from toolkit.prices.price import Price

if TYPE_CHECKING:
    import pandas as pd

QUERY_MODELS = ("own_words", "turn_input", "short_phrase", "pessimistic")
METRICS = ("cost_with_fallback_usd", "prompt_tokens_with_fallback", "missed", "search_trips")


class Variant(NamedTuple):
    """A unit of the comparison, to be run under another query model; `system` is what it is a variant of."""

    unit: Unit
    system: str


def query_models(given: str | Sequence[str], spread: bool = True) -> tuple[str, ...]:
    """Return the query models of a leaderboard, the main one first: those that are given, or one beside the usual.

    Raises:
        InputError: None is given.

    >>> query_models("turn_input")
    ('turn_input', 'own_words', 'short_phrase', 'pessimistic')
    >>> query_models(["own_words", "optimistic"]), query_models("own_words", spread=False)
    (('own_words', 'optimistic'), ('own_words',))
    """
    chosen = (given,) if isinstance(given, str) else tuple(given)
    if not chosen:
        raise InputError("a comparison needs a query model.", hint="The usual one is 'own_words'.")
    if not spread:
        return chosen[:1]
    return tuple(dict.fromkeys((*chosen, *(QUERY_MODELS if len(chosen) == 1 else ()))))


def variants(work: Iterable[Unit], finished: Iterable[Done], models: Sequence[str], version: str) -> Iterator[Variant]:
    """Yield what must be run again under other query models: of each unit the sessions in which searching matters."""
    turns = {done.key: done.turns for done in finished}
    for unit in work:
        differ = {row.session_id for row in turns.get(unit.key, ()) if row.search_trips or row.missed}
        kept = tuple(session for session in unit.sessions if session.id in differ)
        for model in models if kept else ():
            system = replace(unit.system, query_model=model)
            for made in units([system], kept, unit.setting, version):
                yield Variant(made, unit.system.name)


def left_out(varied: Sequence[Variant], finished: Iterable[Done]) -> list[Problem]:
    """Return the problem that a run out of the cache alone lacks some of the variants."""
    there = {done.key for done in finished}
    lacking = {variant.unit.system.query_model for variant in varied if variant.unit.key not in there}
    if not lacking:
        return []
    message = f"the spread leaves out {', '.join(sorted(lacking))}: parts of them are not in the cache."
    return [Problem("", 0, "not_cached", message)]


def with_spread(
    summary: pd.DataFrame,
    sessions: pd.DataFrame,
    varied: Sequence[Variant],
    finished: Iterable[Done],
    prices: Mapping[str, Price | None],
    charged: float = 1.0,
) -> pd.DataFrame:
    """Return the leaderboard with the least and the most of each of `METRICS` over the query models.

    Args:
        summary: The leaderboard under the main query model.
        sessions: The session frame behind it.
        varied: What was to be run again.
        finished: What was.
        prices: Session id → price of its model.
        charged: Share of a fallback that counts.
    """
    import pandas as pd

    from toolkit.experiment.comparison.frames import everywhere

    done = {one.key: one for one in finished}
    by_model: dict[str, list[Variant]] = {}
    for variant in varied:
        by_model.setdefault(variant.unit.system.query_model, []).append(variant)
    whole = [mine for mine in by_model.values() if all(one.unit.key in done for one in mine)]
    mains = everywhere(sessions)
    boards = pd.concat(
        [
            summary.set_index("system")[list(METRICS)],
            *(_totals(_replayed(mains, mine, done, prices, charged)) for mine in whole),
        ]
    )
    low, high = (getattr(boards.groupby(level=0), side)().loc[list(summary["system"])] for side in ("min", "max"))
    ends = {f"{name}_{side}": end[name] for name in METRICS for side, end in (("min", low), ("max", high))}
    return summary.assign(**{name: values.to_numpy() for name, values in ends.items()})


def _totals(sessions: pd.DataFrame) -> pd.DataFrame:
    """Return the metrics of each system; a cost is known when every session's is."""
    frame = sessions.assign(
        unknown=sessions["cost_with_fallback_usd"].isna() | (sessions["passes_over_window"] > 0),
    )
    groups = frame.groupby("system", sort=False)
    totals = groups[list(METRICS)].sum()
    totals.loc[groups["unknown"].any(), "cost_with_fallback_usd"] = float("nan")
    return totals


def _replayed(
    mains: pd.DataFrame,
    varied: Sequence[Variant],
    done: Mapping[str, Done],
    prices: Mapping[str, Price | None],
    charged: float,
) -> pd.DataFrame:
    """Return the session frame with the rows of one other query model in the place of the main one's."""
    import pandas as pd

    from toolkit.experiment.comparison import frames

    passes = frames.pass_frame([row for one in varied for row in done[one.unit.key].passes], prices, charged)
    turns = frames.turn_frame([row for one in varied for row in done[one.unit.key].turns], passes)
    names = {one.unit.system.name: one.system for one in varied}
    again = frames.session_frame(turns).replace({"system": names})
    stay = again.set_index(frames.KEYS).index.intersection(mains.set_index(frames.KEYS).index)
    again = again.set_index(frames.KEYS).loc[stay].reset_index()
    return pd.concat([mains, again], ignore_index=True).drop_duplicates(frames.KEYS, keep="last")
