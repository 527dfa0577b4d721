"""Charts as pictures, by matplotlib: the same chart gives the same bytes.

    svg(chart, WIDE)                 an SVG as matplotlib writes it; svg.py makes it fit for a page
    picture(chart, "png")            a file of its own, on white, with its title

Nothing of matplotlib's global state is used or changed, but within one call.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from rankloom.errors import InputError
from rankloom.reports import plots
from rankloom.reports.colours import EDGE, GRID, INK, SOFT
from rankloom.reports.needs import need_matplotlib
from rankloom.reports.parts import Chart
from rankloom.reports.scales import axis_label, by_ratio, dots_of, places, short
from rankloom.reports.svg import standalone

FORMATS = ("svg", "png")
_DPI = 72  # so that a point is a pixel of the SVG
_PNG_DPI = 180
_NOTHING = "There is nothing to draw."


class Look(NamedTuple):
    """How large a figure is drawn, in pixels, and with what type."""

    name: str
    width: int
    height: int
    size: float


WIDE = Look("wide", 760, 380, 13.5)
NARROW = Look("narrow", 360, 300, 12.5)


def picture(chart: Chart, kind: str) -> bytes:
    """A chart as a file of its own."""
    if kind not in FORMATS:
        raise InputError(f"format must be one of {', '.join(FORMATS)}, got {kind!r:.40}")
    if kind == "svg":
        return standalone(svg(chart, WIDE, titled=True), chart.title, chart.says).encode()
    return _saved(
        chart, WIDE, True, format="png", dpi=_PNG_DPI, facecolor="white", metadata={"Software": None}
    )


def svg(chart: Chart, look: Look, titled: bool = False) -> str:
    """A chart as matplotlib writes it."""
    nothing = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    return _saved(chart, look, titled, format="svg", transparent=True, metadata=nothing).decode()


def _saved(chart: Chart, look: Look, titled: bool, **how: Any) -> bytes:
    need_matplotlib()
    with _settings(look):
        figure = _drawn(chart, look, titled)
        target = io.BytesIO()
        figure.savefig(target, **how)
    return target.getvalue()


@contextmanager
def _settings(look: Look) -> Iterator[None]:
    """Matplotlib as it is by default, whatever the reader's own settings are, and then ours."""
    import matplotlib

    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        warnings.filterwarnings("ignore", message=".*constrained_layout not applied")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({
            "svg.fonttype": "none", "svg.hashsalt": "rankloom", "text.parse_math": False,
            "path.simplify": False, "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"],
            "font.size": look.size,
            "text.color": INK, "axes.labelcolor": SOFT, "axes.edgecolor": EDGE, "xtick.color": EDGE,
            "ytick.color": EDGE, "xtick.labelcolor": SOFT, "ytick.labelcolor": SOFT, "grid.color": GRID,
            "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
            "axes.formatter.useoffset": False, "legend.frameon": False, "lines.linewidth": 2.0,
            "lines.markersize": 5.5,
        })  # fmt: skip
        yield


def _drawn(chart: Chart, look: Look, titled: bool) -> Any:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    if chart.kind == "differences":  # where a query comes does not matter
        chart = chart._replace(series=[one._replace(x=range(len(one.y))) for one in chart.series])
    names = places(chart)
    series = [dots_of(one, names) for one in chart.series]
    height = _height(chart, look, names, len(series)) + (30 if titled else 0)
    layout = ConstrainedLayoutEngine(w_pad=3 / _DPI, h_pad=3 / _DPI)
    figure = Figure(figsize=(look.width / _DPI, height / _DPI), dpi=_DPI, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    if titled:
        figure.suptitle(short(chart.title, 80), x=0.01, ha="left", fontsize=look.size + 2, fontweight="bold")
    if not any(one.y for one in series):
        axes.set_axis_off()
        axes.text(0.5, 0.5, _NOTHING, ha="center", va="center", color=SOFT, transform=axes.transAxes)
        return figure
    _plot(plots.Plot(axes, chart, series, names, look.size, look.width))
    return figure


def _height(chart: Chart, look: Look, names: list[str] | None, n_series: int) -> float:
    """Rows take what they need; a square diagram nearly what its width is; all others the look's own."""
    if chart.kind in ("bars", "dots"):
        each = max(30.0, 17.0 * n_series + 10) + (19 if plots.names_above(names or [], look.width) else 0)
        below = 22 * (math.ceil(n_series / 3) if n_series > 1 else 0) + (22 if chart.lines else 0)
        return min(4000.0, 78 + each * max(1, len(names or [])) + below)
    if chart.diagonal:
        return min(look.width, 460) + 40.0
    return float(look.height)


def _plot(plot: plots.Plot) -> None:
    """One chart on its axes."""
    chart, axes = plot.chart, plot.axes
    if chart.kind in ("bars", "dots"):
        plots.rows(plot)
        return
    if chart.kind == "differences":
        plots.differences(plot)
        return
    if chart.kind not in ("lines", "points"):
        raise InputError(
            f"no chart is of kind {chart.kind!r:.40}; kinds are lines, points, bars, dots, differences"
        )
    x_ratio = plot.names is None and by_ratio(chart.x_log, (x for one in plot.series for x in one.x))
    y_ratio = by_ratio(chart.y_log, plot.heights())
    axes.set_xscale("log" if x_ratio else "linear")
    axes.set_yscale("log" if y_ratio else "linear")
    label = axis_label(chart.x_label, chart.x_log and plot.names is None, x_ratio)
    axes.set_xlabel(plots.folded(label, plot))
    plots.value_label(plot, axis_label(chart.y_label, chart.y_log, y_ratio))
    plots.marks(plot)
