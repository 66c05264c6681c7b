"""The picture of a forecast's reliability shows every bin, its doubt and its weight, also where nothing came true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from toolkit.errors import InputError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pd = pytest.importorskip("pandas")

from toolkit.report.frontier_plot import DARK  # noqa: E402
from toolkit.report.reliability_plot import GUESSES, reliability_plot  # noqa: E402

ROWS = [
    ("now", 1_500, 0.01, 0.02, 0.015, 0.03),
    ("now", 40, 0.3, 0.0, 0.0, 0.09),
    ("miss", 12, 0.25, 0.5, 0.25, 0.75),
]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def frame(rows: list[Any] = ROWS) -> Any:
    return pd.DataFrame(rows, columns=["what", "n", "predicted", "observed", "low", "high"])


def points(ax: Any) -> list[tuple[float, float, str]]:
    """Return (x, y, colour) of each point drawn."""
    (drawn,) = [one for one in ax.collections if isinstance(one, matplotlib.collections.PathCollection)]
    colours = [matplotlib.colors.to_hex(face) for face in drawn.get_facecolor()]
    return [(float(x), float(y), colour) for (x, y), colour in zip(drawn.get_offsets(), colours, strict=True)]


def test_each_guess_has_its_panel_and_each_bin_its_point() -> None:
    axes = reliability_plot(frame(), title="$two$ sessions")
    assert [ax.get_title().splitlines()[-1] for ax in axes] == list(GUESSES.values())
    assert axes[0].get_title().startswith(r"\$two\$ sessions")
    assert points(axes[0])[0] == (0.01, 0.02, DARK) and points(axes[2]) == [(0.25, 0.5, DARK)]


def test_a_bin_that_never_came_true_is_hollow_and_stands_below_all_others() -> None:
    _, (x, y, colour) = points(reliability_plot(frame())[0])
    assert (x, colour) == (0.3, "#ffffff") and 0 < y < 0.01


def test_a_guess_that_never_came_true_at_all_is_drawn_too() -> None:
    ((_, y, colour),) = points(reliability_plot(frame([("later", 9, 0.2, 0.0, 0.0, 0.3)]))[1])
    assert colour == "#ffffff" and 0 < y < 0.2


def test_a_bar_is_the_interval_and_a_number_says_how_many_guesses_a_point_stands_for() -> None:
    ax = reliability_plot(frame())[2]
    segments = [one for bars in ax.collections if hasattr(bars, "get_segments") for one in bars.get_segments()]
    assert [(float(a[1]), float(b[1])) for a, b in segments] == [(0.25, 0.75)]
    assert [text.get_text() for text in ax.texts] == ["12"]


def test_rare_guesses_stand_on_logarithmic_axes_and_a_guess_without_bins_says_so() -> None:
    now, later, miss = reliability_plot(frame())
    assert (now.get_xscale(), now.get_yscale(), miss.get_xscale()) == ("log", "log", "linear")
    assert [text.get_text() for text in later.texts] == ["no such guess"]


def test_an_empty_frame_is_an_error() -> None:
    with pytest.raises(InputError, match="no guess to draw"):
        reliability_plot(frame([]))
