"""The pictures of a leaderboard show what the table says: who leads, how far each is from the best, and the doubt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from toolkit.errors import InputError, UnknownNameError

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pd = pytest.importorskip("pandas")

from toolkit.report.frontier_plot import DARK, FIGURES, frontier, regret  # noqa: E402

NAMES = ["oracle_cost", "none", "lean", "middling", "beaten", "frequent(k=2, usage=<3 sessions, 0123abcd>)"]


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def board(**columns: Any) -> Any:
    """Return a leaderboard of six systems over ten turns with fifty calls."""
    cost = [1.0, 9.0, 2.0, 3.0, 4.0, 5.0]
    missed = [0, 50, 20, 10, 15, 0]
    return pd.DataFrame({
        "system": NAMES,
        "bound": [True, True, False, False, False, False],
        "turns": 10,
        "calls": 50,
        "blocked": 0,
        "missed": missed,
        "missed_min": missed,
        "missed_max": [n + 5 for n in missed],
        "search_trips": [0, 0, 20, 10, 10, 10],
        "prompt_tokens": [1000, 100, 2000, 3000, 4000, 5000],
        "prompt_tokens_per_turn_low": [90.0, 9.0, 150.0, 250.0, 350.0, 450.0],
        "prompt_tokens_per_turn_high": [110.0, 11.0, 250.0, 350.0, 450.0, 550.0],
        "cost_with_fallback_usd": cost,
        "regret": [value - 1 for value in cost],
        "regret_low": [value - 1.5 for value in cost],
        "regret_high": [value + 1 for value in cost],
        **columns,
    })  # fmt: skip


def dark(ax: Any) -> set[tuple[float, float]]:
    """Return the points that are drawn as those that none beats."""
    (kind,) = [one for one in ax.collections if one.get_label() == "selector that none beats on both"]
    return {(round(float(x), 6), round(float(y), 6)) for x, y in kind.get_offsets()}


@pytest.mark.parametrize(
    ("x", "y"), [("cost", "missed"), ("tokens", "served"), ("served", "cost"), ("trips", "missed")]
)
def test_the_dark_points_are_the_selectors_that_no_other_beats_on_both(x: str, y: str) -> None:
    ax = frontier(board(), x, y)
    values = {name: FIGURES[name].of(board())[0][2:] for name in (x, y)}
    signs = [-1 if FIGURES[name].more_is_better else 1 for name in (x, y)]
    points = [(signs[0] * a, signs[1] * b) for a, b in zip(values[x], values[y], strict=True)]
    best = [p for p in points if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in points)]
    assert dark(ax) == {(round(signs[0] * a, 6), round(signs[1] * b, 6)) for a, b in best}


def test_every_system_is_named_without_what_it_learnt() -> None:
    texts = " ".join(text.get_text() for text in frontier(board(), "cost", "served").texts)
    assert all(name in texts for name in ("oracle_cost", "lean", "beaten", "frequent(k=2)")) and "usage" not in texts


def test_a_bar_over_query_models_stands_below_the_share_of_calls_served() -> None:
    value, low, high = FIGURES["served"].of(board())
    assert list(value) == [100, 0, 60, 80, 70, 100] and list(value - low) == [10] * 6 and list(high) == list(value)


def test_without_other_query_models_there_is_no_bar() -> None:
    value, low, high = FIGURES["cost"].of(board())
    assert list(value) == list(low) == list(high) == [0.1, 0.9, 0.2, 0.3, 0.4, 0.5]


def test_costs_and_tokens_stand_on_a_logarithmic_axis_in_plain_numbers() -> None:
    ax = frontier(board(), "tokens", "cost", title="$ten$ turns")
    ax.figure.canvas.draw()
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log") and ax.get_title() == r"\$ten\$ turns"
    assert {"10", "100"} <= {text.get_text() for text in ax.get_xticklabels()}
    assert {"0.1", "0.5"} <= {text.get_text() for text in ax.get_yticklabels()}


def test_an_axis_of_many_decades_is_written_at_each_decade_and_in_millions() -> None:
    many = [10.0**power for power in range(4, 10)]
    columns = {f"prompt_tokens_per_turn_{end}": many for end in ("low", "high")}
    ax = frontier(board(prompt_tokens=[10 * n for n in many], **columns))
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_xticklabels()]
    assert {"10,000", "1 M", "1,000 M"} <= set(texts) and not {"20,000", "2 M"} & set(texts)


def test_a_regret_bar_is_as_long_as_the_percent_above_the_cheapest_possible_and_bounds_are_hollow() -> None:
    ax = regret(board())
    names = [text.get_text() for text in ax.get_yticklabels()]
    assert names == ["none", "frequent(k=2)", "beaten", "middling", "lean", "oracle_cost"]
    assert [patch.get_width() for patch in ax.patches] == pytest.approx([800, 400, 300, 200, 100, 0])
    colours = [matplotlib.colors.to_hex(patch.get_facecolor()) for patch in ax.patches]
    assert colours == ["#ffffff", *[DARK] * 4, "#ffffff"]


def test_a_regret_bar_carries_its_interval() -> None:
    ax = regret(board())
    segments = [one for bars in ax.collections if hasattr(bars, "get_segments") for one in bars.get_segments()]
    ends = {(round(float(a[0])), round(float(b[0]))) for a, b in segments}
    assert (50, 300) in ends and (350, 600) in ends


def test_small_regrets_can_be_read_beside_a_huge_one() -> None:
    assert regret(board()).get_xscale() == "linear"
    huge = regret(board(regret=[0.0, 900.0, 0.5, 1.0, 2.0, 9.0], regret_low=float("nan"), regret_high=float("nan")))
    ends = huge.transData.transform([(patch.get_width(), 0) for patch in huge.patches])[:, 0]
    assert huge.get_xscale() == "symlog" and ends[4] - ends[5] > 0.05 * (ends[0] - ends[5])


def test_a_figure_that_there_is_not_is_told_with_the_nearest_name() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'tokens'"):
        frontier(board(), "token")


def test_without_prices_there_is_no_picture_of_costs() -> None:
    unknown = board(cost_with_fallback_usd=float("nan"), regret=float("nan"))
    with pytest.raises(InputError, match="nobody knows the costs"):
        frontier(unknown, "cost", "served")
    with pytest.raises(InputError, match="nobody knows the regret"):
        regret(unknown)
    assert frontier(unknown).get_xlabel().startswith("prompt tokens")
