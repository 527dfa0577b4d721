"""Measures that count pairs of rows with different labels: pairwise accuracy, Kendall's tau-b, AUC.

For one query of n rows, over its n(n-1)/2 pairs:

    P   pairs with different labels
    D   of those, pairs that the order has the wrong way round
    T   of those, pairs with equal scores (in a total order: none)
    accuracy = (P - D - T + credit T) / P            credit of a tie: 0, 1/2 or 1
    tau-b    = (P - T - 2 D) / sqrt((pairs with different scores) P)
    AUC      = the accuracy of labels cut in two at a threshold

Where ties are not a total order, rows of equal score come with their labels falling, so that D counts none of
them. D is counted level by level where labels are few whole numbers, and by merge sort otherwise (Knight,
1966): both take O(n log n) at most, whatever the number of levels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

# Columns of `choices` and `limits`: one row a measure.
KIND, TOTAL_ORDER = range(2)
CHOICES = 2
CREDIT, THRESHOLD = range(2)
LIMITS = 2

PAIRWISE, TAU, AUC, AUC_LOSS = range(4)

_LEVELS = 32
_SHORT = 16


@kernel
def _rising_by_level(ranked: NDArray[np.float64]) -> Any:
    """Pairs of places i < j with a lower label at i; whole labels below 32."""
    seen = np.zeros(_LEVELS, dtype=np.int64)
    pairs = 0
    for i in range(len(ranked)):
        level = np.int64(ranked[i])
        for lower in range(level):
            pairs += seen[lower]
        seen[level] += 1
    return pairs


@kernel
def _rising_by_merging(values: NDArray[np.float64], spare: NDArray[np.float64]) -> Any:
    """Pairs of places i < j with values[i] < values[j]; sorts `values` downwards on the way."""
    n = len(values)
    pairs = 0
    for low in range(0, n, _SHORT):
        for i in range(low + 1, min(low + _SHORT, n)):
            value = values[i]
            j = i
            while j > low and values[j - 1] < value:
                values[j] = values[j - 1]
                j -= 1
            values[j] = value
            pairs += i - j
    width = _SHORT
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            pairs += _merge_counting(values, spare, low, middle, high)
        width *= 2
    return pairs


@kernel
def _merge_counting(values: Any, spare: Any, low: int, middle: int, high: int) -> Any:
    for i in range(low, middle):
        spare[i] = values[i]
    pairs = 0
    left, right, out = low, middle, low
    while left < middle and right < high:
        # Which one is greater is a coin toss: arithmetic instead of a branch.
        from_right = values[right] > spare[left]
        values[out] = values[right] if from_right else spare[left]
        pairs += (middle - left) * from_right
        right += from_right
        left += 1 - from_right
        out += 1
    while left < middle:
        values[out] = spare[left]
        left += 1
        out += 1
    return pairs


@kernel
def _equal_pairs(values: NDArray[np.float64]) -> Any:
    """Pairs of equal values in a sorted array."""
    pairs, run = 0, 0
    for i in range(1, len(values)):
        run = run + 1 if values[i] == values[i - 1] else 0
        pairs += run
    return pairs


@kernel
def _tied_pairs(ranked: Any, scores: Any, order: Any) -> tuple[int, int]:
    """Pairs of equal score, and those of them with equal labels too; in a run of equal scores labels fall."""
    tied, both = 0, 0
    run, same = 0, 0
    for i in range(1, len(ranked)):
        if scores[order[i]] == scores[order[i - 1]]:
            run += 1
            same = same + 1 if ranked[i] == ranked[i - 1] else 0
            tied += run
            both += same
        else:
            run, same = 0, 0
    return tied, both


@kernel
def _auc(ranked: Any, scores: Any, order: Any, total_order: bool, credit: float, threshold: float) -> Any:
    """The share of pairs (relevant, other) in the right order; NaN without such a pair."""
    relevant, others, right = 0, 0, 0.0
    run_relevant, run_others = 0, 0
    tied = 0
    for i in range(len(ranked)):
        if i > 0 and scores[order[i]] != scores[order[i - 1]]:
            tied += run_relevant * run_others
            run_relevant, run_others = 0, 0
        if ranked[i] >= threshold:
            relevant += 1
            run_relevant += 1
        else:
            right += relevant
            others += 1
            run_others += 1
    tied += run_relevant * run_others
    if relevant == 0 or others == 0:
        return np.nan
    if not total_order:
        right -= (1.0 - credit) * tied
    return right / (float(relevant) * float(others))


@kernel
def pair_block(
    offsets: NDArray[np.int64],
    scores: NDArray[np.float64],
    labels: NDArray[np.float64],
    order: NDArray[np.int64],
    ideal: NDArray[np.float64],
    choices: NDArray[np.int64],
    limits: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Fill values[measure, query], NaN where a query has no pair; arguments as in `measure_block`.

    A total order is taken as it is. Otherwise rows of equal score must come with their labels falling.
    """
    longest = 0
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    buffer, spare = np.empty(longest), np.empty(longest)
    counting = False
    for m in range(len(choices)):
        counting |= choices[m, KIND] <= TAU
    for query in range(len(offsets) - 1):
        start, n = offsets[query], offsets[query + 1] - offsets[query]
        rows, ranked, best = order[start : start + n], buffer[:n], ideal[start : start + n]
        whole = n > 0 and best[0] < _LEVELS and best[n - 1] >= 0.0
        for i in range(n):
            label = labels[rows[i]]
            ranked[i] = label
            whole &= label == np.floor(label)
        for m in range(len(choices)):
            if choices[m, KIND] >= AUC:
                total, credit = choices[m, TOTAL_ORDER] != 0, limits[m, CREDIT]
                value = _auc(ranked, scores, rows, total, credit, limits[m, THRESHOLD])
                values[m, query] = 1.0 - value if choices[m, KIND] == AUC_LOSS else value
        if not counting:
            continue
        everything = n * (n - 1) // 2
        pairs = everything - _equal_pairs(best)
        tied, both = _tied_pairs(ranked, scores, rows)
        # Last, since merging destroys the order.
        wrong = _rising_by_level(ranked) if whole else _rising_by_merging(ranked, spare)
        for m in range(len(choices)):
            if choices[m, KIND] >= AUC:
                continue
            if pairs == 0:
                value = np.nan
            elif choices[m, KIND] == TAU:
                distinct = float(everything - tied)
                agree = pairs - (tied - both) - 2 * wrong
                value = agree / (np.sqrt(distinct) * np.sqrt(float(pairs))) if distinct > 0.0 else 0.0
            elif choices[m, TOTAL_ORDER]:
                value = (pairs - wrong) / pairs
            else:
                value = (pairs - wrong - (1.0 - limits[m, CREDIT]) * (tied - both)) / pairs
            values[m, query] = value
