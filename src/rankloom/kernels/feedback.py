"""A query's feedback: how good the ranking shown was, and which pairs to learn from.

    NDCG = DCG / the best DCG there is,   DCG = sum over places i of (2^y - 1) / log2(i + 1)     (Equation 1)
    MAP  = mean over relevant rows of the precision at their place                               (Equation 2)

Pairs are drawn without replacement: each set of so many pairs has the same chance, and so has each order.
A pair is a number: rows are put in order of label, and the rows before row i count the pairs before its own.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.random import next_unit

# Columns of what a query is measured by.
NDCG, NDCG_10, MAP = range(3)
MEASURES = 3

EXACT_EXPONENT = 53.0
SHORT_RUN = 16
_1 = np.uint64(1)
_FREE = np.uint64(2**64 - 1)


@kernel(allocates=False)
def _sort(keys: Any, order: Any, n: Any) -> None:
    """order[:n] = places by rising key, equal ones as they come; order[n:2n] is room to work in.

    Short runs by insertion, then runs are merged.
    """
    for i in range(n):
        order[i] = i
    for start in range(0, n, SHORT_RUN):
        for i in range(start + 1, min(start + SHORT_RUN, n)):
            one, j = order[i], i
            while j > start and keys[order[j - 1]] > keys[one]:
                order[j] = order[j - 1]
                j -= 1
            order[j] = one
    run = SHORT_RUN
    while run < n:
        for start in range(0, n - run, 2 * run):
            middle, stop = start + run, min(start + 2 * run, n)
            for i in range(start, middle):
                order[n + i] = order[i]
            i, j, k = start, middle, start
            while i < middle:
                if j < stop and keys[order[j]] < keys[order[n + i]]:
                    order[k] = order[j]
                    j += 1
                else:
                    order[k] = order[n + i]
                    i += 1
                k += 1
        run *= 2


@kernel(inline=True, allocates=False)
def _gain(label: Any, shift: Any) -> Any:
    return 2.0 ** (label - shift) - 2.0**-shift if label > 0.0 else 0.0


@kernel(allocates=False)
def _measure(labels: Any, scores: Any, first: Any, last: Any, keys: Any, order: Any, values: Any) -> None:
    """NDCG over the whole list and over its first 10, and average precision (Equations 1 and 2).

    Ties are in the order of rows; a query without a relevant row counts as 0; labels from 1 are relevant.
    """
    n = last - first
    top, relevant = 0.0, 0
    for i in range(n):
        top = max(top, labels[first + i])
        relevant += labels[first + i] >= 1.0
        keys[i] = -scores[first + i]
    shift = top if top > EXACT_EXPONENT else 0.0
    values[NDCG] = values[NDCG_10] = values[MAP] = 0.0
    if top <= 0.0:
        return
    _sort(keys, order, n)
    dcg, dcg_10, precision, found = 0.0, 0.0, 0.0, 0
    for i in range(n):
        label = labels[first + order[i]]
        dcg += _gain(label, shift) / np.log2(i + 2.0)
        if i < 10:
            dcg_10 = dcg
        if label >= 1.0:
            found += 1
            precision += found / (i + 1.0)
    for i in range(n):
        keys[i] = -labels[first + i]
    _sort(keys, order, n)
    best, best_10 = 0.0, 0.0
    for i in range(n):
        best += _gain(labels[first + order[i]], shift) / np.log2(i + 2.0)
        if i < 10:
            best_10 = best
    values[NDCG], values[NDCG_10] = dcg / best, dcg_10 / best_10
    if relevant > 0:
        values[MAP] = precision / relevant


@kernel(inline=True, allocates=False)
def _below(random: Any, n: Any) -> Any:
    """A whole number below n, from 53 random bits."""
    return min(np.uint64(next_unit(random) * np.float64(n)), n - _1)


@kernel(allocates=False)
def _count_pairs(labels: Any, first: Any, n: Any, keys: Any, order: Any) -> Any:
    """Order rows by label; order[n + i] becomes how many pairs the first i rows are the better one of."""
    for i in range(n):
        keys[i] = labels[first + i]
    _sort(keys, order, n)
    total, cell = 0, 0
    for i in range(n):
        if i > 0 and keys[order[i]] > keys[order[i - 1]]:
            cell = i
        order[n + i] = total
        total += cell
    return total


@kernel(allocates=False)
def _choose(total: Any, most: Any, random: Any, chosen: Any, marks: Any) -> Any:
    """Pairs by number, each set of so many with the same chance (Floyd), in random order. How many."""
    count = min(total, most)
    if count == total:
        for k in range(count):
            chosen[k] = k
    else:
        mask = np.uint64(len(marks) - 1)
        marks[:] = _FREE
        for k in range(count):
            wanted = _below(random, total - count + k + _1)
            if not _mark(marks, mask, wanted):
                wanted = total - count + k
                _mark(marks, mask, wanted)
            chosen[k] = wanted
    for k in range(_1, count):
        other = _below(random, k + _1)
        chosen[k], chosen[other] = chosen[other], chosen[k]
    return count


@kernel(allocates=False)
def _mark(marks: Any, mask: Any, number: Any) -> Any:
    """Put a number into a set; whether it was new."""
    place = (number * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20) & mask
    while marks[place] != _FREE:
        if marks[place] == number:
            return False
        place = (place + _1) & mask
    marks[place] = number
    return True


@kernel(allocates=False)
def _pair_of(number: Any, n: Any, order: Any) -> Any:
    """Which rows a pair by number is: (better, worse), counted from the query's first."""
    low, high = 0, n - 1
    while low < high:
        middle = (low + high + 1) // 2
        if order[n + middle] <= number:
            low = middle
        else:
            high = middle - 1
    return order[low], order[number - order[n + low]]


@kernel
def draw_pairs(
    offsets: NDArray[np.int64],
    labels: NDArray[np.float64],
    most: int,
    random: NDArray[np.uint64],
    starts: NDArray[np.int64],
    pairs: NDArray[np.int64],
) -> None:
    """Draw up to `most` pairs of each query; those of query q are pairs[starts[q] : starts[q + 1]]."""
    longest = 1
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    order, keys = np.empty(2 * longest, np.int64), np.empty(longest)
    room = min(most, longest * (longest - 1) // 2)
    chosen, size = np.empty(room, np.uint64), 2
    while size < 2 * room:
        size *= 2
    marks = np.empty(size, np.uint64)
    place = starts[0]
    for query in range(len(offsets) - 1):
        first, n = offsets[query], offsets[query + 1] - offsets[query]
        total = _count_pairs(labels, first, n, keys, order)
        count = np.int64(0)
        if total > 0:
            count = np.int64(_choose(np.uint64(total), np.uint64(most), random, chosen, marks))
        for k in range(count):
            better, worse = _pair_of(np.int64(chosen[k]), n, order)
            pairs[place + k, 0], pairs[place + k, 1] = first + better, first + worse
        place += count
        starts[query + 1] = place


@kernel
def choose_some(total: int, most: int, random: NDArray[np.uint64]) -> Any:
    """Numbers below `total`, at most so many, none twice, in random order."""
    room = min(total, most)
    chosen, size = np.empty(room, np.uint64), 2
    while size < 2 * room:
        size *= 2
    if total > 0:
        _choose(np.uint64(total), np.uint64(most), random, chosen, np.empty(size, np.uint64))
    return chosen


@kernel
def measure_queries(
    offsets: NDArray[np.int64],
    labels: NDArray[np.float64],
    scores: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Fill values[query] with NDCG over the whole list and over its first 10, and average precision."""
    longest = 1
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    order, keys = np.empty(2 * longest, np.int64), np.empty(longest)
    for query in range(len(offsets) - 1):
        _measure(labels, scores, offsets[query], offsets[query + 1], keys, order, values[query])
