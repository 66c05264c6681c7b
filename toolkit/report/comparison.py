"""`compare`: recorded sessions in, a leaderboard of selectors out, with the frames and pictures behind it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from toolkit.experiment.comparison.options import study
from toolkit.experiment.comparison.spread import query_models
from toolkit.experiment.comparison.study import measure
from toolkit.formats.files import Problem
from toolkit.report import run_folder
from toolkit.report.plots import Plots
from toolkit.report.tables import html_table, text_table
from toolkit.session import Session


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
        frames = {name: getattr(self, name) for name in run_folder.FRAMES}
        return run_folder.save(Path(folder), self.summary, frames, self.problems, self.about)

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Return the comparison of a run folder.

        Raises:
            InputError: The folder is no run folder, or a file in it is damaged.
        """
        return cls(**run_folder.load(Path(folder)))

    def _repr_html_(self) -> str:
        return html_table(self.summary, self.about)

    def __repr__(self) -> str:
        return text_table(self.summary, self.about)


def compare(
    sessions: Iterable[Session],
    selectors: Sequence[Any] | None = None,
    *,
    query_model: str | Sequence[str] = "own_words",
    spread: bool = True,
    **options: Any,
) -> Comparison:
    """Replay recorded sessions under several systems and compare what each costs and misses.

    The bounds `all`, `none`, `oracle` and `oracle_cost` stand in every table.

    Args:
        sessions: Recordings, e.g. `load_sessions("sessions/")`.
        selectors: Specs or functions; a default choice if None.
        query_model: Where the counterfactual queries come from; of several, the first is the main one, and the
            spread is over them.
        spread: Replay under other query models too, and show the least and the most beside the figures.
        options: What they have in common, the fields of `toolkit.replaying.Setting`: `catalog`, `defer`, `retriever`,
            `profile`, `searching`, and the `model` whose tokens, cache rules and prices count (texts alone, at each
            session's own prices, if None). How it is run, the fields of `toolkit.experiment.comparison.options`'
            `Execution`: `out`, `resume`, `workers`, `seed`, `progress`. And `priced`, `fit`, `fit_by` of its `Study`.

    Raises:
        UnknownNameError: A selector, retriever, model… is not known; nothing has run.
        InputError: There is no session.
    """
    main, *also = query_models(query_model, spread)
    return Comparison(*measure(sessions, study(selectors, query_model=main, also=also, **options)))
