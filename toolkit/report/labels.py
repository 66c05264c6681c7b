"""Names beside points: none lies on another name or on a point, and points that lie on each other share one."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_NEAR, _AROUND, _WIDTH = 7.0, 5.0, 30
"""Points so near share a name, and so much room stands around each (in points); characters a line."""
_FAR = (9, 16, 26, 38, 52, 68, 86, 106)
_WAYS = tuple(math.radians(way) for way in (0, 45, -45, 180, 135, -135, 90, -90, 20, -20, 160, -160))
Box = tuple[float, float, float, float]


class Spot(NamedTuple):
    """A point to name; strong ones are named first, in dark letters."""

    x: float
    y: float
    name: str
    strong: bool = True


class _Place(NamedTuple):
    """Where a name could stand: its offset from the point, how it is aligned, and the room that it takes."""

    offset: tuple[float, float]
    across: str
    upright: str
    box: Box


def name_points(ax: Axes, spots: Sequence[Spot]) -> None:
    """Write each spot's name beside it, with a thin line to it where the name had to stand far off.

    Call it last: the axes must have the limits, scales and size that they will have.
    """
    from matplotlib.patheffects import withStroke

    figure: Any = ax.figure
    if (layout := figure.get_layout_engine()) is not None:
        layout.execute(figure)
    to_points = 72 / figure.dpi
    frame: Box = tuple(float(value) * to_points for value in ax.get_window_extent().extents)
    at = [tuple(to_points * ax.transData.transform((spot.x, spot.y))) for spot in spots]
    taken = [(x - _AROUND, y - _AROUND, x + _AROUND, y + _AROUND) for x, y in at]
    for group in _shared(spots, at):
        spot, (x, y) = spots[group[0]], at[group[0]]
        text = ax.annotate(
            _joined([spots[one].name for one in group]), (spot.x, spot.y), (0, 0), textcoords="offset points"
        )
        text.set(fontsize=8.5 if spot.strong else 7.5, color="#1f2933" if spot.strong else "#6b7684", in_layout=False)
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
        extent = text.get_window_extent()
        places = _places(x, y, extent.width * to_points, extent.height * to_points)
        best = min(places, key=lambda place: _badness(place.box, taken, frame))
        taken.append(best.box)
        text.set(position=best.offset, ha=best.across, va=best.upright)
        _lead(ax, spot, best.offset)


def _shared(spots: Sequence[Spot], at: Sequence[Sequence[float]]) -> list[list[int]]:
    """Return which spots share a name, the strong ones first."""
    groups: list[list[int]] = []
    for one in sorted(range(len(spots)), key=lambda place: not spots[place].strong):
        near = (
            group for group in groups if max(abs(a - b) for a, b in zip(at[one], at[group[0]], strict=True)) < _NEAR
        )
        group = next(near, None)
        if group is None:
            groups.append([one])
        else:
            group.append(one)
    return groups


def _joined(names: Sequence[str]) -> str:
    text = textwrap.fill(", ".join(names), _WIDTH, break_long_words=False, break_on_hyphens=False)
    return text.replace("$", r"\$")


def _places(x: float, y: float, width: float, height: float) -> Iterator[_Place]:
    """Yield the places around a point, the nearest first."""
    for far, way in product(_FAR, _WAYS):
        right, up = far * math.cos(way), far * math.sin(way)
        across = "left" if right > 1 else "right" if right < -1 else "center"
        upright = "bottom" if up > 1 and across == "center" else "top" if across == "center" else "center"
        left = x + right - {"left": 0, "right": width, "center": width / 2}[across]
        low = y + up - {"bottom": 0, "top": height, "center": height / 2}[upright]
        yield _Place((right, up), across, upright, (left, low, left + width, low + height))


def _badness(box: Box, taken: Sequence[Box], frame: Box) -> float:
    """Return how much of a box lies on others, or outside the frame."""
    inside = _common(box, frame)
    return sum(_common(box, other) for other in taken) + 3 * ((box[2] - box[0]) * (box[3] - box[1]) - inside)


def _common(one: Box, other: Box) -> float:
    """Return the area that two boxes share."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return max(width, 0.0) * max(height, 0.0)


def _lead(ax: Axes, spot: Spot, offset: tuple[float, float]) -> None:
    if math.hypot(*offset) > _FAR[1]:
        line = {"arrowstyle": "-", "color": "#9aa5b1", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 3}
        ax.annotate("", (spot.x, spot.y), offset, textcoords="offset points", arrowprops=line).set_in_layout(False)
