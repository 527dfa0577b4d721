"""Numbers as they can be drawn: what is no number is left out, axes by ratio only where all are above 0."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from rankloom.reports.parts import Chart, Series

_LARGEST = 1e250  # what is beyond would overflow where margins are reckoned
_LONGEST = 40


class Dots(NamedTuple):
    """A series as numbers: places, values, and what lies around them where that is known."""

    name: str
    x: list[float]
    y: list[float]
    low: list[float] | None
    high: list[float] | None
    kept: list[int]
    """Which points of the series these are."""


def number(value: Any) -> float | None:
    """A value that can be drawn, or None."""
    if value is None or isinstance(value, str):
        return None
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and abs(found) < _LARGEST else None


def places(chart: Chart) -> list[str] | None:
    """The names along the axis, in order of first appearance, where x is names; None where it is numbers."""
    if chart.kind not in ("bars", "dots") and not any(
        isinstance(x, str) for one in chart.series for x in one.x
    ):
        return None
    return list(dict.fromkeys(str(x) for one in chart.series for x in one.x))


def dots_of(series: Series, names: Sequence[str] | None) -> Dots:
    """The points of a series that can be drawn, in their order."""
    at = None if names is None else {name: float(place) for place, name in enumerate(names)}
    found = []
    for place, (x, y) in enumerate(zip(series.x, series.y, strict=False)):
        where, value = number(x) if at is None else at[str(x)], number(y)
        if where is not None and value is not None:
            found.append((place, where, value))
    around = [
        None
        if ends is None
        else [value if (end := number(ends[place])) is None else end for place, _, value in found]
        for ends in (series.low, series.high)
    ]
    return Dots(
        series.name,
        [where for _, where, _ in found],
        [value for _, _, value in found],
        around[0],
        around[1],
        [place for place, _, _ in found],
    )


def by_ratio(wanted: bool, values: Iterable[float]) -> bool:
    """Whether an axis goes by ratio: where that is wanted, and possible."""
    held = list(values)
    return wanted and bool(held) and min(held) > 0.0


def axis_label(label: str, wanted: bool, possible: bool) -> str:
    """An axis says when it goes by ratio, and when it does not although it should."""
    if not wanted:
        return label
    return f"{label} (log scale)" if possible else f"{label} (not all above 0: no log scale)"


def ratio_text(value: float) -> str:
    """A tick on an axis by ratio: 0.001, 1e-5, 100, 1e6."""
    text = f"{value:g}" if 1e-4 <= abs(value) < 1e5 else f"{value:.2e}"
    if "e" not in text:
        return text
    digits, _, power = text.partition("e")
    if "." in digits:
        digits = digits.rstrip("0").rstrip(".")
    return f"{digits}e{int(power)}"


def value_text(value: float) -> str:
    """A value beside its bar."""
    size = abs(value)
    if size != 0.0 and not 1e-3 <= size < 1e7:
        return ratio_text(value)
    return f"{value:.4f}" if size < 10 else f"{value:.2f}" if size < 1000 else f"{value:,.0f}"


def short(text: str, longest: int = _LONGEST) -> str:
    """A name without what cannot be drawn, cut in the middle where it is long."""
    told = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    if len(told) <= longest:
        return told
    half = (longest - 1) // 2
    return f"{told[: longest - 1 - half]}…{told[-half:]}"
