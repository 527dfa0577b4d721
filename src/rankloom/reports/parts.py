"""What a page is made of: plain values, so that what is shown is said without HTML or a plotting library.

Page("Tuning spd", ["lam=0.01 was best of 12 trials."], [Section("Trials", [Table(...), Chart(...)])])
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

Cell = str | float | int | None


class Text(NamedTuple):
    """A paragraph; what stands between backticks is code."""

    text: str


class Table(NamedTuple):
    """Rows under headers; the first cell of a row is what it is about.

    Numbers are shown with `digits` decimals, None as a dash. A column of numbers, also as texts, is
    aligned to the right, and a text may end in * for a mark.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    digits: int = 4
    best: Sequence[tuple[int, int]] = ()
    """Cells (row, column) to stand out."""


class Series(NamedTuple):
    """Points of one name: x and y, and what lies around y where that is known."""

    name: str
    x: Sequence[float | str]
    y: Sequence[float | None]
    low: Sequence[float | None] | None = None
    high: Sequence[float | None] | None = None


class Chart(NamedTuple):
    """A figure.

    `kind` is "lines" (points joined), "points" (each with its label, if there are some), "bars" (a bar for
    each text in x, drawn sideways from 0), "dots" (the same as a dot and its interval, on an axis that need
    not begin at 0: for values that lie close together) or "differences" (sorted values around 0, one a query,
    better above).
    """

    name: str
    """What its file is called."""
    title: str
    kind: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    says: str = ""
    """In words what is to be seen, for those who cannot see it."""
    x_log: bool = False
    y_log: bool = False
    diagonal: bool = False
    """Draw x = y, for a reliability diagram."""
    lines: Sequence[tuple[str, float]] = ()
    """Values of y that are drawn across, with what they are."""
    labels: Sequence[str] = ()
    """Of kind "points": what stands beside each point of the first series."""


Part = Text | Table | Chart


class Section(NamedTuple):
    """Parts under a heading."""

    title: str
    parts: Sequence[Part]


class Page(NamedTuple):
    """A whole page: what it is about, the outcome in a few sentences, then the sections."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]
