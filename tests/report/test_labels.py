"""Names beside points can be read: none lies on another, and what lies together is named together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from random import Random
from typing import Any

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from toolkit.report.labels import Spot, name_points  # noqa: E402


@pytest.fixture()
def ax() -> Iterator[Any]:
    import matplotlib.pyplot as plt

    yield plt.subplots(figsize=(8, 5), layout="constrained")[1]
    plt.close("all")


def named(ax: Any, spots: list[Spot]) -> list[Any]:
    """Name spots, draw, and return the texts that stand there."""
    ax.scatter([spot.x for spot in spots], [spot.y for spot in spots])
    name_points(ax, spots)
    ax.figure.canvas.draw()
    return [text for text in ax.texts if text.get_text()]


def test_no_name_lies_on_another_or_on_a_point(ax: Any) -> None:
    random = Random(0)
    spots = [Spot(random.gauss(0, 1), random.gauss(0, 1), f"selector(k={n})") for n in range(18)]
    texts = named(ax, spots)
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in texts]
    points = ax.transData.transform([(spot.x, spot.y) for spot in spots])
    assert len(texts) > 12
    assert not any(one.padded(-1).overlaps(other.padded(-1)) for one, other in combinations(boxes, 2))
    assert not any(box.contains(*point) for box in boxes for point in points)


def test_no_name_stands_outside_the_axes(ax: Any) -> None:
    texts = named(ax, [Spot(x, y, "a name of some length") for x in (0.0, 1.0) for y in (0.0, 1.0)])
    frame = ax.get_window_extent()
    boxes = [matplotlib.text.Text.get_window_extent(text) for text in texts]
    assert all(frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1 for box in boxes)


def test_points_that_lie_on_each_other_share_a_name_and_the_strong_one_leads(ax: Any) -> None:
    texts = named(ax, [Spot(1, 1, "weak", False), Spot(1, 1, "strong"), Spot(2, 2, "alone", False)])
    assert [text.get_text() for text in texts] == ["strong, weak", "alone"]


def test_a_thin_line_leads_to_a_name_that_had_to_stand_far_off(ax: Any) -> None:
    crowd = [Spot(n / 60, 0.0, f"a long name {n}") for n in range(14)]
    named(ax, [*crowd, Spot(1.0, 1.0, "free"), Spot(0.0, -1.0, "free too")])
    lines = [one for one in ax.texts if not one.get_text()]
    assert lines and all(line.xy[1] == 0.0 for line in lines)


def test_a_name_is_drawn_as_it_is_never_as_a_formula(ax: Any) -> None:
    (text,) = named(ax, [Spot(1, 1, "$\\frac$")])
    assert text.get_text() == "\\$\\frac\\$"
