"""The picture of a diagnosis: what each server's definitions cost, and how much of that was for tools never used."""

from __future__ import annotations

import base64
from io import BytesIO
from typing import TYPE_CHECKING

import pandas as pd

from toolkit.experiment.diagnosis.diagnose import Diagnosis
from toolkit.report.plots import save

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {"used": "#2f6690", "never used": "#d1495b"}
_MOST = 25


def weight_by_server(found: Diagnosis, ax: Axes | None = None) -> Axes:
    """USD of the definitions over the recorded passes, one bar a server, the tools that were never used in red."""
    import matplotlib.pyplot as plt

    frame = found.weight.assign(kind=found.weight["calls"].gt(0).map({True: "used", False: "never used"}))
    sums = frame.pivot_table(index="server", columns="kind", values="usd_paid", aggfunc="sum", fill_value=0.0)
    sums = sums.reindex(columns=list(_COLOURS), fill_value=0.0)
    sums = sums.loc[sums.sum(axis=1).sort_values().index[-_MOST:]]
    if ax is None:
        ax = plt.subplots(figsize=(8, 1.4 + 0.28 * len(sums)), layout="constrained")[1]
    left = pd.Series(0.0, index=sums.index)
    for kind, colour in _COLOURS.items():
        ax.barh([name.replace("$", r"\$") for name in sums.index], sums[kind], left=left, color=colour, label=kind)
        left = left + sums[kind]
    ax.set(xlabel="USD over all recorded passes", title="What each server's definitions cost")
    ax.legend(frameon=False, loc="lower right")
    return ax


def picture(found: Diagnosis) -> str:
    """Return the drawing as base64 PNG."""
    buffer = BytesIO()
    save(weight_by_server(found), buffer, "png")
    return base64.b64encode(buffer.getvalue()).decode("ascii")
