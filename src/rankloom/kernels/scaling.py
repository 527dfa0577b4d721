"""Features brought to a common scale: column by column, over the rows of a query or over all rows.

    x' = (x - shift) factor               kind        shift    factor
                                          MINMAX      low      1 / (high - low)
                                          STANDARD    mean     1 / standard deviation
                                          DEVIATION   0        1 / standard deviation
                                          MAXABS      0        1 / largest |x|
    x' = share of other rows below x, rows as large as x counting one half      (ranks)

Where a column does not change, its factor is 0, and its ranks are too. Tables are float32, dense or CSR; the
sparse kernels know the kinds that leave zeros alone. Sums are float64, in the order of rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

MINMAX, STANDARD, DEVIATION, MAXABS = range(4)
_COUNTED = 256  # up to here, counting all pairs beats sorting


@kernel(allocates=False)
def measure_dense(
    X: NDArray[np.float32],
    start: int,
    stop: int,
    kind: int,
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    shift: NDArray[np.float64],
    factor: NDArray[np.float64],
) -> None:
    """Write the shift and the factor of each column over rows start:stop. `low` and `high` are scratch."""
    if kind == MINMAX or kind == MAXABS:
        _extremes(X, start, stop, kind, low, high, shift, factor)
    else:
        _moments(X, start, stop, kind, shift, factor)


@kernel(allocates=False)
def _extremes(X: Any, start: Any, stop: Any, kind: Any, low: Any, high: Any, shift: Any, factor: Any) -> None:
    width = np.uint64(X.shape[1])
    for column in range(width):
        low[column], high[column] = np.inf, -np.inf
    for row in range(np.uint64(start), np.uint64(stop)):
        for column in range(width):
            low[column] = min(low[column], X[row, column])
            high[column] = max(high[column], X[row, column])
    for column in range(width):
        most, least = np.float64(high[column]), np.float64(low[column])
        shift[column] = least if kind == MINMAX and start < stop else 0.0
        size = most - least if kind == MINMAX else max(most, -least)
        factor[column] = 1.0 / size if size > 0.0 and start < stop else 0.0


@kernel(allocates=False)
def _moments(X: Any, start: Any, stop: Any, kind: Any, shift: Any, factor: Any) -> None:
    """Two passes, so that a far mean costs no digits; equal float32 values add up exactly."""
    width, n = np.uint64(X.shape[1]), np.float64(stop - start)
    for column in range(width):
        shift[column], factor[column] = 0.0, 0.0
    if start >= stop:
        return
    for row in range(np.uint64(start), np.uint64(stop)):
        for column in range(width):
            shift[column] += X[row, column]
    for column in range(width):
        shift[column] /= n
    for row in range(np.uint64(start), np.uint64(stop)):
        for column in range(width):
            away = X[row, column] - shift[column]
            factor[column] += away * away
    for column in range(width):
        variance = factor[column] / n
        factor[column] = 1.0 / np.sqrt(variance) if variance > 0.0 else 0.0
        if kind == DEVIATION:
            shift[column] = 0.0


@kernel(fast_sums=True, allocates=False)
def apply_dense(
    X: NDArray[np.float32],
    start: int,
    stop: int,
    shift: NDArray[np.float64],
    factor: NDArray[np.float64],
    out: NDArray[np.float32],
) -> float:
    """Write rows start:stop on the new scale. Their sum is finite where all of them are."""
    total = 0.0
    for row in range(np.uint64(start), np.uint64(stop)):
        for column in range(np.uint64(X.shape[1])):
            scaled = np.float32((X[row, column] - shift[column]) * factor[column])
            out[row, column] = scaled
            total += np.float64(scaled)
    return total


@kernel(allocates=False)
def scale_queries_dense(
    X: NDArray[np.float32],
    offsets: NDArray[np.int64],
    kind: int,
    low: NDArray[np.float32],
    high: NDArray[np.float32],
    shift: NDArray[np.float64],
    factor: NDArray[np.float64],
    out: NDArray[np.float32],
) -> float:
    """Each query on a scale of its own; its rows are still in cache when they are written."""
    total = 0.0
    for query in range(len(offsets) - 1):
        start, stop = offsets[query], offsets[query + 1]
        measure_dense(X, start, stop, kind, low, high, shift, factor)
        total += apply_dense(X, start, stop, shift, factor, out)
    return total


@kernel
def rank_queries(X: NDArray[np.float32], offsets: NDArray[np.int64], out: NDArray[np.float32]) -> None:
    """In each query, the share of its other rows that a value is above; equal values get their middle."""
    for query in range(len(offsets) - 1):
        start, stop = offsets[query], offsets[query + 1]
        own, n = np.empty(stop - start, dtype=np.float32), stop - start
        for column in range(X.shape[1]):
            low, high = np.float32(np.inf), np.float32(-np.inf)
            for row in range(n):
                own[row] = X[start + row, column]
                low, high = min(low, own[row]), max(high, own[row])
            if not low < high:
                out[start:stop, column] = 0.0
            elif n <= _COUNTED:
                _rank_by_counting(own, n, column, out[start:stop])
            else:
                _rank_by_sorting(own, n, column, out[start:stop])


@kernel
def _rank_by_counting(own: Any, n: Any, column: Any, out: Any) -> None:
    """n^2 comparisons, of which one instruction does several."""
    for row in range(np.uint64(n)):
        value, count = own[row], 0
        for other in range(np.uint64(n)):
            count += int(own[other] < value) + int(own[other] <= value)
        out[row, column] = (count - 1) / (2.0 * (n - 1))


@kernel
def _rank_by_sorting(own: Any, n: Any, column: Any, out: Any) -> None:
    order, first = np.argsort(own), 0
    while first < n:
        last = first
        while last + 1 < n and own[order[last + 1]] == own[order[first]]:
            last += 1
        for place in range(first, last + 1):
            out[order[place], column] = (first + last) / (2.0 * (n - 1))
        first = last + 1


@kernel(allocates=False)
def measure_sparse(
    values: NDArray[np.float32],
    columns: NDArray[np.uint32],
    start: int,
    stop: int,
    n_rows: int,
    kind: int,
    stored: NDArray[np.float64],
    total: NDArray[np.float64],
    factor: NDArray[np.float64],
) -> None:
    """Write the factor of each column that entries start:stop have, of n_rows rows.

    Columns must be 0 in `stored`, `total` and `factor`, which are scratch; others are left alone.
    """
    for entry in range(np.uint64(start), np.uint64(stop)):
        column, value = columns[entry], np.float64(values[entry])
        if kind == MAXABS:
            factor[column] = max(factor[column], abs(value))
        else:
            stored[column] += 1.0
            total[column] += value
    if kind != MAXABS:
        for entry in range(np.uint64(start), np.uint64(stop)):
            column = columns[entry]
            mean = total[column] / n_rows
            if stored[column] > 0.0:  # the first time: all zeros that are not stored
                factor[column] = (n_rows - stored[column]) * mean * mean
                stored[column] = -1.0
            away = values[entry] - mean
            factor[column] += away * away
    for entry in range(np.uint64(start), np.uint64(stop)):
        column = columns[entry]
        if stored[column] < 1.0:
            stored[column] = 1.0
            size = factor[column] if kind == MAXABS else np.sqrt(factor[column] / n_rows)
            factor[column] = 1.0 / size if size > 0.0 else 0.0


@kernel(allocates=False)
def scale_queries_sparse(
    values: NDArray[np.float32],
    columns: NDArray[np.uint32],
    row_offsets: NDArray[np.int64],
    offsets: NDArray[np.int64],
    kind: int,
    stored: NDArray[np.float64],
    total: NDArray[np.float64],
    factor: NDArray[np.float64],
    out: NDArray[np.float32],
) -> None:
    """Each query on a scale of its own. The scratch is 0 before and after."""
    for query in range(len(offsets) - 1):
        first, last = offsets[query], offsets[query + 1]
        start, stop = row_offsets[first], row_offsets[last]
        measure_sparse(values, columns, start, stop, last - first, kind, stored, total, factor)
        for entry in range(np.uint64(start), np.uint64(stop)):
            out[entry] = values[entry] * factor[columns[entry]]
        for entry in range(np.uint64(start), np.uint64(stop)):
            column = columns[entry]
            stored[column], total[column], factor[column] = 0.0, 0.0, 0.0
