"""Names next to the points of a figure, as many as there is room for."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox


class Point(NamedTuple):
    """A point and its name."""

    name: str
    x: float
    y: float
    colour: str


_PLACES = ((7, 0, "left"), (-7, 0, "right"), (6, 9, "left"), (6, -9, "left"), (-6, 9, "right"), (-6, -9, "right"))


def label_points(figure: Figure, axes: Axes, points: Sequence[Point]) -> None:
    """Write the names in order; a name for which there is no room is left out."""
    canvas: Any = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    taken = [_mark(axes, point) for point in points]
    room = axes.get_window_extent(renderer)
    for point in points:
        for across, up, side in _PLACES:
            text = axes.annotate(
                point.name,
                (point.x, point.y),
                (across, up),
                textcoords="offset points",
                ha=side,
                va="center",
                fontsize=7.5,
                color=point.colour,
            )
            box = text.get_window_extent(renderer)
            if not any(box.overlaps(other) for other in taken) and room.x0 <= box.x0 and box.x1 <= room.x1:
                taken.append(box)
                break
            text.remove()


def _mark(axes: Axes, point: Point) -> Bbox:
    x, y = axes.transData.transform((point.x, point.y))
    return Bbox.from_bounds(x - 4, y - 4, 8, 8)
