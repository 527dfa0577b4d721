"""Lambdas: for every pair of a query's rows with different labels, how much swapping the two would matter.

With rows in ranked order, i above j, Z the measure, d_i what row i is worth to it (Burges 2010, section 4):

    rho_ij  = 1 / (1 + e^(sigma (s_better - s_worse)))           |delta Z_ij| = |d_i - d_j| (A_i - B_i E_j)
    lambda  = sum over pairs of -sigma |delta Z| rho for the better row, + for the worse one
    w       = sum over pairs of sigma^2 |delta Z| rho (1 - rho)

Every measure here has its |delta Z| in that one form, place by place (v_p is 1/p, and 0 below the cutoff):

    NDCG, P     A_i = E_i = the discount of place i, B = 1
    MAP         A_i = (c_i + 1 - r_i) v_i - H_i     E_j = (c_j + r_j) v_j - H_j    c hits, H = sum of r_p v_p
    MRR         above the first relevant row f: A_i = v_i, E = v_f; at f: A = v_f, E_j = v of min(j, second)
    ERR         A_i = pi_(i-1) v_i - tail_(i+1) / T_i,  B_i = 1 / T_i,  E_j = pi_(j-1) v_j - tail_j
                tail_p = sum over q >= p of pi_(q-1) R_q v_q, from the end, so that nothing cancels
    AUC         A_i = -i, E_j = -j
    pairs       |delta Z| = 1 (RankNet)

The inner loop has no branches, works on float32 in stretches of 64 places, and its rows past the end weigh 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

DISCOUNTED, PAIRS, AVERAGE_PRECISION, RECIPROCAL_RANK, CASCADE, AREA = range(6)
PLAIN, LIGHTGBM = range(2)

STRETCH = 64  # places a turn of the inner loop takes; buffers end with as many rows of no weight
_TILE = 4096  # places whose sums stay in the first cache
_FLUSH = 1024  # rows after which their float32 sums go to float64
_SHORT = 24  # up to here, insertion beats merging
_PATIENCE = 6  # moves a row after which insertion gives up

_ONE, _ZERO, _HALF = np.float32(1.0), np.float32(0.0), np.float32(0.5)
_LOG2_E, _LOWEST = np.float32(1.4426950408889634), np.float32(-126.0)
_LEAST_GAP = np.float32(0.01)
_FARTHEST = -1e30  # below the top: any further is the same
# 2^f for f from -1/2 to 1/2 as a polynomial.
_C0, _C1, _C2 = np.float32(1.0), np.float32(0.6931472), np.float32(0.24022651)
_C3, _C4 = np.float32(0.05550336), np.float32(0.009618129)
_C5, _C6 = np.float32(0.0013398874), np.float32(0.00015403530)


class Rule(NamedTuple):
    """Which Z, and how: one for all queries."""

    kind: int
    normalisation: int
    cutoff: int  # places that Z looks at
    truncation: int  # pairs count where one of the two stands among so many first
    sigma: float
    discounts: NDArray[np.float64]  # of places 1, 2, ...; 0 below the cutoff


class Lists(NamedTuple):
    """What stays the same from round to round, row by row and query by query."""

    offsets: NDArray[np.int64]
    worth: NDArray[np.float64]  # d, or the rank of the label among the query's for pairs
    weights: NDArray[np.float32]
    scales: NDArray[np.float64]  # what |delta Z| of a query is multiplied by
    order: NDArray[np.int32]  # the last ranking: rows counted from their query's first; changed by each call


class _Places(NamedTuple):
    """A query in ranked order, with room for a stretch of rows of no weight; sums in double precision."""

    scores: NDArray[np.float32]
    worth: NDArray[np.float32]
    weights: NDArray[np.float32]
    above: NDArray[np.float64]  # A
    factor: NDArray[np.float64]  # B
    below: NDArray[np.float32]  # E
    special: NDArray[np.float32]  # E of the one row that has its own
    lambdas: NDArray[np.float64]
    curvatures: NDArray[np.float64]


class _Tile(NamedTuple):
    """Some places of a query, copied so that rows of no weight can follow them."""

    scores: NDArray[np.float32]
    worth: NDArray[np.float32]
    weights: NDArray[np.float32]
    below: NDArray[np.float32]
    lambdas: NDArray[np.float32]
    curvatures: NDArray[np.float32]


@kernel(fast_sums=True, inline=True)
def _exp_minus(x: Any) -> Any:
    """e^-x for x >= 0, to 6e-7 of its value up to x = 10 and 4e-6 up to 87; not less than 2^-127."""
    t = max(x * -_LOG2_E, _LOWEST)
    k = np.int32(t - _HALF)
    f = t - np.float32(k)
    p = _C0 + f * (_C1 + f * (_C2 + f * (_C3 + f * (_C4 + f * (_C5 + f * _C6)))))
    return p * np.int32((k + np.int32(127)) << np.int32(23)).view(np.float32)


@kernel(fast_sums=True, inline=True)
def _pair(x: Any, difference: Any, size: Any) -> Any:
    """lambda and weight of a pair: x is sigma times how far the upper is ahead, `difference` of its worth."""
    e = _exp_minus(x)
    ahead = _ONE / (_ONE + e)
    behind = e * ahead
    pull = size * difference * (behind if difference > _ZERO else ahead)
    return pull, size * abs(difference) * behind * ahead


@kernel(fast_sums=True, allocates=False)
def _graded(
    s: Any, g: Any, a: Any, b: Any, sigma: Any, S: Any, G: Any, E: Any, V: Any, L: Any, W: Any
) -> Any:
    """One row against the places below it."""
    pull, bend = _ZERO, _ZERO
    for turn in range(np.uint64(len(S)) // np.uint64(STRETCH)):
        for step in range(np.uint64(STRETCH)):
            j = turn * np.uint64(STRETCH) + step
            found, curve = _pair((s - S[j]) * sigma, g - G[j], (a - b * E[j]) * V[j])
            L[j] += found
            W[j] += curve
            pull += found
            bend += curve
    return pull, bend, _ZERO


@kernel(fast_sums=True, allocates=False)
def _alike(s: Any, g: Any, a: Any, sigma: Any, S: Any, G: Any, V: Any, L: Any, W: Any) -> Any:
    """As `_graded`, every pair of different labels counting the same."""
    pull, bend = _ZERO, _ZERO
    for turn in range(np.uint64(len(S)) // np.uint64(STRETCH)):
        for step in range(np.uint64(STRETCH)):
            j = turn * np.uint64(STRETCH) + step
            sign = max(min(g - G[j], _ONE), -_ONE)
            found, curve = _pair((s - S[j]) * sigma, sign, a * V[j])
            L[j] += found
            W[j] += curve
            pull += found
            bend += curve
    return pull, bend, _ZERO


@kernel(fast_sums=True, allocates=False)
def _by_gap(
    s: Any, g: Any, a: Any, b: Any, sigma: Any, least: Any, S: Any, G: Any, E: Any, V: Any, L: Any, W: Any
) -> Any:
    """As `_graded`, |delta Z| divided by `least` + the gap of scores; the sum of all |lambda| comes too."""
    pull, bend, total = _ZERO, _ZERO, _ZERO
    for turn in range(np.uint64(len(S)) // np.uint64(STRETCH)):
        for step in range(np.uint64(STRETCH)):
            j = turn * np.uint64(STRETCH) + step
            gap = s - S[j]
            size = (a - b * E[j]) * V[j] / (least + gap)
            found, curve = _pair(gap * sigma, g - G[j], size)
            L[j] += found
            W[j] += curve
            pull += found
            bend += curve
            total += abs(found)
    return pull, bend, total


@kernel(allocates=False)
def _all_pairs(places: _Places, tile: _Tile, rule: Rule, n: int, rows: int, own: int, least: Any) -> float:
    """Sums over all pairs of the first `rows` places with those below them, a tile of places at a time.

    `own` is the row whose E is special, `least` what LightGBM's rule adds to the gap of scores. Returns the
    sum of all |lambda|, where that rule needs it.
    """
    sigma, total = np.float32(rule.sigma), 0.0
    for first in range(0, n, _TILE):
        last = min(first + _TILE, n)
        size = last - first
        for k in range(size):
            tile.scores[k], tile.worth[k] = places.scores[first + k], places.worth[first + k]
            tile.weights[k], tile.below[k] = places.weights[first + k], places.below[first + k]
        for k in range(size, size + STRETCH):
            tile.scores[k], tile.worth[k] = tile.scores[size - 1], _ZERO
            tile.weights[k], tile.below[k] = _ZERO, _ZERO
        for start in range(0, min(rows, last), _FLUSH):
            tile.lambdas[: size + STRETCH] = _ZERO
            tile.curvatures[: size + STRETCH] = _ZERO
            for i in range(start, min(start + _FLUSH, rows, last)):
                low = max(i + 1 - first, 0)
                high = low + (size - low + STRETCH - 1) // STRETCH * STRETCH
                weight = np.float64(places.weights[i])
                a, b = np.float32(places.above[i] * weight), np.float32(places.factor[i] * weight)
                s, g = places.scores[i], places.worth[i]
                S, G = tile.scores[low:high], tile.worth[low:high]
                V, L, W = tile.weights[low:high], tile.lambdas[low:high], tile.curvatures[low:high]
                E = tile.below[low:high]
                if i == own:
                    _own_below(places, tile, first, size)
                if rule.kind == PAIRS:
                    pull, bend, bulk = _alike(s, g, a, sigma, S, G, V, L, W)
                elif rule.normalisation == LIGHTGBM:
                    pull, bend, bulk = _by_gap(s, g, a, b, sigma, least, S, G, E, V, L, W)
                else:
                    pull, bend, bulk = _graded(s, g, a, b, sigma, S, G, E, V, L, W)
                if i == own:
                    for k in range(size):
                        tile.below[k] = places.below[first + k]
                places.lambdas[i] -= np.float64(pull)
                places.curvatures[i] += np.float64(bend)
                total += np.float64(bulk)
            for k in range(size):
                places.lambdas[first + k] += np.float64(tile.lambdas[k])
                places.curvatures[first + k] += np.float64(tile.curvatures[k])
    return total


@kernel(allocates=False)
def _own_below(places: _Places, tile: _Tile, first: int, size: int) -> None:
    for k in range(size):
        tile.below[k] = places.special[first + k]


@kernel(allocates=False)
def _value_of(place: int, cutoff: int) -> Any:
    """v: 1 / place (from 1), and 0 below the cutoff."""
    return 1.0 / place if place <= cutoff else 0.0


@kernel(allocates=False)
def _discounted(places: _Places, discounts: Any, n: int) -> None:
    for i in range(n):
        places.above[i] = discounts[i]
        places.below[i] = discounts[i]


@kernel(allocates=False)
def _average_precision(places: _Places, cutoff: int, n: int) -> None:
    hits, added = 0.0, 0.0
    for i in range(n):
        relevant, value = np.float64(places.worth[i]), _value_of(i + 1, cutoff)
        hits += relevant
        added += relevant * value
        places.above[i] = (hits + 1.0 - relevant) * value - added
        places.below[i] = (hits + relevant) * value - added


@kernel(allocates=False)
def _reciprocal_rank(places: _Places, cutoff: int, n: int) -> Any:
    """Fills A and E; the place of the first relevant row (n if there is none): nothing changes below it."""
    first, second = n, n
    for i in range(n):
        if places.worth[i] > _ZERO:
            if first == n:
                first = i
            else:
                second = i
                break
    if first == n:
        return n
    reached = _value_of(first + 1, cutoff)
    for i in range(n):
        places.above[i] = _value_of(i + 1, cutoff)
        places.below[i] = reached
        places.special[i] = _value_of(min(i, second) + 1, cutoff)
    return first


@kernel(allocates=False)
def _cascade(places: _Places, cutoff: int, n: int) -> Any:
    """Fills A, B and E; the place of the first row that satisfies everybody (n if there is none).

    No reader goes past such a row, so its own E is summed up anew, without the factor 0 that it brings.
    """
    reading, stop = 1.0, n
    for i in range(n):
        places.factor[i] = reading  # for now: pi_(i-1)
        reading *= 1.0 - np.float64(places.worth[i])
        if reading == 0.0 and stop == n and places.worth[i] >= _ONE:
            stop = i
    tail = 0.0
    for i in range(n - 1, -1, -1):
        before, satisfied = places.factor[i], np.float64(places.worth[i])
        value = _value_of(i + 1, cutoff)
        passed = 1.0 / (1.0 - satisfied) if satisfied < 1.0 else 0.0
        places.above[i] = before * value - tail * passed
        places.factor[i] = passed
        tail += before * satisfied * value
        places.below[i] = before * value - tail
    if stop < n:
        places.factor[stop] = 1.0
        reading, added = 1.0, 0.0
        for i in range(stop):
            reading *= 1.0 - np.float64(places.worth[i])
        places.above[stop] = reading * _value_of(stop + 1, cutoff)
        for j in range(stop + 1, n):
            value, satisfied = _value_of(j + 1, cutoff), np.float64(places.worth[j])
            places.special[j] = added + reading * value
            added += reading * satisfied * value
            reading *= 1.0 - satisfied
    return stop


@kernel(allocates=False)
def _prepare(places: _Places, rule: Rule, scale: float, n: int) -> tuple[int, int]:
    """Fill A, B and E of a query; how many rows have pairs below them, and which has an E of its own."""
    rows, own = min(n, rule.truncation), n
    if rule.kind != PAIRS and rule.kind != AREA:
        rows = min(rows, rule.cutoff)
    for i in range(n):
        places.above[i], places.below[i], places.factor[i] = 1.0, _ZERO, 1.0
    if rule.kind == DISCOUNTED:
        _discounted(places, rule.discounts, n)
    elif rule.kind == AVERAGE_PRECISION:
        _average_precision(places, rule.cutoff, n)
    elif rule.kind == RECIPROCAL_RANK:
        own = _reciprocal_rank(places, rule.cutoff, n)
        rows = min(rows, own + 1) if own < n else 0
    elif rule.kind == CASCADE:
        own = _cascade(places, rule.cutoff, n)
        rows = min(rows, own + 1)
    elif rule.kind == AREA:
        for i in range(n):
            places.above[i], places.below[i] = -np.float64(i), -np.float32(i)
    for i in range(rows):
        places.above[i] *= scale
        places.factor[i] *= scale
    return rows, own


@kernel(allocates=False)
def _merge_sort(keys: Any, items: Any, spare_keys: Any, spare_items: Any, n: int) -> None:
    """Keys fall, of equal keys items rise."""
    for low in range(0, n, _SHORT):
        _insert(keys, items, low, min(low + _SHORT, n), n * n)
    width = _SHORT
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            if middle == high or _comes_first(
                keys[middle - 1], items[middle - 1], keys[middle], items[middle]
            ):
                continue
            for k in range(low, middle):
                spare_keys[k], spare_items[k] = keys[k], items[k]
            left, right, out = low, middle, low
            while left < middle:
                if right < high and _comes_first(
                    keys[right], items[right], spare_keys[left], spare_items[left]
                ):
                    keys[out], items[out] = keys[right], items[right]
                    right += 1
                else:
                    keys[out], items[out] = spare_keys[left], spare_items[left]
                    left += 1
                out += 1
        width *= 2


@kernel(inline=True, allocates=False)
def _comes_first(key: Any, item: Any, other_key: Any, other_item: Any) -> Any:
    return key > other_key or (key == other_key and item < other_item)


@kernel(allocates=False)
def _insert(keys: Any, items: Any, low: int, high: int, patience: int) -> bool:
    """Insertion sort; False once more than `patience` moves were made, with all rows still there."""
    for i in range(low + 1, high):
        key, item = keys[i], items[i]
        k = i
        while k > low and _comes_first(key, item, keys[k - 1], items[k - 1]):
            keys[k], items[k] = keys[k - 1], items[k - 1]
            k -= 1
        keys[k], items[k] = key, item
        patience -= i - k
        if patience < 0:
            return False
    return True


@kernel(allocates=False)
def _rank(
    scores: Any, order: Any, depth: int, keys: Any, items: Any, spare_keys: Any, spare_items: Any
) -> None:
    """Turn the last order into that of these scores: `depth` places, then the others as in the file."""
    n = len(order)
    count = n
    if 2 * depth < n:
        # Whoever scores as the lowest of the last leaders did, or more, may be among the leaders now.
        least = scores[order[0]]
        for i in range(depth):
            least = min(least, scores[order[i]])
        count = 0
        for row in range(n):
            items[count] = row
            keys[count] = scores[row]
            count += scores[row] >= least
    else:
        for i in range(n):
            items[i] = order[i]
            keys[i] = scores[order[i]]
    if not _insert(keys, items, 0, count, _PATIENCE * count):
        _merge_sort(keys, items, spare_keys, spare_items, count)
    for i in range(min(depth, count)):
        order[i] = items[i]
    out, key, item = depth, keys[depth - 1], items[depth - 1]
    if depth < n:
        for row in range(n):
            follows = scores[row] < key or (scores[row] == key and row > item)
            spare_items[out] = row
            out += follows
        for i in range(depth, n):
            order[i] = spare_items[i]


@kernel
def _room(n: int) -> Any:
    """Buffers for queries of up to n rows."""
    size, tile = n + STRETCH, min(n, _TILE) + STRETCH
    places = _Places(
        np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.float32),
        np.empty(size), np.empty(size), np.empty(size, np.float32), np.empty(size, np.float32),
        np.empty(size), np.empty(size),
    )  # fmt: skip
    narrow = _Tile(
        np.empty(tile, np.float32), np.empty(tile, np.float32), np.empty(tile, np.float32),
        np.empty(tile, np.float32), np.empty(tile, np.float32), np.empty(tile, np.float32),
    )  # fmt: skip
    return places, narrow


@kernel
def lambda_block(
    lists: Lists,
    rule: Rule,
    scores: NDArray[np.float64],
    first: int,
    last: int,
    lambdas: NDArray[np.float32],
    curvatures: NDArray[np.float32],
) -> None:
    """Fill lambdas (the gradient of the cost) and curvatures (w) of queries first..last, last excluded."""
    longest = 1
    for query in range(first, last):
        longest = max(longest, lists.offsets[query + 1] - lists.offsets[query])
    places, tile = _room(longest)
    keys, spare_keys = np.empty(longest + 1), np.empty(longest + 1)
    items, spare_items = np.empty(longest + 1, np.int32), np.empty(longest + 1, np.int32)
    slope, bend = rule.sigma, rule.sigma * rule.sigma
    for query in range(first, last):
        start, end = lists.offsets[query], lists.offsets[query + 1]
        n = end - start
        own_lambdas, own_curvatures = lambdas[start:end], curvatures[start:end]
        if n < 2 or lists.scales[query] == 0.0:
            own_lambdas[:] = _ZERO
            own_curvatures[:] = _ZERO
            continue
        own, order = scores[start:end], lists.order[start:end]
        depth = n if rule.kind == PAIRS or rule.kind == AREA else min(n, rule.cutoff)
        _rank(own, order, depth, keys, items, spare_keys, spare_items)
        top = own[order[0]]
        worth, weights = lists.worth[start:end], lists.weights[start:end]
        for i in range(n):
            row = order[i]
            places.scores[i] = np.float32(max(own[row] - top, _FARTHEST))
            places.worth[i] = np.float32(worth[row])
            places.weights[i] = weights[row]
            places.lambdas[i] = 0.0
            places.curvatures[i] = 0.0
        rows, special = _prepare(places, rule, lists.scales[query], n)
        # Where all scores are equal, LightGBM leaves the gap out; here it is 0.
        least = _ONE if own[order[n - 1]] == top else _LEAST_GAP
        total = _all_pairs(places, tile, rule, n, rows, special, least)
        norm = 1.0
        if rule.normalisation == LIGHTGBM and total > 0.0:
            total *= 2.0 * slope
            norm = np.log2(1.0 + total) / total
        for i in range(n):
            own_lambdas[order[i]] = np.float32(places.lambdas[i] * slope * norm)
            own_curvatures[order[i]] = np.float32(places.curvatures[i] * bend * norm)
