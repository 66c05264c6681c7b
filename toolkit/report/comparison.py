"""`compare`: recorded sessions in, a leaderboard of selectors out, with the frames and pictures behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from toolkit.experiment.comparison.spread import query_models
from toolkit.experiment.comparison.study import DEFAULT_SELECTORS, Plan, measure
from toolkit.formats.files import Problem
from toolkit.replaying.habits import STEADY, Searching
from toolkit.report.plots import Plots
from toolkit.report.tables import html_table, text_table
from toolkit.session import Session
from toolkit.tool import Catalog, Tool


@dataclass(frozen=True, repr=False)
class Comparison:
    """What a comparison found; in a notebook it shows as the leaderboard.

    Attributes:
        summary: The leaderboard, one row a system.
        sessions, turns, passes: The frames behind it.
        problems: Everything that was skipped or doubted.
        about: What was compared, with what: data, counter, prices, versions, seed.
    """

    summary: pd.DataFrame
    sessions: pd.DataFrame
    turns: pd.DataFrame
    passes: pd.DataFrame
    problems: tuple[Problem, ...]
    about: Mapping[str, Any]

    @property
    def plot(self) -> Plots:
        """The pictures: `result.plot.pareto()` gives a matplotlib Axes."""
        return Plots(self.summary, self.turns, self.about)

    def save(self, folder: str | Path) -> Path:
        """Write the run folder: `run.toml`, the frames, `summary.csv`, `report.html`, `problems.jsonl`."""
        from toolkit.report.run_folder import save

        return save(self, Path(folder))

    def _repr_html_(self) -> str:
        return html_table(self.summary, self.about)

    def __repr__(self) -> str:
        return text_table(self.summary, self.about)


def compare(
    sessions: Iterable[Session],
    selectors: Sequence[Any] | None = None,
    *,
    catalog: Iterable[Tool] | None = None,
    defer: Iterable[str] = (),
    retriever: str | None = None,
    profile: str = "reference",
    query_model: str | Sequence[str] = "own_words",
    model: str | None = None,
    priced: bool = True,
    out: str | Path | None = None,
    resume: str = "always",
    workers: int = 1,
    seed: int = 0,
    progress: bool = True,
    fit: float | None = None,
    fit_by: str = "time",
    spread: bool = True,
    searching: str | Searching = STEADY,
) -> Comparison:
    """Replay recorded sessions under several systems and compare what each costs and misses.

    The bounds `all`, `none`, `oracle` and `oracle_cost` stand in every table.

    Args:
        sessions: Recordings, e.g. `load_sessions("sessions/")`.
        selectors: Specs or functions; a default choice if None.
        catalog: More tools around the recorded ones.
        defer: Patterns of tools to flag deferred.
        retriever: What `tools.search` ranks with; the best one installed if None.
        profile: The host's rules.
        query_model: Where the counterfactual queries come from; of several, the first is the main one, and the
            spread is over them.
        model: The model whose tokens, cache rules and prices count; texts alone, at each session's own prices, if None.
        priced: Work out costs; False gives tokens only.
        out: Folder that keeps finished parts; an interrupted run goes on from them.
        resume: `always`, `never`, `only-missing`, `only-cache`.
        workers: Processes to use.
        seed: Seed of the bootstrap.
        progress: Show a progress bar where there is somebody to see it.
        fit: Share of the sessions, the earlier ones, that fits every selector that learns; the later ones are compared.
        fit_by: How the two are told apart: `time`, `group`, `order` (see `toolkit.experiment.fitting.split`).
        spread: Replay under other query models too, and show the least and the most beside the figures.
        searching: How the model searches: `steady`, `models`, or `models(reformulate=…, stale=…, parallel=…)`.

    Raises:
        UnknownNameError: A selector, retriever, model… is not known; nothing has run.
        InputError: There is no session.
    """
    main, *also = query_models(query_model, spread)
    plan = Plan(
        selectors=DEFAULT_SELECTORS if selectors is None else tuple(selectors),
        catalog=catalog if catalog is None or isinstance(catalog, Catalog) else Catalog(catalog),
        defer=tuple(defer),
        retriever=retriever,
        profile=profile,
        query_model=main,
        model=model,
        priced=priced,
        out=None if out is None else Path(out),
        resume=resume,
        workers=workers,
        seed=seed,
        progress=progress,
        fit=fit,
        fit_by=fit_by,
        also=tuple(also),
        searching=searching,
    )
    return Comparison(*measure(sessions, plan))
