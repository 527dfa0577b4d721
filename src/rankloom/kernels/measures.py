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
KIND, CUTOFF, GAIN, GAIN_ROW, DISCOUNT_ROW, AVERAGE, DENOMINATOR, SHORT = range(8)
CHOICES = 8
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
    if label <= 0.0:
        return 0.0
    if kind == LINEAR:
        return label
    if shift > 0.0:
        return 2.0 ** (label - shift) - 2.0**-shift
    if label < len(table) and label == np.floor(label):
        return table[np.int64(label)]
    return 2.0**label - 1.0


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
def _dcg(ranked: Any, ends: Any, cut: int, kind: int, table: Any, discounts: Any, shift: float) -> Any:
    """sum over i <= k of gain_i * discount_i."""
    total = 0.0
    first = 0
    while first < cut:
        gain = _group_gain(ranked, first, ends[first], kind, table, shift)
        weight = 0.0
        for i in range(first, min(ends[first], cut)):
            weight += discounts[i]
        total += gain * weight
        first = ends[first]
    return total


@kernel(allocates=False)
def _ndcg(
    ranked: Any, ends: Any, ideal: Any, singles: Any, cut: int, kind: int, table: Any, discounts: Any
) -> Any:
    """DCG@k / (DCG@k of the ideal order); NaN where no label has a gain."""
    shift = _shift(ideal[0], kind)
    best = _dcg(ideal, singles, cut, kind, table, discounts, shift)
    if best <= 0.0:
        return np.nan
    return _dcg(ranked, ends, cut, kind, table, discounts, shift) / best


@kernel(allocates=False)
def _mean_ndcg(ranked: Any, ends: Any, ideal: Any, cut: int, kind: int, table: Any, discounts: Any) -> Any:
    """The mean over i = 1..k of NDCG@i (Lee & Lin, 2014, section 4.4); NaN where no label has a gain."""
    shift = _shift(ideal[0], kind)
    if gain_of(ideal[0], kind, table, shift) <= 0.0:
        return np.nan
    total, dcg, best = 0.0, 0.0, 0.0
    first = 0
    while first < cut:
        gain = _group_gain(ranked, first, ends[first], kind, table, shift)
        for i in range(first, min(ends[first], cut)):
            dcg += gain * discounts[i]
            best += gain_of(ideal[i], kind, table, shift) * discounts[i]
            total += dcg / best
        first = ends[first]
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
        if r > 0:
            step = (r - 1) / (n - 1) if n > 1 else 0.0
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
        everything = 1.0
        for i in range(n):
            pass_on = 1.0 - _stop_probability(ranked[first + i], kind, max_grade)
            everything *= pass_on
            for j in range(min(i + 1, depth), 0, -1):
                share = j / (i + 1)
                reach[j] = (1.0 - share) * reach[j] + share * pass_on * reach[j - 1]
        for j in range(depth):
            total += reading * (reach[j] - reach[j + 1]) / (first + j + 1)
        reading *= everything
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


@kernel
def _by_relevance(ranked: Any, ends: Any, ideal: Any, choice: Any, threshold: float) -> Any:
    """The measures that know relevant rows from others; NaN where none is relevant."""
    n = len(ranked)
    cutoff = choice[CUTOFF]
    cut = min(cutoff, n)
    relevant = 0
    while relevant < n and ideal[relevant] >= threshold:
        relevant += 1
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


@kernel
def _by_grade(
    ranked: Any, ends: Any, singles: Any, ideal: Any, choice: Any, max_grade: float, tables: Any, scratch: Any
) -> Any:
    """The measures that know grades; NaN where no grade is above zero (DCG: 0)."""
    discounts, gains = tables
    cut = min(choice[CUTOFF], len(ranked))
    kind = choice[GAIN]
    if choice[KIND] == ERR:
        if ideal[0] <= 0.0:
            return np.nan
        return _expected_reciprocal_rank(ranked, ends, cut, kind, max_grade, scratch)
    table, discount = gains[choice[GAIN_ROW]], discounts[choice[DISCOUNT_ROW]]
    if choice[KIND] == NDCG:
        return _ndcg(ranked, ends, ideal, singles, cut, kind, table, discount)
    if choice[KIND] == MEAN_NDCG:
        return _mean_ndcg(ranked, ends, ideal, cut, kind, table, discount)
    return _dcg(ranked, ends, cut, kind, table, discount, 0.0)


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
    A row with the score -inf was not found: it counts among the relevant ones, and brings nothing where it
    ranks.
    """
    longest = 0
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    ranked, scratch = np.empty(longest), np.empty(longest + 1)
    singles, groups = np.arange(1, longest + 1), np.empty(longest, dtype=np.int64)
    averages = choices[:, AVERAGE].any()
    for query in range(len(offsets) - 1):
        start, n = offsets[query], offsets[query + 1] - offsets[query]
        rows, best = order[start : start + n], ideal[start : start + n]
        for i in range(n):
            is_found = scores[rows[i]] > -np.inf
            ranked[i] = labels[rows[i]] if is_found else -np.inf
        if averages:
            _find_groups(scores, rows, groups)
        for m in range(len(choices)):
            choice = choices[m]
            ends = groups if choice[AVERAGE] else singles
            if n == 0:
                value = np.nan
            elif choice[KIND] <= MEAN_NDCG or choice[KIND] == ERR:
                grade = limits[m, MAX_GRADE]
                value = _by_grade(ranked[:n], ends, singles, best, choice, grade, (discounts, gains), scratch)
            else:
                value = _by_relevance(ranked[:n], ends, best, choice, limits[m, THRESHOLD])
            if choice[SHORT] == ZERO and n < choice[CUTOFF] and not np.isnan(value):
                value = 0.0
            values[m, query] = value
