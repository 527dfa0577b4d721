"""The pair index: random pairs of P, the pairs of rows of one query with different labels, in constant time.

A cell is the rows of one label in one query. With s of a query's n rows, a cell begins s (n - s) ordered
pairs; an alias table (Walker 1977, Vose 1991) draws a cell with that weight from one random number:

    cell c -> c with probability threshold[c] / 2^32, else alias[c]

then one row of the cell and one of the rest of the query are drawn. Rows stand ordered by label within a
query, so the rest is at most two runs. Each pair comes twice, once from either end: uniform over P.

Sculley 2009 (Section 3.1) samples P in O(log |Q| + log |Y|), with the algorithm left out; its constant-time
one (query, label, other label, row, row, each uniform) is the `balanced` sampler, over `groups`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import as_kernel, kernel

MOST_COUNTED = 32  # labels of one query that are counted; a query with more is sorted
FIRST, LAST, START, STOP = range(4)


class PairIndex(NamedTuple):
    """What the samplers need. Places are positions in `rows`."""

    rows: NDArray[np.uint32]
    """Rows ordered by label within their query."""
    cells: NDArray[np.uint64]
    """(first place, last place, first of the query, last of the query) of each cell with rows beside it."""
    threshold: NDArray[np.uint64]
    alias: NDArray[np.uint32]
    groups: NDArray[np.uint64]
    """(first cell, number of cells) of each query with two labels or more."""


@kernel(allocates=False)
def _labels_of(
    y: NDArray[np.float64], first: Any, last: Any, labels: NDArray[np.float64], counts: NDArray[np.int64]
) -> Any:
    """The labels of rows first:last in order, with their counts; their number, or -1 if too many."""
    known, at = 0, 0
    for row in range(first, last):
        label = y[row]
        if known == 0 or labels[at] != label:
            at = 0
            while at < known and labels[at] < label:
                at += 1
            if at == known or labels[at] != label:
                if known == MOST_COUNTED:
                    return -1
                for k in range(known, at, -1):
                    labels[k], counts[k] = labels[k - 1], counts[k - 1]
                labels[at], counts[at] = label, 0
                known += 1
        counts[at] += 1
    return known


@kernel
def _order_by_counting(y: NDArray[np.float64], offsets: NDArray[np.int64], rows: NDArray[np.uint32]) -> bool:
    """Rows of each query by label, stable, in linear time; False if a query has too many labels for that."""
    labels, counts = np.empty(MOST_COUNTED), np.empty(MOST_COUNTED, dtype=np.int64)
    for query in range(len(offsets) - 1):
        first, last = offsets[query], offsets[query + 1]
        known = _labels_of(y, first, last, labels, counts)
        if known < 0:
            return False
        place = first
        for k in range(known):
            place, counts[k] = place + counts[k], place
        at = 0
        for row in range(first, last):
            if labels[at] != y[row]:
                at = 0
                while labels[at] != y[row]:
                    at += 1
            rows[counts[at]] = np.uint32(row)
            counts[at] += 1
    return True


@kernel
def _find_cells(
    y: NDArray[np.float64],
    offsets: NDArray[np.int64],
    rows: NDArray[np.uint32],
    cells: NDArray[np.uint64],
    groups: NDArray[np.uint64],
) -> Any:
    """Fill the cells and groups as far as there is room; how many there are: (cells, groups)."""
    n_cells, n_groups = 0, 0
    for query in range(len(offsets) - 1):
        start, stop = offsets[query], offsets[query + 1]
        before, first = n_cells, start
        for place in range(start + 1, stop + 1):
            if place < stop and y[rows[place]] == y[rows[place - 1]]:
                continue
            if not (first == start and place == stop):
                if n_cells < len(cells):
                    cells[n_cells, FIRST], cells[n_cells, LAST] = first, place
                    cells[n_cells, START], cells[n_cells, STOP] = start, stop
                n_cells += 1
            first = place
        if n_cells > before:
            if n_groups < len(groups):
                groups[n_groups, 0], groups[n_groups, 1] = before, n_cells - before
            n_groups += 1
    return n_cells, n_groups


@kernel
def _alias_table(
    weights: NDArray[np.float64], threshold: NDArray[np.uint64], alias: NDArray[np.uint32]
) -> None:
    """Vose's method: pair each entry below the mean with one above it; at most n steps."""
    n = len(weights)
    mean = weights.sum() / n
    small, large = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_small, n_large = 0, 0
    for k in range(n):
        threshold[k], alias[k] = np.uint64(1) << np.uint64(32), np.uint32(k)
        if weights[k] < mean:
            small[n_small] = k
            n_small += 1
        else:
            large[n_large] = k
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        low, high = small[n_small], large[n_large - 1]
        threshold[low] = np.uint64(weights[low] / mean * 4294967296.0)
        alias[low] = np.uint32(high)
        weights[high] -= mean - weights[low]
        if weights[high] < mean:
            n_large -= 1
            small[n_small] = high
            n_small += 1


def build_pair_index(
    y: NDArray[np.float64], offsets: NDArray[np.int64], query_weights: NDArray[np.float64] | None = None
) -> PairIndex:
    """The pair index of labels in queries, in linear time unless a query has more than MOST_COUNTED labels.

    `query_weights` multiply the weight of every pair of a query. Without any pair, there are no cells.
    """
    offsets = as_kernel(offsets, np.int64)
    rows, cells, groups = label_cells(y, offsets)
    n_cells = len(cells)
    threshold, alias = np.empty(n_cells, dtype=np.uint64), np.empty(n_cells, dtype=np.uint32)
    weights = pair_counts(cells)
    if query_weights is not None:
        weights *= np.asarray(query_weights, dtype=np.float64)[_query_of(cells, offsets)]
    if n_cells and weights.sum() > 0:
        _alias_table(weights, threshold, alias)
    return PairIndex(rows, cells, threshold, alias, groups)


def label_cells(
    y: NDArray[np.float64], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.uint32], NDArray[np.uint64], NDArray[np.uint64]]:
    """Rows by label within their query, the cells and the groups of `PairIndex`."""
    y, offsets = as_kernel(y, np.float64), as_kernel(offsets, np.int64)
    rows = np.empty(len(y), dtype=np.uint32)
    if not _order_by_counting(y, offsets, rows):
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows[:] = np.lexsort((y, query)) if len(offsets) > 2 else np.argsort(y, kind="stable")
    none = np.empty((0, 4), dtype=np.uint64)
    n_cells, n_groups = _find_cells(y, offsets, rows, none, none[:, :2].copy())
    cells, groups = np.empty((n_cells, 4), dtype=np.uint64), np.empty((n_groups, 2), dtype=np.uint64)
    _find_cells(y, offsets, rows, cells, groups)
    return rows, cells, groups


def pair_counts(cells: NDArray[np.uint64]) -> NDArray[np.float64]:
    """How many ordered pairs each cell begins; their sum is 2 |P|."""
    size = (cells[:, LAST] - cells[:, FIRST]).astype(np.float64)
    return size * ((cells[:, STOP] - cells[:, START]).astype(np.float64) - size)


def _query_of(cells: NDArray[np.uint64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.searchsorted(offsets, cells[:, START].astype(np.int64), side="right") - 1
