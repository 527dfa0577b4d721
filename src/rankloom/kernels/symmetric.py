"""Symmetric trees: one question a level, asked of all leaves alike.

A row's place in a tree is the number of its leaf: bit d is its answer to the question of level d. Each leaf
has, for each bin of each feature, the sums of gradients (pull) and of curvatures (bend) of its rows. A level
deeper, only the rows of the smaller half of each leaf are added up; the larger half has what is left.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

LEAST_CURVATURE = 1e-12


class Table(NamedTuple):
    """Features in bins: columns[f, i] is a bin of feature f, which has starts[f + 1] - starts[f] of them."""

    columns: NDArray[np.uint8]
    starts: NDArray[np.int64]
    has_missing: NDArray[np.bool_]


class Halves(NamedTuple):
    """The rows to add up, with the leaf of each before the last question; pull and bend of each, in turn."""

    rows: NDArray[np.uint32]
    parent: NDArray[np.uint8]
    sums: NDArray[np.float32]
    small_right: NDArray[np.uint8]


@kernel
def ask(column: Any, last_left: int, missing_right: bool, bit: int, place: Any) -> None:
    """Add one question's answers to the places: right is a bin above `last_left`; bin 0 may go right, too."""
    for i in range(len(column)):
        if column[i] > last_left or (missing_right and column[i] == 0):
            place[i] |= bit


@kernel
def smaller_halves(rows: Any, place: Any, pull: Any, bend: Any, half: int, found: Halves) -> int:
    """Find the rows of the smaller half of each leaf, of which there were `half` before the last question.

    Gives back how many they are; `small_right` says for each leaf whether it is the right half.
    """
    small_right, parent, sums = found.small_right, found.parent, found.sums
    counts = np.zeros(2 * half, dtype=np.int64)
    for i in range(len(rows)):
        counts[place[rows[i]]] += 1
    for leaf in range(half):
        small_right[leaf] = 1 if counts[leaf + half] <= counts[leaf] else 0
    n = 0
    for i in range(len(rows)):
        row = rows[i]
        at = place[row]
        right = 1 if at >= half else 0
        leaf = at - half * right
        if small_right[leaf] == right:
            found.rows[n], parent[n] = row, leaf
            sums[2 * n], sums[2 * n + 1] = pull[row], bend[row]
            n += 1
    return n


@kernel
def add_rows(column: Any, found: Halves, n: int, n_bins: int, table: Any) -> None:
    """Add n rows to the sums of their leaf and bin: `table` has two numbers a bin, leaf after leaf."""
    rows, parent, sums = found.rows, found.parent, found.sums
    width = np.uint64(2 * n_bins)
    for i in range(np.uint64(n)):
        at = np.uint64(parent[i]) * width + np.uint64(2) * np.uint64(column[rows[i]])
        table[at] += sums[np.uint64(2) * i]
        table[at + np.uint64(1)] += sums[np.uint64(2) * i + np.uint64(1)]


@kernel
def subtract_halves(table: Any, small_right: Any, half: int, n_bins: int) -> None:
    """Make the sums of left and right halves of those of leaves and, behind them, of smaller halves."""
    width = 2 * n_bins
    for leaf in range(half):
        left, right = leaf * width, (leaf + half) * width
        if small_right[leaf]:
            for k in range(width):
                table[left + k] -= table[right + k]
        else:
            for k in range(width):
                small = table[right + k]
                table[right + k] = table[left + k] - small
                table[left + k] = small


@kernel
def add_gains(
    table: Any, n_leaves: int, n_bins: int, damping: float, missing_right: bool, gains: Any
) -> None:
    """gains[b] += sum over leaves of G^2 / (H + damping) of both sides, where bins up to b go left."""
    first = 1 if missing_right else 0
    pulls, bends = np.empty(n_bins), np.empty(n_bins)
    for leaf in range(n_leaves):
        base = 2 * leaf * n_bins
        pull, bend = 0.0, 0.0
        for b in range(first, n_bins):
            pull += table[base + 2 * b]
            bend += table[base + 2 * b + 1]
            pulls[b], bends[b] = pull, bend
        if missing_right:
            pull += table[base]
            bend += table[base + 1]
        for b in range(first, n_bins - 1):
            other = pull - pulls[b]
            left = max(bends[b], 0.0) + damping
            right = max(bend - bends[b], 0.0) + damping
            gains[b] += pulls[b] * pulls[b] / left + other * other / right


@kernel
def best_question(
    bins: Table, found: Halves, n: int, features: Any, level: int, damping: float, leaves: int, tables: Any
) -> tuple[float, int, int, bool]:
    """Of these features: the gain, the feature, the last bin that goes left, and whether missing goes right.

    `tables` has the sums of the leaves one level up, and gets those of this one; it has room for `leaves`.
    """
    best, chosen, last_left, to_right = -1.0, -1, 0, False
    half = (1 << level) >> 1
    floor = max(damping, LEAST_CURVATURE)
    gains = np.empty(256)
    for feature in features:
        n_bins = bins.starts[feature + 1] - bins.starts[feature]
        width = 2 * n_bins
        table = tables[2 * leaves * bins.starts[feature] : 2 * leaves * bins.starts[feature + 1]]
        table[half * width : max(2 * half, 1) * width] = 0.0
        add_rows(bins.columns[feature], found, n, n_bins, table[half * width :])
        if level:
            subtract_halves(table, found.small_right, half, n_bins)
        for missing_right in range(2 if bins.has_missing[feature] else 1):
            gains[:n_bins] = 0.0
            add_gains(table, 1 << level, n_bins, floor, missing_right == 1, gains)
            for b in range(missing_right, n_bins - 1):
                if gains[b] > best:
                    best, chosen, last_left, to_right = gains[b], feature, b, missing_right == 1
    return best, chosen, last_left, to_right
