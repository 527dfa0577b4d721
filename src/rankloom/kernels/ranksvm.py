"""What a RankSVM solver asks for, over all pairs (i, j) of P with y_i > y_j, in a few passes over the rows.

    squares      sum over P of c_ij max(0, 1 - s_i + s_j)^2,  s = X w;     hinges: without the square
    gradient     X^T u,  u_i = c_q a_i (L_i s_i - G_i(s) + L+_i - L-_i)    half that of the squares
    curvature    X^T u,  u_i = c_q a_i (L_i z_i - G_i(z)),  z = X v        half of their Hessian times v

with c_ij = c_q a_i a_j (weights of the query and of both rows), L = L+ + L-, and

    L+_i = sum of a_j over j with y_j > y_i, s_j - s_i < 1        L-_i: over j with y_j < y_i, s_i - s_j < 1
    G_i(z) = sum of a_j z_j over all of these j

(Lee & Lin 2014, equations 15 to 19). `evaluate` is at a new w: it sorts scores and notes which pairs are
active (the same difference, rounded the same way, whichever row asks), after which a product is only sums.
Rows without an active pair are not read. A batch of queries stays in cache between Xv, the sums and X^T u, so
that X comes from memory once; a batch that is one query too large for that is taken in three steps. How the
sums are found is said in `ranksvm_plan`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rankloom.kernels.compile import kernel
from rankloom.kernels.memory import prefetch
from rankloom.kernels.ranksvm_plan import (
    HINGES,
    LEAF,
    SQUARES,
    TILE,
    TWO,
    Batches,
    Plan,
    Scratch,
    State,
    Weights,
)
from rankloom.kernels.ranksvm_two import bend_two, evaluate_two, order_two, sort_by, sum_two
from rankloom.kernels.spd import Rows
from rankloom.kernels.vectors import (
    BLOCK,
    LANES,
    add_1,
    add_8,
    dots_1,
    dots_4,
    masked_sums,
    running_sums_8,
    running_sums_16,
    running_sums_32,
)

_0: Any
_1: Any
_0, _1, _2, _3, _4, _8 = (np.uint64(n) for n in (0, 1, 2, 3, 4, 8))
_LEAF, _TILE, _BLOCK = (np.uint64(n) for n in (LEAF, TILE, BLOCK))
_NEAR, _FAR = np.uint64(64), np.uint64(1 << 16)  # rows ahead; values that are too many for the cache
_NOTHING = np.uint64((TILE + 1) * LANES)  # where a tile holds 0
_AHEAD, _LINE = np.uint64(2048), np.uint64(16)  # values: how far ahead rows are fetched, and by how many


@kernel(inline=True, allocates=False)
def _fetch(values: Any, width: Any, listed: Any, k: Any) -> None:
    """Have four rows from listed[k] on brought to the cache, if they are there and few are between."""
    if k + _4 > np.uint64(len(listed)):
        return
    first, last = np.uint64(listed[k]), np.uint64(listed[k + _3])
    if last - first < _8:
        for j in range(first * width, (last + _1) * width, _LINE):
            prefetch(values, j)


@kernel(inline=True, allocates=False)
def _fetch_places(z: Any, base: Any, place: Any, listed: Any, first: Any, last: Any) -> None:
    """Have places of rows brought to the cache, where z is larger than it."""
    if np.uint64(len(z)) > _FAR:
        for k in range(first, last):
            prefetch(z, np.uint64(place[np.uint64(listed[k])]) - base)


@kernel(inline=True, allocates=False)
def _fetch_items(values: Any, o: Any, items: Any, first: Any, last: Any) -> None:
    """Have values of items brought to the cache, where there are more than it holds."""
    if np.uint64(len(values)) > _FAR:
        for k in range(first, last):
            prefetch(values, o + np.uint64(items[k]))


@kernel(fast_sums=True, allocates=False)
def _dots(rows: Rows, place: Any, listed: Any, first: Any, last: Any, base: Any, v: Any, z: Any) -> None:
    """z = X v for these rows, by place; v is packed where rows are dense and have 8 columns or more."""
    values, columns, offsets, width = rows.values, rows.columns, rows.offsets, np.uint64(rows.width)
    k = first
    if width >= _BLOCK:
        ahead = k + _AHEAD // width + _4
        while k + _4 <= last:
            _fetch(values, width, listed, ahead)
            ahead += _4
            _fetch_places(z, base, place, listed, min(k + _NEAR, last), min(k + _NEAR + _4, last))
            dots_4(values, listed, k, width, place, base, v, z)
            k += _4
        while k < last:
            dots_1(values, listed, k, width, place, base, v, z)
            k += _1
        return
    while k < last:
        row, total = np.uint64(listed[k]), 0.0
        if width == _0:
            for e in range(offsets[row], offsets[row + _1]):
                total += v[columns[e]] * values[e]
        for j in range(width):
            total += v[j] * values[row * width + j]
        z[np.uint64(place[row]) - base] = total
        k += _1


@kernel(fast_sums=True, allocates=False)
def _add(
    rows: Rows, place: Any, listed: Any, first: Any, last: Any, after: Any, base: Any, u: Any, g: Any
) -> None:
    """g += X^T u over these rows; g is packed as v is.

    Half as many rows from listed[after] on are brought to the cache meanwhile: memory is idle here.
    """
    values, columns, offsets, width = rows.values, rows.columns, rows.offsets, np.uint64(rows.width)
    k = first
    if width >= _BLOCK:
        while k + _8 <= last:
            _fetch(values, width, listed, after)
            after += _4
            _fetch_places(u, base, place, listed, min(k + _NEAR, last), min(k + _NEAR + _8, last))
            add_8(values, listed, k, width, place, base, u, g)
            k += _8
        while k < last:
            add_1(values, listed, k, width, place, base, u, g)
            k += _1
        return
    while k < last:
        row = np.uint64(listed[k])
        scale = u[np.uint64(place[row]) - base]
        if width == _0:
            for e in range(offsets[row], offsets[row + _1]):
                g[columns[e]] += scale * values[e]
        for j in range(width):
            g[j] += scale * values[row * width + j]
        k += _1


@kernel(inline=True, allocates=False)
def _run_edge(plan: Plan, g: Any, run: Any, shift: Any, moved: Any) -> Any:
    """At which place of the group a run of leaves begins."""
    first = plan.edge_first[g]
    leaf = run << shift
    leaf = leaf - moved if leaf > moved else _0
    return np.uint64(plan.edges[first + min(leaf, plan.edge_first[g + _1] - _1 - first)])


@kernel
def _note_layers(plan: Plan, state: State, g: Any, o: Any, scratch: Scratch) -> None:
    """Sort by score, deal the rows out to the lists of all layers, and note how far each row's pairs go."""
    start, n, slot = plan.starts[g], plan.stops[g] - plan.starts[g], plan.slots[g]
    leaves = plan.edge_first[g + _1] - plan.edge_first[g] - _1
    keys, z, bits = scratch.list_values, scratch.z, np.uint64(plan.bits[g])
    order, tile = state.order[start:], plan.tiles[g]
    for k in range(n):
        keys[k] = z[o + np.uint64(order[k])]
    sort_by(keys, order, scratch.list_sums, scratch.spare, n)
    for layer in range(np.uint64(plan.layers[g])):
        moved = layer if bits == _1 else _0
        shift = _0 if bits == _1 else layer * bits
        runs = ((leaves - _1 + moved) >> (shift + bits)) + _1
        for run in range(runs):
            scratch.cursor[run] = _run_edge(plan, g, run, shift + bits, moved)
        for k in range(n):
            row = np.uint64(order[k])
            leaf = np.uint64(plan.leaf[start + row]) + moved
            of = leaf >> (shift + bits)
            place = np.uint64(scratch.cursor[of])
            scratch.cursor[of] += np.uint32(1)
            state.items[slot + place] = row
            state.digits[slot + place] = (leaf >> shift) & ((_1 << bits) - _1)
            keys[place] = z[o + row]
        for run in range(runs):
            begin = _run_edge(plan, g, run, shift + bits, moved)
            end = _run_edge(plan, g, run + _1, shift + bits, moved)
            tile = _note_run(state, slot, begin, end, keys, max(bits, _3), tile)
        slot += n


@kernel(allocates=False)
def _note_run(state: State, slot: Any, begin: Any, end: Any, keys: Any, bits: Any, first: Any) -> Any:
    """For one run: which sums each row needs, and how many rows have theirs up to each tile."""
    width, tiles = _1 << bits, (end - begin + _TILE - _1) // _TILE
    up, tile, before, done = begin, first, begin, min(begin + _TILE, end)
    for k in range(begin, end):
        while up < end and keys[up] - keys[k] < 1.0:
            up += _1
        while up > done:
            state.tile_above[tile] = k
            tile += _1
            before, done = done, min(done + _TILE, end)
        digit = np.uint64(state.digits[slot + k]) + _1
        state.above[slot + k] = ((up - before) << bits) + digit if digit < width else _NOTHING
    while tile < first + tiles:
        state.tile_above[tile] = end
        tile += _1
    low, tile, before, done = begin, first, begin, min(begin + _TILE, end)
    for k in range(begin, end):
        while keys[k] - keys[low] >= 1.0:
            low += _1
        while low > done:
            state.tile_below[tile] = k
            tile += _1
            before, done = done, min(done + _TILE, end)
        state.below[slot + k] = ((low - before) << bits) + np.uint64(state.digits[slot + k])
    while tile < first + tiles:
        state.tile_below[tile] = end
        tile += _1
    return first + tiles


@kernel(allocates=False)
def _sum_layers(plan: Plan, state: State, g: Any, o: Any, values: Any, scratch: Scratch, sign: Any) -> None:
    """Sums of values over active pairs of different leaves."""
    n, slot, tile = plan.stops[g] - plan.starts[g], plan.slots[g], plan.tiles[g]
    leaves = plan.edge_first[g + _1] - plan.edge_first[g] - _1
    bits = np.uint64(plan.bits[g])
    if plan.layers[g] != 1:
        for row in range(n):
            scratch.sums[o + row] = 0.0
    for layer in range(np.uint64(plan.layers[g])):
        moved = layer if bits == _1 else _0
        shift = _0 if bits == _1 else layer * bits
        last, end = leaves - _1 + moved, _0
        for run in range((last >> (shift + bits)) + _1):
            begin, end = end, _run_edge(plan, g, run + _1, shift + bits, moved)
            tile = _sum_run(
                state, slot, begin, end, values, o, scratch, max(bits, _3), sign, tile, plan.layers[g] == 1
            )
            first = run << bits
            for leaf in range(first, min(first + (_1 << bits), (last >> shift) + _1)):
                worse = scratch.tile[leaf - first]
                after = _run_edge(plan, g, leaf + _1, shift, moved)
                for row in range(_run_edge(plan, g, leaf, shift, moved), after):
                    scratch.sums[o + row] += worse
        slot += n


@kernel(allocates=False)
def _sum_run(
    state: State,
    slot: Any,
    begin: Any,
    end: Any,
    values: Any,
    o: Any,
    scratch: Scratch,
    bits: Any,
    sign: Any,
    at_tile: Any,
    alone: Any,
) -> Any:
    """Sums over one run: tiles of T[t, d] = sum of values of digit >= d before place t.

    Leaves in the tile what is to be added to all rows of a digit: the sum of all worse rows.
    """
    width, tile, sums, below = _1 << bits, scratch.tile, scratch.sums, scratch.list_sums
    items, digits = state.items, state.digits
    for c in range(width):
        tile[c] = 0.0
    tile[_NOTHING] = 0.0
    a, b, done, rows = begin, begin, begin, _0
    while done < end:
        rows = min(_TILE, end - done)
        _fetch_items(values, o, items, slot + done + rows, slot + min(done + rows + _TILE, end))
        if bits == _3:
            running_sums_8(tile, rows, values, o, items, digits, slot + done)
        elif bits == _4:
            running_sums_16(tile, rows, values, o, items, digits, slot + done)
        else:
            running_sums_32(tile, rows, values, o, items, digits, slot + done)
        ends, begins = np.uint64(state.tile_above[at_tile]), np.uint64(state.tile_below[at_tile])
        for k in range(b, begins):
            at = np.uint64(state.below[slot + k])
            below[k] = sign * (tile[at] - tile[at & ~(width - _1)])
        _fetch_items(sums, o, items, slot + ends, slot + min(ends + _TILE, end))
        for k in range(a, ends):  # what a row begins after is before what it ends before: that was first
            found = below[k] + tile[np.uint64(state.above[slot + k])]
            at = o + np.uint64(items[slot + k])
            sums[at] = found if alone else sums[at] + found
        a, b = ends, begins
        at_tile += _1
        done += rows
        if done < end:
            for c in range(width):
                tile[c] = tile[rows * width + c]
    last = rows * width
    for c in range(width):
        tile[c] = sign * (tile[last] - tile[last + c])
    return at_tile


@kernel(allocates=False)
def _note_masks(plan: Plan, state: State, g: Any, o: Any, scratch: Scratch) -> None:
    """For each row of a leaf, a bit for each other row that it has an active pair with."""
    start, edge, z = plan.starts[g], plan.edge_first[g], scratch.z
    for leaf in range(edge, plan.edge_first[g + _1] - _1):
        begin, end = np.uint64(plan.edges[leaf]), np.uint64(plan.edges[leaf + _1])
        if end - begin > _LEAF:
            continue
        for j in range(begin, end):
            mask, level, score = np.uint32(0), plan.level[start + j], z[o + j]
            for c in range(begin, end):
                other, there = plan.level[start + c], z[o + c]
                above = (other > level) & (there - score < 1.0)
                below = (other < level) & (score - there < 1.0)
                near = (not plan.adjacent) | (other == level + np.uint32(1)) | (other + np.uint32(1) == level)
                mask |= np.uint32((above | below) & near) << np.uint32(c - begin)
            state.masks[start + j] = mask


@kernel(allocates=False)
def _sum_masks(plan: Plan, state: State, g: Any, o: Any, values: Any, scratch: Scratch, sign: Any) -> None:
    """Add sums of values over active pairs within leaves."""
    start, edge = plan.starts[g], plan.edge_first[g]
    for leaf in range(edge, plan.edge_first[g + _1] - _1):
        begin, end = np.uint64(plan.edges[leaf]), np.uint64(plan.edges[leaf + _1])
        n = end - begin
        if n > _LEAF or n < _2:
            continue
        if sign > 0.0:
            masked_sums(state.masks, start + begin, n, values, o + begin, scratch.sums)
        else:
            _signed_sums(state, start + begin, n, values, o + begin, scratch.sums)


@kernel(allocates=False)
def _signed_sums(state: State, at: Any, n: Any, values: Any, first: Any, sums: Any) -> None:
    """Add sums of better rows less those of worse ones: rows of a leaf rise by label."""
    for c in range(n):
        total, mask = 0.0, state.masks[at + c]
        for j in range(n):
            if (mask >> np.uint32(j)) & np.uint32(1):
                total += values[first + j] if j > c else -values[first + j]
        sums[first + c] += total


@kernel(allocates=False)
def _sum(plan: Plan, state: State, g: Any, o: Any, values: Any, scratch: Scratch, sign: Any) -> None:
    """scratch.sums of a group: of values over active pairs, those of worse rows times sign."""
    if plan.kind[g] == TWO:
        sum_two(plan, state, g, o, values, scratch)
        return
    _sum_layers(plan, state, g, o, values, scratch, sign)
    if plan.masked[g]:
        _sum_masks(plan, state, g, o, values, scratch, sign)


@kernel
def _note(plan: Plan, state: State, g: Any, o: Any, scratch: Scratch) -> None:
    """Find out which pairs are active."""
    if plan.layers[g]:
        _note_layers(plan, state, g, o, scratch)
    if plan.masked[g]:
        _note_masks(plan, state, g, o, scratch)


@kernel
def _evaluate_group(
    plan: Plan, weights: Weights, state: State, g: Any, base: Any, loss: Any, scratch: Scratch, losses: Any
) -> None:
    """From scores z: what is active, the group's loss, and u of its rows."""
    start, n = plan.starts[g], plan.stops[g] - plan.starts[g]
    o, z, u, values, sums = start - base, scratch.z, scratch.u, scratch.values, scratch.sums
    weighted, share = len(weights.rows) > 0, weights.groups[g]
    middle = z[o]
    for r in range(n):
        z[o + r] -= middle
    if plan.kind[g] == TWO:
        evaluate_two(plan, weights, state, g, base, loss, scratch, losses)
        return
    _note(plan, state, g, o, scratch)
    for r in range(n):
        values[o + r] = weights.rows[start + r] if weighted else 1.0
    _sum(plan, state, g, o, values, scratch, 1.0)
    for r in range(n):
        state.reach[start + r] = sums[o + r]
    _sum(plan, state, g, o, values, scratch, -1.0)
    for r in range(n):
        u[o + r] = sums[o + r]
        values[o + r] *= z[o + r]
    if loss == SQUARES:
        _sum(plan, state, g, o, values, scratch, 1.0)
    hinges, squares = 0.0, 0.0
    for r in range(n):
        weight = share * (weights.rows[start + r] if weighted else 1.0)
        reach, pull, score = state.reach[start + r], u[o + r], z[o + r]
        hinges += weight * (0.5 * (reach + pull) + score * pull)
        u[o + r] = weight * pull
        if loss == SQUARES:
            force = reach * score - sums[o + r] + pull
            squares += weight * force * score
            u[o + r] = weight * force
    losses[HINGES] += hinges
    losses[SQUARES] += squares + hinges if loss == SQUARES else 0.0


@kernel(fast_sums=True, allocates=False)
def _curve_group(plan: Plan, weights: Weights, state: State, g: Any, base: Any, scratch: Scratch) -> None:
    """From z = X v: u of the group's rows."""
    start, share = plan.starts[g], weights.groups[g]
    n, o = plan.stops[g] - start, start - base
    z, u, values, sums = scratch.z, scratch.u, scratch.values, scratch.sums
    if len(weights.rows) == 0:
        _sum(plan, state, g, o, z, scratch, 1.0)
        for r in range(n):
            u[o + r] = share * (state.reach[start + r] * z[o + r] - sums[o + r])
        return
    for r in range(n):
        values[o + r] = z[o + r] * weights.rows[start + r]
    _sum(plan, state, g, o, values, scratch, 1.0)
    for r in range(n):
        u[o + r] = share * weights.rows[start + r] * (state.reach[start + r] * z[o + r] - sums[o + r])


@kernel
def _list_active(plan: Plan, batches: Batches, state: State, batch: Any) -> None:
    first, out = batches.edges[batch], batches.edges[batch]
    for k in range(first, batches.edges[batch + _1]):
        row = batches.rows[k]
        if state.reach[np.uint64(plan.place[np.uint64(row)])] > 0.0:
            state.active[out] = row
            out += _1
    state.n_active[batch] = out - first


@kernel
def first_order(plan: Plan, order: Any) -> None:
    """Places of each group as they come; with two labels, those of the rarer one first."""
    for g in range(_0, np.uint64(len(plan.starts))):
        start = plan.starts[g]
        if plan.kind[g] == TWO:
            order_two(plan, g, order)
            continue
        for k in range(plan.stops[g] - start):
            order[start + k] = k


@kernel
def evaluate_batches(
    rows: Rows,
    plan: Plan,
    weights: Weights,
    batches: Batches,
    state: State,
    blocks: Any,
    first: Any,
    last: Any,
    w: Any,
    loss: Any,
    scratch: Scratch,
    losses: Any,
    sums: Any,
) -> None:
    """Losses and X^T u of blocks first:last, block b being batches blocks[b, 0]:blocks[b, 1]."""
    zero = True
    for j in range(len(w)):
        zero &= w[j] == 0.0
    for block in range(np.uint64(first), np.uint64(last)):
        for batch in range(blocks[block, 0], blocks[block, 1]):
            groups = batches.groups[batch], batches.groups[batch + _1]
            base, begin, end = plan.starts[groups[0]], batches.edges[batch], batches.edges[batch + _1]
            if zero:
                scratch.z[: plan.stops[groups[1] - _1] - base] = 0.0
            else:
                _dots(rows, plan.place, batches.rows, begin, end, base, w, scratch.z)
            for g in range(groups[0], groups[1]):
                _evaluate_group(plan, weights, state, g, base, loss, scratch, losses[block])
            _list_active(plan, batches, state, batch)
            end, after = begin + state.n_active[batch], np.uint64(len(state.active))
            _add(rows, plan.place, state.active, begin, end, after, base, scratch.u, sums[block])


@kernel
def curve_batches(
    rows: Rows,
    plan: Plan,
    weights: Weights,
    batches: Batches,
    state: State,
    blocks: Any,
    first: Any,
    last: Any,
    v: Any,
    scratch: Scratch,
    sums: Any,
) -> None:
    """X^T u of blocks first:last for a product with v."""
    for block in range(np.uint64(first), np.uint64(last)):
        for batch in range(blocks[block, 0], blocks[block, 1]):
            groups = batches.groups[batch], batches.groups[batch + _1]
            base, begin = plan.starts[groups[0]], batches.edges[batch]
            end, span = begin + state.n_active[batch], plan.stops[groups[1] - _1] - base
            if end - begin < span:
                scratch.z[:span] = 0.0
            _dots(rows, plan.place, state.active, begin, end, base, v, scratch.z)
            for g in range(groups[0], groups[1]):
                _curve_group(plan, weights, state, g, base, scratch)
            after = batches.edges[batch + _1]
            _add(rows, plan.place, state.active, begin, end, after, base, scratch.u, sums[block])


@kernel
def dots_of(rows: Rows, place: Any, listed: Any, first: Any, last: Any, base: Any, v: Any, z: Any) -> None:
    """z = X v for a part of a large query."""
    _dots(rows, place, listed, np.uint64(first), np.uint64(last), np.uint64(base), v, z)


@kernel
def add_of(rows: Rows, place: Any, listed: Any, first: Any, last: Any, base: Any, u: Any, sums: Any) -> None:
    """sums += X^T u for a part of a large query."""
    after = np.uint64(len(listed))
    _add(rows, place, listed, np.uint64(first), np.uint64(last), after, np.uint64(base), u, sums)


@kernel
def evaluate_large(
    plan: Plan,
    weights: Weights,
    batches: Batches,
    state: State,
    batch: Any,
    loss: Any,
    scratch: Scratch,
    losses: Any,
) -> None:
    """What `evaluate_batches` does between the two steps on X, for a batch of one large group."""
    g = batches.groups[np.uint64(batch)]
    _evaluate_group(plan, weights, state, g, plan.starts[g], loss, scratch, losses)


@kernel
def list_active(plan: Plan, batches: Batches, state: State, batch: Any) -> None:
    """Note which rows of a batch have an active pair."""
    _list_active(plan, batches, state, np.uint64(batch))


@kernel
def curve_large(
    plan: Plan, weights: Weights, batches: Batches, state: State, batch: Any, scratch: Scratch
) -> None:
    """What `curve_batches` does between the two steps on X, for a batch of one large group."""
    g = batches.groups[np.uint64(batch)]
    _curve_group(plan, weights, state, g, plan.starts[g], scratch)


@kernel
def bend_large(
    plan: Plan, weights: Weights, batches: Batches, state: State, batch: Any, along: Any, scratch: Scratch
) -> Any:
    """Sum over active pairs of c_ij (z_i - z_j)^2, for a batch of one large group."""
    g = batches.groups[np.uint64(batch)]
    if plan.kind[g] == TWO:
        return bend_two(plan, weights, state, g, along, scratch)
    total = 0.0
    for r in range(np.uint64(len(along))):
        scratch.z[r] = along[r]
    _curve_group(plan, weights, state, g, plan.starts[g], scratch)
    for r in range(np.uint64(len(along))):
        total += scratch.u[r] * along[r]
    return total


@kernel
def evaluate_scores(
    plan: Plan, weights: Weights, state: State, scores: Any, scratch: Scratch, losses: Any
) -> None:
    """Losses of scores that are known."""
    for g in range(np.uint64(len(plan.starts))):
        start, n = plan.starts[g], plan.stops[g] - plan.starts[g]
        for r in range(n):
            scratch.z[np.uint64(plan.place[start + r]) - start] = scores[start + r]
        _evaluate_group(plan, weights, state, g, start, SQUARES, scratch, losses)
