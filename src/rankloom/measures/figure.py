"""A line chart as SVG text, for what has a curve to show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike

WIDTH, HEIGHT = 640, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 34, 46
_TICKS = 5
_MOST_POINTS = 2000


class Line(NamedTuple):
    """One line: its points, its colour, how thick and how opaque; `name` goes into the legend."""

    x: ArrayLike
    y: ArrayLike
    colour: str = "#1f4e79"
    width: float = 1.6
    opacity: float = 1.0
    name: str = ""


class Mark(NamedTuple):
    """A point with a word beside it."""

    x: float
    y: float
    text: str
    colour: str = "#c0392b"


def chart(
    lines: Sequence[Line], *, title: str, x_label: str, y_label: str, marks: Sequence[Mark] = ()
) -> str:
    """The SVG text of some lines over one pair of axes."""
    xs = [float(v) for line in lines for v in np.asarray(line.x)] + [mark.x for mark in marks]
    ys = [float(v) for line in lines for v in np.asarray(line.y)] + [mark.y for mark in marks]
    across, up = _Axis(xs, _LEFT, WIDTH - _RIGHT, 0.0), _Axis(ys, HEIGHT - _BOTTOM, _TOP, 0.06)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<rect x="{_LEFT}" y="{_TOP}" width="{WIDTH - _LEFT - _RIGHT}" height="{HEIGHT - _TOP - _BOTTOM}" '
        'fill="none" stroke="#999"/>',
        _text(WIDTH / 2, 20, title, "middle"),
        _text((_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 10, x_label, "middle"),
        f'<text x="14" y="{(_TOP + HEIGHT - _BOTTOM) / 2:.1f}" text-anchor="middle" '
        f'transform="rotate(-90 14 {(_TOP + HEIGHT - _BOTTOM) / 2:.1f})">{escape(y_label)}</text>',
    ]
    bottom = HEIGHT - _BOTTOM + 16
    parts += [_text(across(tick), bottom, f"{tick:.4g}", "middle") for tick in across.ticks()]
    parts += [_text(_LEFT - 6, up(tick) + 4, f"{tick:.4g}", "end") for tick in up.ticks()]
    parts += [_polyline(line, across, up) for line in lines]
    for mark in marks:
        x, y = across(mark.x), up(mark.y)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{mark.colour}"/>')
        right = x > (_LEFT + WIDTH - _RIGHT) / 2
        parts.append(_text(x + (-8 if right else 8), y - 7, mark.text, "end" if right else "start"))
    named = [line for line in lines if line.name]
    for place, line in enumerate(named):
        y = HEIGHT - _BOTTOM - 10 - 16 * (len(named) - 1 - place)
        parts.append(
            f'<line x1="{_LEFT + 10}" x2="{_LEFT + 34}" y1="{y - 4}" y2="{y - 4}" stroke="{line.colour}" '
            f'stroke-width="{max(line.width, 1.6):g}"/>'
        )
        parts.append(_text(_LEFT + 40, y, line.name, "start"))
    return "\n".join([*parts, "</svg>", ""])


class _Axis:
    """Numbers to places on the page."""

    def __init__(self, values: Sequence[float], start: float, end: float, margin: float) -> None:
        finite = [value for value in values if np.isfinite(value)] or [0.0]
        low, high = min(finite), max(finite)
        room = (high - low) * margin or (0.0 if high > low else max(abs(high), 1.0) * 1e-3)
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def __call__(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round numbers, about five of them."""
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** np.floor(np.log10(rough))
        step = float(next(power * m for m in (1.0, 2.0, 2.5, 5.0, 10.0) if power * m >= rough))
        first = np.ceil(self.low / step - 1e-9)
        last = np.floor(self.high / step + 1e-9)
        return [float(step * place) + 0.0 for place in np.arange(first, last + 1)]


def _polyline(line: Line, across: _Axis, up: _Axis) -> str:
    x, y = np.asarray(line.x, dtype=np.float64), np.asarray(line.y, dtype=np.float64)
    points = " ".join(f"{across(a):.1f},{up(b):.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
    opacity = f' stroke-opacity="{line.opacity:g}"' if line.opacity < 1.0 else ""
    look = f'fill="none" stroke="{line.colour}" stroke-width="{line.width:g}"{opacity}'
    return f'<polyline points="{points}" {look}/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def steps(edges: ArrayLike, values: ArrayLike) -> tuple[ArrayLike, ArrayLike]:
    """A step function as the points of a line; of very many steps, some that keep the highest and lowest."""
    borders, levels = np.asarray(edges, dtype=np.float64), np.asarray(values, dtype=np.float64)
    if len(levels) > _MOST_POINTS:
        every = -(-2 * len(levels) // _MOST_POINTS)
        first = np.arange(0, len(levels), every)
        both = np.column_stack((np.minimum.reduceat(levels, first), np.maximum.reduceat(levels, first)))
        last = np.append(first[1:], len(levels))
        middles = (borders[first] + borders[last]) / 2.0
        return np.repeat(middles, 2), both.reshape(-1)
    return np.repeat(borders, 2)[1:-1], np.repeat(levels, 2)
