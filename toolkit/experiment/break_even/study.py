"""From which catalog size, and for how many turns, a selector that searches pays against declaring everything.

Measured: recorded sessions are replayed in hosts of growing size and priced with the provider's own token rules,
cache rules and prices. Beside it stands the price model of `break_even.price_model`, fed with the replays' averages.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from toolkit.errors import InputError
from toolkit.experiment.comparison.options import Study, study
from toolkit.experiment.comparison.result import Comparison
from toolkit.experiment.comparison.study import measure
from toolkit.experiment.fitting.split import task_of
from toolkit.experiment.growing import grown, pool_of, sizes_in
from toolkit.formats.files import Problem
from toolkit.prices.price import price
from toolkit.prompt_cache.rules import rules_for
from toolkit.replaying.search_billing import BILLINGS, SearchBilling
from toolkit.session import Session
from toolkit.tokens.counter import counter_of
from toolkit.tool import Tool

if TYPE_CHECKING:
    import pandas as pd

SELECTORS = ("lazy", "semantic(k=8)")
MODEL = "gpt-5"
_SIZE = re.compile(r"@\d+(?=')")


@dataclass(frozen=True, slots=True, repr=False)
class BreakEven:
    """What growing hosts cost.

    Attributes:
        turns, passes: One row a size, system, session and turn (or pass): the frames of a comparison, with a size.
        summary: One row a size and system: the cost, its ratio to `all`, the lengths of session for which it pays.
        crossings: One row a selector: the catalog size from which on it pays.
        modelled: The price model over sizes and lengths of session, at the replays' averages.
        problems: What was skipped or doubted.
        about: What the figures are of.
    """

    turns: pd.DataFrame
    passes: pd.DataFrame
    summary: pd.DataFrame
    crossings: pd.DataFrame
    modelled: pd.DataFrame
    problems: tuple[Problem, ...]
    about: Mapping[str, Any]

    def __repr__(self) -> str:
        sizes = ", ".join(map(str, self.about["sizes"]))
        return f"BreakEven({self.about['model']}, {self.about['sessions']} sessions, sizes {sizes})"


def break_even(
    sessions: Iterable[Session],
    selectors: Sequence[Any] = SELECTORS,
    sizes: Sequence[int] = (),
    catalog: Iterable[Tool] = (),
    *,
    model: str = MODEL,
    **options: Any,
) -> BreakEven:
    """Replay sessions in growing hosts, price them, and say where the selectors begin to pay.

    Args:
        sessions: Recordings.
        selectors: What is set against `all`.
        sizes: Catalog sizes; a ladder up to all the tools there are by default.
        catalog: Tools that hosts may grow by, beside those of the sessions.
        model: Whose tokens, cache rules and prices count.
        options: Whatever else `compare` takes; the seed is also that of the draw of tools.

    Raises:
        UnknownNameError: A selector, retriever, profile, query model or model is not known; nothing has run.
        InputError: There is no session, or a size is larger than the tools there are.
    """
    from toolkit.experiment.break_even.pays import crossings, summary
    from toolkit.experiment.break_even.priced_plans import modelled

    recorded, around = list({session.id: session for session in sessions}.values()), tuple(catalog)
    pool, asked = pool_of(recorded, around), study(selectors, model=model, **options)
    _check(recorded, asked, len(pool))
    sizes, seed = sizes_in(pool, sizes), asked.execution.seed
    hosts = [_named(grown(one, pool, size, seed), size) for size in sizes for one in recorded]
    found = measure(hosts, asked)
    turns, passes = (_by_size(frame) for frame in (found.turns, found.passes))
    board = summary(turns, seed, {session.id: task_of(session) for session in recorded})
    priced = modelled(turns, passes, model, BILLINGS.get(asked.setting.profile, SearchBilling()))
    facts = {"sizes": list(sizes), "catalog_tools": len(around), "pool_tools": len(pool)}
    about = _about(found, recorded, model, facts)
    return BreakEven(turns, passes, board, crossings(board), priced, _once(found.problems), about)


def _check(sessions: Sequence[Session], asked: Study, tools: int) -> None:
    """Raise for what cannot be measured, before anything runs."""
    if not sessions or not tools:
        raise InputError("there is no session with tools to replay.", hint="Give at least one recorded session.")
    asked.systems()
    price(str(asked.setting.model))


def _named(session: Session, size: int) -> Session:
    return replace(session, id=f"{session.id}@{size}")


def _by_size(frame: pd.DataFrame) -> pd.DataFrame:
    """Take the size out of the session ids again."""
    parts = frame["session_id"].str.rsplit("@", n=1)
    return frame.assign(session_id=parts.str[0], size=parts.str[1].astype("int64"))


def _once(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return what is the same at every size once, under the session's own id."""
    return tuple(dict.fromkeys(replace(one, message=_SIZE.sub("", one.message)) for one in problems))


def _about(found: Comparison, sessions: Sequence[Session], model: str, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the figures are of: as a comparison says it, but for the sessions as they were recorded."""
    listed, rules = price(model), rules_for(model)
    return {
        **found.about,
        **facts,
        "sessions": len(sessions),
        "recorded_turns": sum(len(session.turns) for session in sessions),
        "sources": sorted({_short(session.source) for session in sessions if session.source}),
        "counter": counter_of(model).name,
        "prices": f"{listed.source}, {listed.date}",
        "cache_mode": rules.mode,
    }


def _short(source: str) -> str:
    """The last two parts of a path: enough to know the data set by, and no more of somebody's disk."""
    return "/".join(PurePath(source.rpartition(":")[0] or source).parts[-2:])
