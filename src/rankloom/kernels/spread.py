"""How far apart the rows of a query are in each feature: what a preconditioner has to know."""

from __future__ import annotations

from typing import Any

import numpy as np

from rankloom.kernels.compile import kernel
from rankloom.kernels.ranksvm_plan import Plan, Weights
from rankloom.kernels.spd import Rows

_0: Any = np.uint64(0)
_1: Any = np.uint64(1)


@kernel(fast_sums=True, allocates=False)
def _add_squares(rows: Rows, row: Any, scale: Any, total: Any, squares: Any) -> None:
    """total += scale x, squares += scale x^2."""
    if rows.width == 0:
        for e in range(rows.offsets[row], rows.offsets[row + _1]):
            x, j = np.float64(rows.values[e]), rows.columns[e]
            total[j] += scale * x
            squares[j] += scale * x * x
        return
    width = np.uint64(rows.width)
    for j in range(width):
        x = np.float64(rows.values[row * width + j])
        total[j] += scale * x
        squares[j] += scale * x * x


@kernel(fast_sums=True)
def spread_of(
    rows: Rows, plan: Plan, weights: Weights, pairs: Any, every: Any, most: Any, spread: Any
) -> None:
    """Add the mean of (x_i - x_j)^2 over rows of a group, times its pairs' weight, for each so manieth group.

    Of a group, at most its first so many rows are looked at.
    """
    total, squares = np.zeros(len(spread)), np.zeros(len(spread))
    for g in range(_0, np.uint64(len(plan.starts)), np.uint64(every)):
        total[:] = 0.0
        squares[:] = 0.0
        mass, start = 0.0, plan.starts[g]
        for row in range(start, min(plan.stops[g], start + np.uint64(most))):
            weight = weights.rows[np.uint64(plan.place[row])] if len(weights.rows) > 0 else 1.0
            mass += weight
            _add_squares(rows, row, weight, total, squares)
        if mass > 0.0:
            for j in range(np.uint64(len(spread))):
                mean = total[j] / mass
                spread[j] += 2.0 * pairs[g] * max(squares[j] / mass - mean * mean, 0.0)
