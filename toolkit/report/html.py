"""The report as one self-contained HTML page."""

from __future__ import annotations

import base64
from collections import Counter
from io import BytesIO
from typing import TYPE_CHECKING

from jinja2 import Environment, PackageLoader

from toolkit.report.plots import save
from toolkit.report.tables import html_table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from toolkit.report.comparison import Comparison

_MOST_PROBLEMS = 50


def page(result: Comparison) -> str:
    """Return the report of a comparison: leaderboard, pictures, hardest tools, problems, what was run."""
    environment = Environment(loader=PackageLoader("toolkit.report", "templates"), autoescape=True)
    text: str = environment.get_template("report.html").render(
        about=result.about,
        table=html_table(result.summary, result.about),
        pareto=_picture(result.plot.pareto()),
        buckets=_picture(result.plot.buckets()),
        problems=result.problems[:_MOST_PROBLEMS],
        problem_counts=Counter(problem.code for problem in result.problems).most_common(),
        more_problems=max(0, len(result.problems) - _MOST_PROBLEMS),
    )
    return text


def _picture(ax: Axes) -> str:
    """Return a drawing as base64 PNG."""
    buffer = BytesIO()
    save(ax, buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode("ascii")
