"""How a measure changes while one ranking turns into another, by walking every crossing of two rows' scores.

    s_i(alpha) = alpha a_i + (1 - alpha) b_i        a line a row, for alpha from 0 to 1

Rows i and j, i above j to the left, change places at alpha = (b_i - b_j) / ((b_i - b_j) + (a_j - a_i)), as
neighbours; what the measure gains by that is known from their two places. Burges (2010, section 7.1).

Only rows that some alpha puts among the first k are walked: a row that k others beat in both rankings never
gets there. The crossings between two alphas are the inversions between the two orders, so that insertion
sort finds just those; where there are too many for the buffer, the stretch of alphas is halved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

# How a measure changes when two neighbours change places.
BY_PLACE, BY_PAIR, AVERAGE_PRECISION, RECIPROCAL_RANK, EXPECTED_RECIPROCAL_RANK = range(5)

_NARROWEST = 1e-13  # a stretch of alphas that is not halved any more
_FIRST_ROOM = 256


@kernel
def _reachable(a: NDArray[np.float64], cut: int, rows: NDArray[np.int64]) -> int:
    """Fill `rows` with those that some alpha may put among the first `cut`; how many.

    Rows come in the order of alpha just above 0: an earlier one with an a as great is above everywhere.
    """
    n = len(a)
    if cut >= n:
        for row in range(n):
            rows[row] = row
        return n
    greatest = np.empty(cut)
    held, count = 0, 0
    for row in range(n):
        if held == cut and a[row] <= greatest[cut - 1]:
            continue
        rows[count] = row
        count += 1
        place = min(held, cut - 1)
        while place > 0 and greatest[place - 1] < a[row]:
            greatest[place] = greatest[place - 1]
            place -= 1
        greatest[place] = a[row]
        held = min(held + 1, cut)
    return count


@kernel
def _ranks_at(a: Any, b: Any, alpha: float, rows: Any) -> Any:
    """The order of the rows at alpha, ties as before it."""
    keys = np.empty(len(rows))
    for place in range(len(rows)):
        row = rows[place]
        keys[place] = -(alpha * a[row] + (1.0 - alpha) * b[row])
    return np.argsort(keys, kind="mergesort")


@kernel(allocates=False)
def _swap(kind: int, cut: int, p: int, order: Any, place: Any, worth: Any, by_place: Any, state: Any) -> Any:
    """Let the rows at places p and p + 1 change places; what the measure gains.

    by_place   worth_y - worth_x, times what place p is worth above place p + 1
    pairs      1 for a pair that comes right, -1 for one that goes wrong
    AP         state[p]: relevant rows above place p
    RR         state[0]: the place of the first relevant row
    ERR        state[p]: how likely a reader gets to place p
    """
    x, y = order[p], order[p + 1]
    order[p], order[p + 1] = y, x
    place[x], place[y] = p + 1, p
    was, now = worth[x], worth[y]
    if was == now:
        return 0.0
    first = 1.0 / (p + 1) if p < cut else 0.0
    second = 1.0 / (p + 2) if p + 1 < cut else 0.0
    if kind == RECIPROCAL_RANK:
        if now > was and state[0] == p + 1:
            state[0] = p
            return first - second
        if now < was and state[0] == p:
            state[0] = p + 1
            return second - first
        return 0.0
    if p >= cut:
        return 0.0
    if kind == BY_PLACE:
        return (now - was) * by_place[p]
    if kind == BY_PAIR:
        return 1.0 if now > was else -1.0
    if kind == AVERAGE_PRECISION:
        state[p + 1] = state[p] + now
        change = (state[p] + 1.0) * (first - second)
        return change if now > was else -change
    state[p + 1] = state[p] * (1.0 - now)
    after = now * first + (1.0 - now) * was * second
    before = was * first + (1.0 - was) * now * second
    return state[p] * (after - before)


@kernel
def _start(kind: int, cut: int, order: Any, worth: Any, state: Any) -> None:
    """Fill `state` for this order."""
    n = len(order)
    if kind == RECIPROCAL_RANK:
        state[0] = -1.0
        for p in range(n - 1, -1, -1):
            if worth[order[p]] > 0.0:
                state[0] = p
    elif kind == AVERAGE_PRECISION or kind == EXPECTED_RECIPROCAL_RANK:
        state[0] = 0.0 if kind == AVERAGE_PRECISION else 1.0
        for p in range(min(cut, n)):
            own = worth[order[p]]
            state[p + 1] = state[p] + own if kind == AVERAGE_PRECISION else state[p] * (1.0 - own)


@kernel
def _crossings(order: Any, goal: Any, pairs: Any, scratch: Any) -> int:
    """Fill `pairs` with rows (above, below) that change places on the way to the goal; how many.

    They come in an order in which neighbours can do so. -1 where they do not fit.
    """
    count, room = 0, len(pairs)
    for p in range(len(order)):
        row = order[p]
        q = p
        while q > 0 and goal[scratch[q - 1]] > goal[row]:
            if count == room:
                return -1
            pairs[count, 0], pairs[count, 1] = scratch[q - 1], row
            count += 1
            scratch[q] = scratch[q - 1]
            q -= 1
        scratch[q] = row
    return count


@kernel
def _grown(values: Any) -> Any:
    larger = np.empty((2 * len(values), 2))
    larger[: len(values)] = values
    return larger


@kernel
def walk_block(
    offsets: NDArray[np.int64],
    a: NDArray[np.float64],
    b: NDArray[np.float64],
    worth: NDArray[np.float64],
    by_place: NDArray[np.float64],
    units: NDArray[np.float64],
    kind: int,
    cutoff: int,
    stretch: NDArray[np.float64],
    room: int,
) -> Any:
    """Each alpha in a stretch at which a query's measure changes, and by how much: two columns.

    Rows of a query come in the order of alpha just above 0 (b falling, then a, then the tie rule). `worth` is
    a row's gain, relevance or label; `by_place` what a place is worth above the next; units[q] what a change
    of query q counts, 0 where nothing can change. `room` is for how many crossings there is memory.
    """
    longest = 1
    for query in range(len(offsets) - 1):
        longest = max(longest, offsets[query + 1] - offsets[query])
    rows, state = np.empty(longest, dtype=np.int64), np.empty(longest + 1)
    pairs = np.empty((min(room, longest * (longest - 1) // 2 + 1), 2), dtype=np.uint32)
    found, count = np.empty((_FIRST_ROOM, 2)), 0
    for query in range(len(offsets) - 1):
        first, last = offsets[query], offsets[query + 1]
        if units[query] == 0.0 or last - first < 2:
            continue
        own_a, own_b = a[first:last], b[first:last]
        cut = min(cutoff, last - first)
        n = _reachable(own_a, cut, rows)
        found, count = _walk(
            own_a[rows[:n]],
            own_b[rows[:n]],
            worth[first:last][rows[:n]],
            by_place[first:last],
            (kind, cut, units[query]),
            stretch,
            (pairs, state),
            found,
            count,
        )
    return found[:count]


@kernel
def _walk(
    a: Any, b: Any, worth: Any, by_place: Any, how: Any, stretch: Any, spare: Any, found: Any, count: int
) -> Any:
    """The changes of one query, added to those found."""
    kind, cut, unit = how
    pairs, state = spare
    n = len(a)
    everybody = np.arange(n)
    low, end = stretch[0], stretch[1]
    order = _ranks_at(a, b, low, everybody) if low > 0.0 else np.arange(n)
    place, goal = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    for p in range(n):
        place[order[p]] = p
    _start(kind, cut, order, worth, state)
    width = end - low
    while low < end:
        high = min(end, low + width)
        ranked = _ranks_at(a, b, high, everybody)
        for p in range(n):
            goal[ranked[p]] = p
        crossings = _crossings(order, goal, pairs, order.copy())
        if crossings < 0 and width > _NARROWEST:
            width /= 2.0
            continue
        alphas = np.empty(max(crossings, 0))
        for c in range(len(alphas)):
            i, j = pairs[c, 0], pairs[c, 1]
            down, both = b[i] - b[j], (b[i] - b[j]) + (a[j] - a[i])
            alphas[c] = min(max(down / both, low), high) if both > 0.0 else high
        turns = np.argsort(alphas, kind="mergesort")
        for turn in range(len(turns)):
            c = turns[turn]
            i, j = pairs[c, 0], pairs[c, 1]
            change = _exchange(i, j, kind, cut, order, place, a, b, worth, by_place, state)
            if change != 0.0:
                if count == len(found):
                    found = _grown(found)
                found[count, 0], found[count, 1] = alphas[c], change * unit
                count += 1
        change = _settle(goal, kind, cut, order, place, worth, by_place, state)
        if change != 0.0:
            if count == len(found):
                found = _grown(found)
            found[count, 0], found[count, 1] = high, change * unit
            count += 1
        low = high
        width *= 2.0
    return found, count


@kernel(allocates=False)
def _exchange(
    i: int,
    j: int,
    kind: int,
    cut: int,
    order: Any,
    place: Any,
    a: Any,
    b: Any,
    worth: Any,
    by_place: Any,
    state: Any,
) -> Any:
    """Let row j pass row i; what the measure gains.

    Rows between them pass through the same point, to within rounding: beyond it, the steeper is above.
    """
    p, q = place[i], place[j]
    if q == p + 1:
        return _swap(kind, cut, p, order, place, worth, by_place, state)
    change = 0.0
    for below in range(p + 1, q + 1):
        at = below
        row = order[at]
        while at > p and a[order[at - 1]] - b[order[at - 1]] < a[row] - b[row]:
            at -= 1
            change += _swap(kind, cut, at, order, place, worth, by_place, state)
    return change


@kernel(allocates=False)
def _settle(
    goal: Any, kind: int, cut: int, order: Any, place: Any, worth: Any, by_place: Any, state: Any
) -> Any:
    """Put every row where the stretch of alphas leaves it; what the measure gains."""
    change = 0.0
    for below in range(1, len(order)):
        at = below
        row = order[at]
        while at > 0 and goal[order[at - 1]] > goal[row]:
            at -= 1
            change += _swap(kind, cut, at, order, place, worth, by_place, state)
    return change
