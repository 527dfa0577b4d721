"""What pages of comparisons have in common: values by query side by side, and how tests are told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.measures.comparison import number, p_text
from rankloom.measures.significance import differences
from rankloom.reports.cells import DASH
from rankloom.reports.parts import Chart, Series

MARK = "*"
MARK_SAYS = f"`{MARK}` marks"

Values = Sequence[float | None]


def gains(a: Values, b: Values, lower_is_better: bool) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """How much better b is than a, query by query, and which queries: those with a value for both."""
    first, second = (np.asarray([np.nan if v is None else v for v in each], dtype=float) for each in (a, b))
    kept = np.flatnonzero(~(np.isnan(first) | np.isnan(second)))
    found = differences(first[kept], second[kept])
    return (-found if lower_is_better else found) + 0.0, kept


def difference_chart(measure: str, names: tuple[str, str], values: NDArray[np.float64]) -> Chart:
    """Won and lost queries, sorted."""
    a, b = names
    won, lost = int((values > 0).sum()), int((values < 0).sum())
    same = len(values) - won - lost
    says = (
        f"Each query is a bar, sorted: {b} is better than {a} on {won:,}, the same on {same:,} and worse on "
        f"{lost:,} of {len(values):,} queries."
    )
    return Chart(
        f"{measure} {b} against {a}", f"{measure}, query by query: {b} against {a}", "differences", "queries",
        f"by how much {b} is better", [Series(f"{b} against {a}", range(len(values)), values.tolist())], says,
    )  # fmt: skip


def signed(value: float | None, significant: bool = False) -> str:
    """A difference with its sign, and a mark where a test found it."""
    return DASH if value is None else f"{number(value, sign=True)}{MARK if significant else ''}"


def interval(row: Mapping[str, Any], sign: bool = True) -> str:
    """From where to where."""
    if row["low"] is None or row["high"] is None:
        return DASH
    return f"{number(row['low'], sign=sign)} to {number(row['high'], sign=sign)}"


def p_cell(p: float | None) -> str:
    """A p-value."""
    return DASH if p is None else p_text(p)
