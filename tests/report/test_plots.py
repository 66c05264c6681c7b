"""Plots return Axes, draw every system, and take any name."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.report.results import result

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


@pytest.mark.parametrize("name", ["pareto", "buckets"])
def test_a_plot_is_an_axes_that_can_be_drawn_whatever_the_names(name: str) -> None:
    from matplotlib.axes import Axes

    ax = getattr(result().plot, name)()
    assert isinstance(ax, Axes)
    ax.figure.canvas.draw()


@pytest.mark.parametrize("name", ["pareto", "buckets"])
def test_a_plot_draws_into_the_axes_that_it_is_given(name: str) -> None:
    import matplotlib.pyplot as plt

    ax = plt.subplots()[1]
    assert getattr(result().plot, name)(ax) is ax


def test_every_system_is_named_in_the_pareto_plot() -> None:
    texts = " ".join(text.get_text() for text in result().plot.pareto().texts)
    assert all(name in texts for name in ("all", "oracle", "lazy", "builtin-only"))


def test_the_pareto_plot_draws_the_spread_over_query_models_upright() -> None:
    from toolkit.report.plots import Plots

    board = result().summary.assign(calls=10, missed=2, missed_min=1, missed_max=4)
    drawn = Plots(board, result().turns, result().about).pareto()
    upright = [
        segment for bars in drawn.collections if hasattr(bars, "get_segments") for segment in bars.get_segments()
    ]
    heights = {round(abs(float(one[1][1] - one[0][1])), 6) for one in upright}
    assert 30.0 in heights


def test_a_bar_is_as_long_as_the_prompt_tokens_of_a_turn() -> None:
    ax = result().plot.buckets()
    board = result().summary.set_index("system")
    longest = max(patch.get_x() + patch.get_width() for patch in ax.patches)
    assert longest == pytest.approx((board["prompt_tokens"] / board["turns"]).max())
