"""Every measure that reads one ranked list, and the gain of a label: one kernel computes all for a block.

A list is its labels in ranked order, cut into groups: rows of equal score are one group where ties are
averaged, and every row is a group of its own where a rule has ordered them. So each measure is one expected
value (McSherry & Najork, 2008, "Computing information retrieval performance measures efficiently in the
presence of tied scores"), which for groups of one row is the measure itself.

Notation: a group starts after t rows and has n of them, r relevant; R rows before it are relevant; all from
the top.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

# What `choices` holds: one row a measure, one column a choice.
KIND, CUTOFF, GAIN, GAIN_ROW, DISCOUNT_ROW, AVERAGE, DENOMINATOR, SHORT, FRESH = range(9)
CHOICES = 9
# What `limits` holds.
THRESHOLD, MAX_GRADE = range(2)
LIMITS = 2

NDCG, DCG, MEAN_NDCG, MAP, MRR, ERR, PRECISION, RECALL = range(8)
EXP2, LINEAR, TABLE = range(3)
BY_RELEVANT, BY_REACHABLE, BY_FOUND = range(3)
TRUNCATE, PAD, ZERO = range(3)

# 2^y - 1 is exact up to here; above, gains of one query are taken relative to its greatest label.
EXACT_EXPONENT = 53.0


@kernel(allocates=False)
def gain_of(label: float, kind: int, table: NDArray[np.float64], shift: float) -> Any:
    """The gain of a label: 2^y - 1, times 2^-shift, or y, or table[y]; labels below 0 count as 0."""
    if kind == TABLE:
        return table[np.int64(max(label, 0.0))] if label > -np.inf else 0.0
    if kind == LINEAR:
        return max(label, 0.0)
    if shift > 0.0:
        return 2.0 ** (label - shift) - 2.0**-shift if label > 0.0 else 0.0
    if label >= 0.0 and label < len(table) and label == np.floor(label):
        return table[np.int64(label)]
    return 2.0**label - 1.0 if label > 0.0 else 0.0


@kernel
def gain_block(
    offsets: NDArray[np.int64],
    labels: NDArray[np.float64],
    kind: int,
    table: NDArray[np.float64],
    gains: NDArray[np.float64],
) -> None:
    """Fill `gains` row by row; 2^y - 1 is scaled per query where it would not be exact, as in NDCG."""
    for query in range(len(offsets) - 1):
        start, end = offsets[query], offsets[query + 1]
        top = 0.0
        for row in range(start, end):
            top = max(top, labels[row])
        for row in range(start, end):
            gains[row] = gain_of(labels[row], kind, table, _shift(top, kind))


@kernel(allocates=False)
def _shift(top: float, kind: int) -> Any:
    return top if kind == EXP2 and top > EXACT_EXPONENT else 0.0


@kernel(allocates=False)
def _group_gain(ranked: Any, first: int, last: int, kind: int, table: Any, shift: float) -> Any:
    """The mean gain of the rows of a group, which each of its places gets."""
    if last == first + 1:
        return gain_of(ranked[first], kind, table, shift)
    total = 0.0
    for i in range(first, last):
        total += gain_of(ranked[i], kind, table, shift)
    return total / (last - first)


@kernel(allocates=False)
def _add_up(
    ranked: Any,
    ends: Any,
    ideal: Any,
    cut: int,
    kind: int,
    table: Any,
    discounts: Any,
    shift: float,
    reached: Any,
    best: Any,
) -> None:
    """DCG@i = sum over j <= i of gain_j * discount_j for i <= cut: the ranking's and the ideal order's."""
    dcg, top = 0.0, 0.0
    first = 0
    while first < cut:
        last = ends[first]
        gain = _group_gain(ranked, first, last, kind, table, shift)
        for i in range(first, min(last, cut)):
            dcg += gain * discounts[i]
            top += gain_of(ideal[i], kind, table, shift) * discounts[i]
            reached[i] = dcg
            best[i] = top
        first = last


@kernel(allocates=False)
def _by_gain(reached: Any, best: Any, kind: int, cut: int) -> Any:
    """DCG@k; NDCG@k = DCG@k / ideal DCG@k; mean NDCG, over i = 1..k (Lee & Lin, 2014, section 4.4).

    NaN where no label has a gain, but DCG is 0 there.
    """
    if kind == DCG:
        return reached[cut - 1]
    if kind == NDCG:
        return reached[cut - 1] / best[cut - 1] if best[cut - 1] > 0.0 else np.nan
    if best[0] <= 0.0:
        return np.nan
    total = 0.0
    for i in range(cut):
        total += reached[i] / best[i]
    return total / cut


@kernel(allocates=False)
def _count_relevant(ranked: Any, first: int, last: int, threshold: float) -> Any:
    count = 0
    for i in range(first, last):
        count += ranked[i] >= threshold
    return count


@kernel(allocates=False)
def _average_precision(
    ranked: Any, ends: Any, relevant: int, cutoff: int, cut: int, threshold: float, denominator: int
) -> Any:
    """sum over relevant places i <= k of (relevant rows up to i) / i, divided as the denominator says.

    Within a group, place t + j is relevant with probability r / n, and then (j - 1)(r - 1) / (n - 1) of the
    rows before it in its group are, on average.
    """
    total, found = 0.0, 0
    first = 0
    while first < cut:
        last = ends[first]
        n = last - first
        r = _count_relevant(ranked, first, last, threshold)
        if n == 1:
            total += r * (found + 1) / (first + 1)  # no branch: relevance cannot be predicted
        elif r > 0:
            step = (r - 1) / (n - 1)
            for i in range(first, min(last, cut)):
                total += (r / n) * (found + 1 + (i - first) * step) / (i + 1)
        found += r
        first = last
    if denominator == BY_RELEVANT:
        return total / relevant
    if denominator == BY_REACHABLE:
        return total / min(relevant, cutoff)
    return total / found if found > 0 else 0.0


@kernel(allocates=False)
def _reciprocal_rank(ranked: Any, ends: Any, cut: int, threshold: float) -> Any:
    """1 / (place of the first relevant row), 0 if that is below k.

    In a group, the first relevant row is the j-th with probability r/(n-j+1) times that of none before it.
    """
    first = 0
    while first < cut:
        last = ends[first]
        n = last - first
        r = _count_relevant(ranked, first, last, threshold)
        if r > 0:
            total, none_yet = 0.0, 1.0
            for j in range(min(n - r + 1, cut - first)):
                total += none_yet * r / (n - j) / (first + j + 1)
                none_yet *= (n - j - r) / (n - j)
            return total
        first = last
    return 0.0


@kernel(allocates=False)
def _stop_probability(label: float, kind: int, max_grade: float) -> Any:
    """(2^y - 1) / 2^max, or y / max: how likely a reader is to be satisfied by a row."""
    if label <= 0.0:
        return 0.0
    if kind == LINEAR:
        return label / max_grade
    return 2.0 ** (label - max_grade) - 2.0**-max_grade


@kernel
def _expected_reciprocal_rank(
    ranked: Any, ends: Any, cut: int, kind: int, max_grade: float, reach: Any
) -> Any:
    """sum over i <= k of 1/i * P_i * prod over j < i of (1 - P_j) (Chapelle et al., 2009).

    reach[j] is the mean, over the orders of a group, of the product of (1 - P) over its first j rows: a mean
    of elementary symmetric polynomials, built up row by row. Place t + j then adds (reach[j-1] - reach[j]) /
    (t + j).
    """
    total, reading = 0.0, 1.0
    first = 0
    while first < cut and reading > 0.0:
        last = ends[first]
        n, depth = last - first, min(last, cut) - first
        reach[: depth + 1] = 0.0
        reach[0] = 1.0
        for i in range(n):
            pass_on = 1.0 - _stop_probability(ranked[first + i], kind, max_grade)
            for j in range(min(i + 1, depth), 0, -1):
                share = j / (i + 1)
                reach[j] = (1.0 - share) * reach[j] + share * pass_on * reach[j - 1]
        for j in range(depth):
            total += reading * (reach[j] - reach[j + 1]) / (first + j + 1)
        reading *= reach[depth]
        first = last
    return total


@kernel(allocates=False)
def _found(ranked: Any, ends: Any, cut: int, threshold: float) -> Any:
    """How many relevant rows the first k places hold; a group cut by k gives its share."""
    total = 0.0
    first = 0
    while first < cut:
        last = ends[first]
        r = _count_relevant(ranked, first, last, threshold)
        total += r if last <= cut else r * (cut - first) / (last - first)
        first = last
    return total


@kernel(allocates=False)
def _relevant(ideal: Any, n: int, threshold: float) -> Any:
    """How many of n labels, falling, are relevant: by halving."""
    low, high = 0, n
    while low < high:
        middle = (low + high) // 2
        if ideal[middle] >= threshold:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _by_relevance(ranked: Any, ends: Any, ideal: Any, choice: Any, threshold: float) -> Any:
    """The measures that know relevant rows from others; NaN where none is relevant."""
    n, cutoff = len(ranked), choice[CUTOFF]
    cut = min(cutoff, n)
    relevant = _relevant(ideal, n, threshold)
    if relevant == 0:
        return np.nan
    if choice[KIND] == MAP:
        return _average_precision(ranked, ends, relevant, cutoff, cut, threshold, choice[DENOMINATOR])
    if choice[KIND] == MRR:
        return _reciprocal_rank(ranked, ends, cut, threshold)
    found = _found(ranked, ends, cut, threshold)
    if choice[KIND] == RECALL:
        return found / relevant
    return found / (cutoff if choice[SHORT] == PAD else cut)


@kernel(allocates=False)
def _find_groups(scores: Any, order: Any, groups: Any) -> None:
    """groups[i] is where the run of equal scores that starts at place i ends."""
    n = len(order)
    end = n
    for i in range(n - 1, -1, -1):
        if i < n - 1 and scores[order[i]] != scores[order[i + 1]]:
            end = i + 1
        groups[i] = end


@kernel
def measure_block(
    offsets: NDArray[np.int64],
    scores: NDArray[np.float64],
    labels: NDArray[np.float64],
    order: NDArray[np.int64],
    ideal: NDArray[np.float64],
    choices: NDArray[np.int64],
    limits: NDArray[np.float64],
    discounts: NDArray[np.float64],
    gains: NDArray[np.float64],
    values: NDArray[np.float64],
) -> None:
    """Fill values[measure, query], NaN where the measure is not defined: the caller knows what it counts as.

    Rows are counted from the block's first. `order` ranks them, `ideal` holds labels from the greatest down;
    `choices` and `limits` describe a measure a row; `discounts` and `gains` are tables that choices point to.
    Where a measure adds up the same gains and discounts as the one before, to no greater depth, its sums are
    read again: it is not FRESH. A row with the score -inf was not found: it counts among the relevant ones,
    and brings nothing where it ranks.
    """
    longest = 1
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    ranked_buffer, scratch = np.empty(longest), np.empty(longest + 1)
    reached, best = np.empty(longest), np.empty(longest)
    singles, groups = np.arange(1, longest + 1), np.empty(longest, dtype=np.int64)
    averages = choices[:, AVERAGE].any()
    for query in range(len(offsets) - 1):
        start, n = offsets[query], offsets[query + 1] - offsets[query]
        rows, sorted_labels, ranked = order[start : start + n], ideal[start : start + n], ranked_buffer[:n]
        for i in range(n):
            is_found = scores[rows[i]] > -np.inf
            ranked[i] = labels[rows[i]] if is_found else -np.inf
        if averages:
            _find_groups(scores, rows, groups)
        for m in range(len(choices)):
            choice = choices[m]
            ends = groups if choice[AVERAGE] else singles
            kind, cut = choice[KIND], min(choice[CUTOFF], n)
            if n == 0:
                value = np.nan
            elif kind <= MEAN_NDCG:
                if choice[FRESH]:
                    table, worth = gains[choice[GAIN_ROW]], discounts[choice[DISCOUNT_ROW]]
                    shift = _shift(sorted_labels[0], choice[GAIN]) if kind != DCG else 0.0
                    _add_up(
                        ranked, ends, sorted_labels, cut, choice[GAIN], table, worth, shift, reached, best
                    )
                value = _by_gain(reached, best, kind, cut)
            elif kind != ERR:
                value = _by_relevance(ranked, ends, sorted_labels, choice, limits[m, THRESHOLD])
            elif sorted_labels[0] > 0.0:
                grade = limits[m, MAX_GRADE]
                value = _expected_reciprocal_rank(ranked, ends, cut, choice[GAIN], grade, scratch)
            else:
                value = np.nan
            if choice[SHORT] == ZERO and n < choice[CUTOFF] and not np.isnan(value):
                value = 0.0
            values[m, query] = value
