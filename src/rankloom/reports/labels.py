"""Where the labels of points go: beside them, where they cover the least."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Offsets of the label from its point, in heights of a letter, and which corner of it is there: best first.
_SIDES = (
    (0.55, 0.0, "left", "center"), (-0.55, 0.0, "right", "center"), (0.0, 0.6, "center", "bottom"),
    (0.0, -0.6, "center", "top"), (0.45, 0.45, "left", "bottom"), (0.45, -0.45, "left", "top"),
    (-0.45, 0.45, "right", "bottom"), (-0.45, -0.45, "right", "top"), (0.0, 1.5, "center", "bottom"),
    (0.0, -1.5, "center", "top"), (0.8, 1.2, "left", "bottom"), (0.8, -1.2, "left", "top"),
    (-0.8, 1.2, "right", "bottom"), (-0.8, -1.2, "right", "top"),
)  # fmt: skip
Box = tuple[float, float, float, float]


def place_labels(
    axes: Any, points: Sequence[tuple[float, float]], texts: Sequence[str], size: float, ink: str
) -> None:
    """Write a text beside each point; each takes the side where it overlaps others and the edge the least."""
    figure = axes.figure
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()
    frame = axes.get_window_extent(renderer)
    spots = [tuple(axes.transData.transform(point)) for point in points]
    taken: list[Box] = [(x - size / 3, y - size / 3, x + size / 3, y + size / 3) for x, y in spots]
    for point, spot, text in zip(points, spots, texts, strict=True):
        width = _width(text, size)
        boxes = [_box(spot, side, width, size) for side in _SIDES]
        costs = [_cost(box, taken, (frame.x0, frame.y0, frame.x1, frame.y1)) for box in boxes]
        best = costs.index(min(costs))
        right, up, across, along = _SIDES[best]
        taken.append(boxes[best])
        axes.annotate(
            text, point, (right * size, up * size), textcoords="offset points", ha=across, va=along,
            fontsize=size, color=ink, annotation_clip=False,
        ).set_in_layout(False)  # fmt: skip


def _width(text: str, size: float) -> float:
    return 0.62 * size * len(text)


def _box(spot: Sequence[float], side: tuple[float, float, str, str], width: float, size: float) -> Box:
    right, up, across, along = side
    x, y = spot[0] + right * size, spot[1] + up * size
    left = x - {"left": 0.0, "center": 0.5, "right": 1.0}[across] * width
    low = y - {"bottom": 0.0, "center": 0.5, "top": 1.0}[along] * 1.2 * size
    return left, low, left + width, low + 1.2 * size


def _cost(box: Box, taken: Sequence[Box], frame: Box) -> float:
    """How much of a label lies on others, and how much outside."""
    own = (box[2] - box[0]) * (box[3] - box[1])
    return sum(_shared(box, other) for other in taken) + 3.0 * (own - _shared(box, frame))


def _shared(a: Box, b: Box) -> float:
    return max(0.0, min(a[2], b[2]) - max(a[0], b[0])) * max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
