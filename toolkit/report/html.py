"""The report as one self-contained HTML page."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader

from toolkit.formats.files import Problem
from toolkit.report.plots import Plots, save
from toolkit.report.tables import html_table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_MOST_PROBLEMS = 50


def page(summary: pd.DataFrame, turns: pd.DataFrame, problems: Sequence[Problem], about: Mapping[str, Any]) -> str:
    """Return the report of a comparison: leaderboard, pictures, hardest tools, problems, what was run."""
    plot = Plots(summary, turns, about)
    environment = Environment(loader=PackageLoader("toolkit.report", "templates"), autoescape=True)
    text: str = environment.get_template("report.html").render(
        about=about,
        table=html_table(summary, about),
        pareto=_picture(plot.pareto()),
        buckets=_picture(plot.buckets()),
        problems=problems[:_MOST_PROBLEMS],
        problem_counts=Counter(problem.code for problem in problems).most_common(),
        more_problems=max(0, len(problems) - _MOST_PROBLEMS),
    )
    return text


def _picture(ax: Axes) -> str:
    """Return a drawing as base64 PNG."""
    buffer = BytesIO()
    save(ax, buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode("ascii")
