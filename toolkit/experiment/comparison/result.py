"""What a comparison found: the leaderboard, the frames and pictures behind it, and the folder that keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolkit.formats.files import Problem

if TYPE_CHECKING:
    import pandas as pd

    from toolkit.report.plots import Plots


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
        from toolkit.report.plots import Plots

        return Plots(self.summary, self.turns, self.about)

    def save(self, folder: str | Path) -> Path:
        """Write the run folder: `run.toml`, the frames, `summary.csv`, `report.html`, `problems.jsonl`."""
        from toolkit.report import run_folder

        frames = {name: getattr(self, name) for name in run_folder.FRAMES}
        return run_folder.save(Path(folder), self.summary, frames, self.problems, self.about)

    @classmethod
    def load(cls, folder: str | Path) -> Comparison:
        """Return the comparison of a run folder.

        Raises:
            InputError: The folder is no run folder, or a file in it is damaged.
        """
        from toolkit.report import run_folder

        return cls(**run_folder.load(Path(folder)))

    def _repr_html_(self) -> str:
        from toolkit.report.tables import html_table

        return html_table(self.summary, self.about)

    def __repr__(self) -> str:
        from toolkit.report.tables import text_table

        return text_table(self.summary, self.about)
