"""The kinds of charts, each drawn on axes that are there."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from rankloom.reports.colours import BETTER, CYCLE, EDGE, INK, SAME, SOFT, WORSE
from rankloom.reports.labels import place_labels
from rankloom.reports.parts import Chart
from rankloom.reports.scales import Dots, number, ratio_text, short, value_text

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES = ("-", (0, (5, 2)), (0, (1.5, 1.5)), (0, (6, 2, 1.5, 2)))
_MANY = 60  # points of a line that are shown as points too
_COLUMNS = 600  # of a chart of differences
_LETTER = 0.62  # how wide a letter is, in heights


class Plot(NamedTuple):
    """Where to draw, what, and how large the letters are."""

    axes: Any
    chart: Chart
    series: Sequence[Dots]
    names: Sequence[str] | None
    size: float
    width: float

    def heights(self) -> Iterator[float]:
        """Every value that must be in sight."""
        for one in self.series:
            yield from one.y
            yield from one.low or ()
            yield from one.high or ()
        yield from self.levels().values()

    def levels(self) -> dict[str, float]:
        """The values that are drawn across."""
        found = {short(name, 30): number(value) for name, value in self.chart.lines}
        return {name: value for name, value in found.items() if value is not None}


def names_above(names: Sequence[str], width: float) -> bool:
    """Whether names stand above their bars, since there is no room beside them."""
    return width < 500 and max((len(short(name)) for name in names), default=0) > 12


def value_label(plot: Plot, label: str) -> None:
    """What the values are: above the axis, where it is read first."""
    plot.axes.set_title(folded(label, plot), loc="left", fontsize=plot.size, color=SOFT, pad=8)


def ticks_by_ratio(axis: Any, most: int) -> None:
    """Ticks at powers of ten; at 1, 2 and 5 of them where there are few."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator

    low, high = axis.get_view_interval()
    few = low > 0 and high / low < 100
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if few else (1.0,), numticks=most))
    axis.set_major_formatter(FuncFormatter(lambda value, _place: ratio_text(value)))
    axis.set_minor_locator(NullLocator())
    axis.set_minor_formatter(NullFormatter())


def marks(plot: Plot) -> None:
    """Lines or points, their bands, and the lines across."""
    axes, chart = plot.axes, plot.chart
    axes.grid(visible=True, axis="y" if chart.kind == "lines" else "both")
    axes.margins(x=0.04 if chart.kind == "lines" else 0.1, y=0.1)
    if chart.diagonal:
        _diagonal(plot)
    for place, one in enumerate(plot.series):
        _one(plot, place, one)
    for place, (name, value) in enumerate(plot.levels().items()):
        axes.axhline(
            value, color=INK, lw=1.2, ls=_DASHES[1 + place % 3], label=f"{name}: {value_text(value)}"
        )
    if plot.names is not None:
        _name_ticks(plot)
    for axis in (axes.xaxis, axes.yaxis):
        if axis.get_scale() == "log":
            ticks_by_ratio(axis, 9 if plot.width > 500 or axis is axes.yaxis else 6)
    handles, _ = axes.get_legend_handles_labels()
    _legend(plot, handles, least=2)
    if chart.kind == "points" and chart.labels and plot.series:
        first = plot.series[0]
        texts = [short(chart.labels[place], 24) if place < len(chart.labels) else "" for place in first.kept]
        spots = list(zip(first.x, first.y, strict=True))
        place_labels(axes, spots, texts, plot.size - 1, INK)


def _across(plot: Plot, draw: Callable[..., Any]) -> list[Any]:
    """The values that are drawn across, and what stands for them in the legend."""
    return [
        draw(value, color=INK, lw=1.2, ls=_DASHES[1 + place % 3], label=f"{name}: {value_text(value)}")
        for place, (name, value) in enumerate(plot.levels().items())
    ]


def _one(plot: Plot, place: int, one: Dots) -> None:
    """One series in its colour, with a mark of its own."""
    axes, colour = plot.axes, CYCLE[place % len(CYCLE)]
    joined = plot.chart.kind == "lines"
    marker = _MARKERS[place % len(_MARKERS)] if not joined or len(one.x) <= _MANY else ""
    dashes = _DASHES[place // len(CYCLE) % len(_DASHES)] if joined else ""
    axes.plot(
        one.x, one.y, color=colour, marker=marker, ls=dashes, label=short(one.name, 80),
        ms=5.5 if joined else 8, mew=0,
    )  # fmt: skip
    if one.low is None or one.high is None or not one.x:
        return
    if joined and len(one.x) > 1:
        axes.fill_between(one.x, one.low, one.high, color=colour, alpha=0.16, lw=0)
    else:
        axes.vlines(one.x, one.low, one.high, color=colour, lw=1.6)


def _diagonal(plot: Plot) -> None:
    """x = y over all that is in sight, at least from 0 to 1, in a square."""
    values = [0.0, 1.0, *(value for one in plot.series for value in (*one.x, *one.y))]
    low, high = min(values), max(values)
    room = 0.03 * (high - low)
    plot.axes.plot([low, high], [low, high], color=EDGE, lw=1.4, ls=_DASHES[1], label="x = y", zorder=1)
    plot.axes.set(xlim=(low - room, high + room), ylim=(low - room, high + room), box_aspect=1)


def _name_ticks(plot: Plot) -> None:
    names = [short(name, 18) for name in plot.names or ()]
    crowded = _LETTER * plot.size * sum(len(name) + 2 for name in names) > 0.85 * plot.width
    turned = {"rotation": 35, "ha": "right", "rotation_mode": "anchor"} if crowded else {}
    plot.axes.set_xticks(range(len(names)), names, **turned)


def _legend(plot: Plot, handles: Sequence[Any], least: int) -> None:
    """Names below the axes, as many beside each other as there is room for."""
    if len(handles) < least:
        return
    names = [short(handle.get_label(), _letters(plot, 4.2)) for handle in handles]
    widest = _LETTER * plot.size * max(map(len, names)) + 4.2 * plot.size
    plot.axes.figure.legend(
        handles, names, loc="outside lower left", ncols=max(1, min(len(names), int(plot.width / widest))),
        labelcolor=INK, handlelength=2.0, columnspacing=1.4,
    )  # fmt: skip


def _letters(plot: Plot, taken: float) -> int:
    """How many letters fit on a line, beside what takes so many heights of a letter."""
    return int((plot.width - taken * plot.size) / (_LETTER * plot.size))


def folded(text: str, plot: Plot) -> str:
    """A label on as many lines as it takes."""
    return "\n".join(textwrap.wrap(short(text, 120), max(10, _letters(plot, 5.0)))) or text


def rows(plot: Plot) -> None:
    """A row for each name: bars from 0, or dots; what is around a value as a line through it."""
    axes, n_series = plot.axes, max(1, len(plot.series))
    names, above = plot.names or [], names_above(plot.names or [], plot.width)
    room = 0.62 if above else 0.8
    each = room / n_series
    for place, one in enumerate(plot.series):
        shift = (place - (n_series - 1) / 2) * each + (0.14 if above else 0.0)
        _row_marks(plot, one, [at + shift for at in one.x], CYCLE[place % len(CYCLE)], each)
    _across(plot, axes.axvline)
    axes.grid(visible=True, axis="x")
    axes.margins(x=0.06)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0, labelcolor=INK)
    axes.spines["left"].set_visible(plot.chart.kind == "bars" and not above)
    if above:
        axes.set_yticks([])
        for place, name in enumerate(names):
            axes.text(
                0.0, place - 0.3, short(name), transform=axes.get_yaxis_transform(), va="center", color=INK
            )
    else:
        axes.set_yticks(range(len(names)), [short(name) for name in names])
    axes.set_xlabel(folded(plot.chart.y_label, plot))
    axes.xaxis.get_major_locator().set_params(nbins=5 if plot.width < 500 else 8)
    handles, _ = axes.get_legend_handles_labels()
    alone = n_series == 1
    _legend(plot, handles[1:] if alone else handles, least=1)


def _row_marks(plot: Plot, one: Dots, where: Sequence[float], colour: str, each: float) -> None:
    axes, name = plot.axes, short(one.name, 80)
    if plot.chart.kind == "bars":
        axes.barh(where, one.y, height=0.86 * each, color=colour, label=name)
        axes.axvline(0.0, color=EDGE, lw=1.0)
    else:
        axes.plot(one.y, where, color=colour, marker="o", ms=8, ls="", mew=0, label=name)
    if one.low is not None and one.high is not None:
        line = INK if plot.chart.kind == "bars" else colour
        axes.hlines(where, one.low, one.high, color=line, lw=2.0 if plot.chart.kind == "dots" else 1.4)
    if len(plot.series) == 1:
        for at, value in zip(where, one.y, strict=True):
            axes.text(
                1.015, at, value_text(value), transform=axes.get_yaxis_transform(), va="center", color=SOFT
            )


def differences(plot: Plot) -> None:
    """Sorted differences, the best first: what is won above 0, what is lost below, and how many of each."""
    from matplotlib.patches import Patch

    axes = plot.axes
    values = sorted((value for one in plot.series for value in one.y), reverse=True)
    counts = (
        ("better", BETTER, sum(value > 0 for value in values)),
        ("the same", SAME, sum(value == 0 for value in values)),
        ("worse", WORSE, sum(value < 0 for value in values)),
    )
    columns = min(len(values), _COLUMNS)
    heights = [values[int((place + 0.5) * len(values) / columns)] for place in range(columns)]
    edges = [place * len(values) / columns for place in range(columns + 1)]
    for sign, colour in ((1.0, BETTER), (-1.0, WORSE)):
        axes.stairs(
            [height if sign * height > 0 else 0.0 for height in heights], edges, fill=True, color=colour
        )
    axes.axhline(0.0, color=EDGE, lw=1.2)
    axes.grid(visible=True, axis="y")
    axes.set_xlim(0, len(values))
    axes.margins(y=0.08)
    axes.set_xlabel(folded(plot.chart.x_label, plot))
    axes.xaxis.get_major_locator().set_params(integer=True, nbins=5 if plot.width < 500 else 9)
    value_label(plot, plot.chart.y_label)
    handles: list[Any] = [Patch(color=colour, label=f"{name}: {count:,}") for name, colour, count in counts]
    _legend(plot, [*handles, *_across(plot, axes.axhline)], least=1)
