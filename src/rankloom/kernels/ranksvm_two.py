"""Counting where a query has two labels: the rarer rows are sorted, the others are looked up in them.

    k_j = how many rare rows, by rising score, row j of the others has an active pair with
    L_j, G_j     sums over the first k_j rare rows: prefixes
    L_i, G_i     of the i-th rare row: sums over the others with k_j > i, from buckets of equal k_j

Where the rarer label is the worse one, scores change their sign for the order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankloom.kernels.compile import kernel
from rankloom.kernels.ranksvm_plan import HINGES, SQUARES, Plan, Scratch, State, Weights

_RUN = 16  # up to here, insertion beats merging
_FAR = 4e9  # beyond all cells
_0: Any
_1: Any
_0, _1, _2 = (np.uint64(n) for n in range(3))


@kernel(allocates=False)
def sort_by(keys: Any, items: Any, spare_keys: Any, spare: Any, n: Any) -> None:
    """Sort keys upwards, items with them, both from place 0: quick where they nearly are."""
    for begin in range(_0, n, np.uint64(_RUN)):
        for i in range(begin + _1, min(begin + np.uint64(_RUN), n)):
            key, item, j = keys[i], items[i], i
            while j > begin and keys[j - _1] > key:
                keys[j], items[j] = keys[j - _1], items[j - _1]
                j -= _1
            keys[j], items[j] = key, item
    width = np.uint64(_RUN)
    while width < n:
        for begin in range(_0, n, _2 * width):
            middle, end = min(begin + width, n), min(begin + _2 * width, n)
            if middle == end or keys[middle - _1] <= keys[middle]:
                continue
            for i in range(begin, middle):
                spare_keys[i], spare[i] = keys[i], items[i]
            left, right, out = begin, middle, begin
            while left < middle and right < end:
                if keys[right] < spare_keys[left]:
                    keys[out], items[out] = keys[right], items[right]
                    right += _1
                else:
                    keys[out], items[out] = spare_keys[left], spare[left]
                    left += _1
                out += _1
            while left < middle:
                keys[out], items[out] = spare_keys[left], spare[left]
                left += _1
                out += _1
        width *= _2


@kernel(inline=True, allocates=False)
def _sides(plan: Plan, g: Any) -> Any:
    """At which places the rare rows begin and end, and where the others do."""
    n, edge = plan.stops[g] - plan.starts[g], np.uint64(plan.edges[plan.edge_first[g] + _1])
    if plan.rare[g] == np.uint8(1):
        return edge, n, _0, edge
    return _0, edge, edge, n


@kernel
def order_two(plan: Plan, g: Any, order: Any) -> None:
    """The first order of a group: rare rows, then the others."""
    out = plan.starts[g]
    begin, end, first, last = _sides(plan, g)
    for k in range(begin, end):
        order[out] = k
        out += _1
    for k in range(first, last):
        order[out] = k
        out += _1


@kernel(allocates=False)
def _grid(keys: Any, known: Any, cells: Any, grid: Any) -> Any:
    """Cells of equal width over sorted keys: grid[c] keys are before cell c. Returns cells per unit."""
    width = keys[known - _1] - keys[_0]
    scale = np.float64(cells) / width if width > 0.0 else 0.0
    if not 0.0 < scale < 1e300:
        grid[_0] = _0
        for c in range(cells):
            grid[c + _1] = known
        return 0.0
    k = _0
    for c in range(cells):
        while k < known and np.uint64(min((keys[k] - keys[_0]) * scale, _FAR)) < c:
            k += _1
        grid[c] = k
    grid[cells] = known
    return scale


@kernel(inline=True, allocates=False)
def _found(keys: Any, known: Any, key: Any, grid: Any, cells: Any, scale: Any) -> Any:
    """How many keys are less than 1 above this one, which is so for the first of them."""
    place, cell = (key + 1.0 - keys[_0]) * scale, _0
    if place > 0.0:
        cell = min(np.uint64(min(place, _FAR)), cells - _1)
    low, high = np.uint64(grid[cell]), np.uint64(grid[cell + _1])
    if low > _0 and not keys[low - _1] - key < 1.0:  # a cell's edge is rounded otherwise than a difference
        low, high = _0, low - _1
    elif high < known and keys[high] - key < 1.0:
        low, high = high + _1, known
    while low < high:
        half = (low + high) >> _1
        if keys[half] - key < 1.0:
            low = half + _1
        else:
            high = half
    return low


@kernel
def evaluate_two(
    plan: Plan, weights: Weights, state: State, g: Any, base: Any, loss: Any, scratch: Scratch, losses: Any
) -> None:
    """From scores z: what is active, the group's loss, and u of its rows."""
    start, slot = plan.starts[g], plan.slots[g]
    o, z, u = start - base, scratch.z, scratch.u
    begin, end, first, last = _sides(plan, g)
    known, sign = end - begin, 1.0 if begin > _0 else -1.0
    keys, masses, pulls, grid = scratch.list_values, scratch.values, scratch.list_sums, scratch.spare
    items, weighted, share = state.items[slot:], len(weights.rows) > 0, weights.groups[g]
    for k in range(known):
        items[k] = state.order[start + k]
        keys[k] = sign * z[o + np.uint64(items[k])]
    sort_by(keys, items, scratch.list_sums, scratch.spare, known)
    cells = min(_2 * _2 * known, last - first)
    scale = _grid(keys, known, cells, grid)
    room = known + _1  # buckets come after keys and prefixes: the rare rows are half of all at most
    mass, moment = 0.0, 0.0
    masses[o], pulls[_0], keys[room], pulls[room] = 0.0, 0.0, 0.0, 0.0
    for k in range(known):
        row = np.uint64(items[k])
        state.order[start + k] = items[k]
        weight = weights.rows[start + row] if weighted else 1.0
        mass += weight
        moment += weight * z[o + row]
        masses[o + k + _1], pulls[k + _1], keys[room + k + _1], pulls[room + k + _1] = mass, moment, 0.0, 0.0
    hinges, squares, lowest = 0.0, 0.0, keys[_0]
    for place in range(first, last):
        score = z[o + place]
        key = sign * score
        if not lowest - key < 1.0:
            state.known[slot + place], state.reach[start + place], u[o + place] = np.uint32(0), 0.0, 0.0
            continue
        count = _found(keys, known, key, grid, cells, scale)
        weight = weights.rows[start + place] if weighted else 1.0
        reach = masses[o + count]
        pull = sign * reach
        force = reach * score - pulls[count] + pull
        state.known[slot + place], state.reach[start + place] = np.uint32(count), reach
        keys[room + count] += weight
        pulls[room + count] += weight * score
        weight *= share
        hinges += weight * (0.5 * (reach + pull) + score * pull)
        squares += weight * force * score
        u[o + place] = weight * (force if loss == SQUARES else pull)
    reach, moment = 0.0, 0.0
    for back in range(known):
        k = known - back
        row = np.uint64(items[k - _1])
        reach += keys[room + k]
        moment += pulls[room + k]
        weight = share * (weights.rows[start + row] if weighted else 1.0)
        score, pull = z[o + row], -sign * reach
        force = reach * score - moment + pull
        state.reach[start + row] = reach
        hinges += weight * (0.5 * (reach + pull) + score * pull)
        squares += weight * force * score
        u[o + row] = weight * (force if loss == SQUARES else pull)
    losses[HINGES] += hinges
    losses[SQUARES] += squares + hinges if loss == SQUARES else 0.0


@kernel(allocates=False)
def sum_two(plan: Plan, state: State, g: Any, o: Any, values: Any, scratch: Scratch) -> None:
    """Sums of values over active pairs: prefixes over the rare rows, and buckets of the others."""
    slot = plan.slots[g]
    prefix, bucket, sums = scratch.list_values, scratch.list_sums, scratch.sums
    begin, end, first, last = _sides(plan, g)
    known, total = end - begin, 0.0
    prefix[_0], bucket[_0] = 0.0, 0.0
    for k in range(known):
        total += values[o + np.uint64(state.items[slot + k])]
        prefix[k + _1], bucket[k + _1] = total, 0.0
    for place in range(first, last):
        count = np.uint64(state.known[slot + place])
        if count == _0:
            sums[o + place] = 0.0
            continue
        bucket[count] += values[o + place]
        sums[o + place] = prefix[count]
    total = 0.0
    for back in range(known):
        k = known - back
        total += bucket[k]
        sums[o + np.uint64(state.items[slot + k - _1])] = total


@kernel(fast_sums=True, allocates=False)
def bend_two(plan: Plan, weights: Weights, state: State, g: Any, z: Any, scratch: Scratch) -> Any:
    """Sum over active pairs of c_ij (z_i - z_j)^2, z from the group's first row on."""
    start, slot, share, middle = plan.starts[g], plan.slots[g], weights.groups[g], z[_0]
    masses, firsts, seconds = scratch.values, scratch.list_values, scratch.list_sums
    begin, end, first, last = _sides(plan, g)
    weighted, mass, moment, square = len(weights.rows) > 0, 0.0, 0.0, 0.0
    for k in range(end - begin):
        row = np.uint64(state.items[slot + k])
        weight, value = weights.rows[start + row] if weighted else 1.0, z[row] - middle
        mass += weight
        moment += weight * value
        square += weight * value * value
        masses[k + _1], firsts[k + _1], seconds[k + _1] = mass, moment, square
    total = 0.0
    for place in range(first, last):
        count = np.uint64(state.known[slot + place])
        if count > _0:
            weight, value = weights.rows[start + place] if weighted else 1.0, z[place] - middle
            total += weight * (value * (masses[count] * value - 2.0 * firsts[count]) + seconds[count])
    return share * total
