"""The picture of a break-even: two Axes, every line named, and what it is of below."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.experiment.break_even.test_study import found
from toolkit.experiment.break_even.plot import caption, cost_against_size, draw, save, turns_that_pay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def test_both_panels_are_axes_that_can_be_drawn() -> None:
    from matplotlib.axes import Axes

    panels = draw(found())
    assert all(isinstance(ax, Axes) for ax in panels)
    panels[0].figure.canvas.draw()


def test_a_panel_draws_into_the_axes_that_it_is_given() -> None:
    import matplotlib.pyplot as plt

    one, other = plt.subplots(1, 2)[1]
    assert cost_against_size(found(), one) is one and turns_that_pay(found(), other) is other


def test_every_line_is_named_and_the_crossing_is_marked() -> None:
    ax = cost_against_size(found())
    legend = " ".join(text.get_text() for text in ax.get_legend().get_texts())
    assert all(name in legend for name in ("all (bound)", "oracle (bound)", "lazy: "))
    at = found().crossings["with_fallback_pays_from_tools"].iloc[0]
    assert f"pays from {at:.0f} tools" in " ".join(text.get_text() for text in ax.texts)


def test_the_caption_names_data_counter_model_seed_n_and_prices() -> None:
    said = caption(found().about)
    assert all(part in said for part in ("2 sessions, 4 turns", "seed 0", "openai/chat/gpt-5", "genai-prices"))


def test_it_is_written_as_a_file(tmp_path: Path) -> None:
    save(found(), tmp_path / "pays.png")
    assert (tmp_path / "pays.png").stat().st_size > 10_000
