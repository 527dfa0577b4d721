"""The order of a ranking: rows of each query by falling score, ties by one rule, written once.

    row a stands before row b   if  score_a > score_b,
                                or  score_a = score_b and tie_a < tie_b,
                                or  both are equal and a comes first in the file.

The heavy part is done before: `rankloom.measures.order` packs query, score and position of each row into one
uint64 and lets NumPy sort those. A score keeps only its leading bits there, so `settle_block` looks at runs
of equal leading bits, puts them in their true order, and applies the tie rule.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

_SHORT = 24  # up to here, insertion beats merging
_LEVELS = 32  # whole labels below this are counted, not sorted


@kernel
def sort_pairs(
    keys: NDArray[np.float64],
    items: NDArray[np.int64],
    spare_keys: NDArray[np.float64],
    spare_items: NDArray[np.int64],
    n: int,
) -> None:
    """Sort the first n keys upwards, items with them; equal keys keep their order."""
    for low in range(0, n, _SHORT):
        _insert(keys, items, low, min(low + _SHORT, n))
    width = _SHORT
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            if middle < high and keys[middle] < keys[middle - 1]:
                _merge(keys, items, spare_keys, spare_items, low, middle, high)
        width *= 2


@kernel
def _insert(keys: Any, items: Any, low: int, high: int) -> None:
    for i in range(low + 1, high):
        key, item = keys[i], items[i]
        j = i
        while j > low and keys[j - 1] > key:
            keys[j], items[j] = keys[j - 1], items[j - 1]
            j -= 1
        keys[j], items[j] = key, item


@kernel
def _merge(
    keys: Any, items: Any, spare_keys: Any, spare_items: Any, low: int, middle: int, high: int
) -> None:
    """Merge two sorted halves; only the left one is copied away."""
    for i in range(low, middle):
        spare_keys[i], spare_items[i] = keys[i], items[i]
    left, right, out = low, middle, low
    while left < middle and right < high:
        if keys[right] < spare_keys[left]:
            keys[out], items[out] = keys[right], items[right]
            right += 1
        else:
            keys[out], items[out] = spare_keys[left], spare_items[left]
            left += 1
        out += 1
    while left < middle:
        keys[out], items[out] = spare_keys[left], spare_items[left]
        left += 1
        out += 1


@kernel
def _settle_run(
    order: NDArray[np.int64],
    scores: NDArray[np.float64],
    ties: NDArray[np.float64],
    use_ties: bool,
    low: int,
    high: int,
) -> None:
    """Put order[low:high] right, whose rows come in file order and whose scores share their leading bits."""
    sorted_by_score, tied = True, False
    for i in range(low + 1, high):
        sorted_by_score &= scores[order[i - 1]] >= scores[order[i]]
        tied |= scores[order[i - 1]] == scores[order[i]]
    n = high - low
    if sorted_by_score and not (tied and use_ties):
        return
    keys, spare = np.empty(n), np.empty(n)
    items, spare_items = order[low:high], np.empty(n, dtype=np.int64)
    if not sorted_by_score:
        for i in range(n):
            keys[i] = -scores[items[i]]
        sort_pairs(keys, items, spare, spare_items, n)
    if not use_ties:
        return
    first = 0
    for i in range(1, n + 1):
        if i == n or scores[items[i]] != scores[items[first]]:
            for j in range(first, i):
                keys[j] = ties[items[j]]
            sort_pairs(keys[first:i], items[first:i], spare, spare_items, i - first)
            first = i


@kernel
def settle_block(
    offsets: NDArray[np.int64],
    scores: NDArray[np.float64],
    packed: NDArray[np.uint64],
    position_bits: int,
    ties: NDArray[np.float64],
    order: NDArray[np.int64],
) -> None:
    """Fill `order` with row numbers in ranked order, query after query.

    offsets, scores and packed belong to one block, rows counted from its first; `packed` is sorted. Rows of
    equal score go by rising `ties` (one value a row) or, where `ties` is empty, by their place in the file.
    """
    mask = (np.uint64(1) << np.uint64(position_bits)) - np.uint64(1)
    use_ties = len(ties) > 0
    for query in range(len(offsets) - 1):
        start, end = offsets[query], offsets[query + 1]
        first = start
        for i in range(start, end):
            order[i] = start + np.int64(packed[i] & mask)
            if (packed[i] ^ packed[first]) > mask:
                if i - first > 1:
                    _settle_run(order, scores, ties, use_ties, first, i)
                first = i
        if end - first > 1:
            _settle_run(order, scores, ties, use_ties, first, end)


@kernel
def ideal_block(offsets: NDArray[np.int64], labels: NDArray[np.float64], ideal: NDArray[np.float64]) -> bool:
    """Fill `ideal` with each query's labels from the greatest down, the order no ranking can beat.

    By counting. False, with nothing worth reading, where some label is not one of 0, 1, ..., 31: then labels
    must be sorted.
    """
    counts = np.zeros(_LEVELS, dtype=np.int64)
    for query in range(len(offsets) - 1):
        start, end = offsets[query], offsets[query + 1]
        counts[:] = 0
        for row in range(start, end):
            label = labels[row]
            if not (label >= 0.0 and label < _LEVELS and label == np.floor(label)):
                return False
            counts[np.int64(label)] += 1
        out = start
        for level in range(_LEVELS - 1, -1, -1):
            for _ in range(counts[level]):
                ideal[out] = level
                out += 1
    return True
