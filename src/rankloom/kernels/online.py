"""Learning to rank online: rank a query, then learn from its feedback, pair by pair (Wang et al. 2015).

    x = a - b, a the better row;   loss = max(0, 1 - <w, x>)

    SOLAR-I     w <- w + tau x,         tau = loss / (|x|^2 + 1 / (2 C))                    Equations 5 and 6
    SOLAR-II    w <- w + alpha S x,     alpha = loss / beta,  beta = x'S x + gamma          Equation 8
                S <- S - (S x)(S x)' / beta                                                 Equation 9
    diagonal    the same, and of the new S only its diagonal is kept
    low rank    1/S = diag(p) + U U', as G = U / p and N = 1 / (1 + U'G); S stays while a query is learned
    perceptron  w <- w + x               where <w, x> <= 0: PRank on pairs
    committee   the same; w before a mistake is kept if it was right about more pairs than the weakest kept
    PRank       on rows, with thresholds b_1 <= b_2 ...: where (<w, x> - b_r) y_r <= 0, w += y_r x, b_r -= y_r

A pair of weight c counts c times in the optimisation problem: C becomes c C, and gamma becomes gamma / c.

Forgetting, once a query: w <- sqrt(f) w, S <- f S + (1 - f). That is kept as w = scale v and S = A s + B. The
full s is a packed lower triangle, so that it is symmetric whatever is rounded; its change by one pair is made
while it is read for the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.spd import Rows

FIRST, FULL, DIAGONAL, LOW_RANK, PERCEPTRON, COMMITTEE, PRANK = range(7)
# Places in State.scalars.
SCALE, A, B, PAIRS_SEEN, UPDATES, RIGHT = range(6)
SCALARS = 6

LEAST_SCALE = 1e-100
_0, _1, _2, _3, _4 = (np.uint64(n) for n in range(5))


class Feedback(NamedTuple):
    """What to learn from, in this order. Query q has pairs offsets[q] : offsets[q + 1]."""

    offsets: NDArray[np.int64]
    pairs: NDArray[np.int64]
    """Rows, better and worse; for PRank, a row and itself."""
    weights: NDArray[np.float64]
    """One per pair, or empty where all weigh the same."""
    levels: NDArray[np.float64]
    """For PRank: which level the label of each row is, from 0; else empty."""


class Recipe(NamedTuple):
    """How to learn."""

    form: int
    C: float
    gamma: float
    forget: float


class State(NamedTuple):
    """What was learned so far: all that a later call needs to go on as if there had been no break."""

    v: NDArray[np.float64]
    spread: NDArray[np.float64]
    """The covariance: a packed triangle, a diagonal, or 1 / p."""
    table: NDArray[np.float64]
    """Low rank: G, a row for each feature. Committee: the weights of each member."""
    small: NDArray[np.float64]
    """Low rank: z, with w = v + G z, then N. Committee: how many pairs each was right about. PRank: b."""
    scalars: NDArray[np.float64]
    random: NDArray[np.uint64]


class Work(NamedTuple):
    """Room to work in; nothing in it is kept from query to query."""

    x: NDArray[np.float64]
    columns: NDArray[np.uint32]
    y: NDArray[np.float64]
    t: NDArray[np.float64]
    dense: NDArray[np.float64]
    taken: NDArray[np.int64]
    """Low rank: which pairs of the last query changed something."""


@kernel(inline=True, allocates=False)
def _span(rows: Rows, row: Any) -> Any:
    """Where a row's values are: (first, last)."""
    if rows.width > 0:
        width = np.uint64(rows.width)
        return np.uint64(row) * width, np.uint64(row) * width + width
    return rows.offsets[row], rows.offsets[row + 1]


@kernel(allocates=False, fast_sums=True)
def _dense_difference(values: Any, a: Any, b: Any, width: Any, x: Any) -> None:
    for j in range(width):
        x[j] = np.float64(values[a + j]) - np.float64(values[b + j])


@kernel(allocates=False)
def _difference(rows: Rows, better: Any, worse: Any, work: Work) -> Any:
    """Write x = a - b; sparse rows are merged by column. How many entries x has."""
    first, last = _span(rows, better)
    start, stop = _span(rows, worse)
    if rows.width > 0:
        _dense_difference(rows.values, first, start, last - first, work.x)
        return last - first
    count = _0
    while first < last and start < stop:  # no branch on which comes first: nobody could predict it
        one, other = rows.columns[first], rows.columns[start]
        in_a, in_b = one <= other, other <= one
        work.columns[count] = min(one, other)
        work.x[count] = in_a * np.float64(rows.values[first]) - in_b * np.float64(rows.values[start])
        first += np.uint64(in_a)
        start += np.uint64(in_b)
        count += _1
    for place in range(first, last):
        work.columns[count] = rows.columns[place]
        work.x[count] = rows.values[place]
        count += _1
    for place in range(start, stop):
        work.columns[count] = rows.columns[place]
        work.x[count] = -rows.values[place]
        count += _1
    return count


@kernel(allocates=False)
def _copy_row(rows: Rows, row: Any, work: Work) -> Any:
    """Write x = a, one row. How many entries it has."""
    first, last = _span(rows, row)
    for place in range(first, last):
        work.x[place - first] = rows.values[place]
        if rows.width == 0:
            work.columns[place - first] = rows.columns[place]
    return last - first


@kernel(allocates=False, fast_sums=True)
def _dense_products(x: Any, w: Any, n: Any) -> Any:
    """(<w, x>, |x|^2)."""
    p, square = 0.0, 0.0
    for j in range(n):
        p += w[j] * x[j]
        square += x[j] * x[j]
    return p, square


@kernel(allocates=False)
def _products(width: Any, work: Work, n: Any, w: Any) -> Any:
    """(<w, x>, |x|^2) of the x at work."""
    if width > 0:
        return _dense_products(work.x, w, n)
    p, square = 0.0, 0.0
    for k in range(n):
        p += w[work.columns[k]] * work.x[k]
        square += work.x[k] * work.x[k]
    return p, square


@kernel(allocates=False, fast_sums=True)
def _dense_add(x: Any, n: Any, v: Any, factor: Any) -> None:
    for j in range(n):
        v[j] += factor * x[j]


@kernel(allocates=False)
def _add(width: Any, work: Work, n: Any, v: Any, factor: Any) -> None:
    """v += factor x."""
    if width > 0:
        _dense_add(work.x, n, v, factor)
    else:
        for k in range(n):
            v[work.columns[k]] += factor * work.x[k]


@kernel(allocates=False, fast_sums=True)
def _dense_dot(values: Any, first: Any, n: Any, w: Any) -> Any:
    total = 0.0
    for j in range(n):
        total += w[j] * values[first + j]
    return total


@kernel(allocates=False)
def _dot(rows: Rows, row: Any, w: Any) -> Any:
    first, last = _span(rows, row)
    if rows.width > 0:
        return _dense_dot(rows.values, first, last - first, w)
    total = 0.0
    for place in range(first, last):
        total += w[rows.columns[place]] * rows.values[place]
    return total


@kernel(allocates=False)
def _sketched_dot(rows: Rows, row: Any, state: State) -> Any:
    """<G z, a> of a row."""
    first, last = _span(rows, row)
    rank = np.uint64(state.table.shape[1])
    total = 0.0
    for place in range(first, last):
        column = place - first if rows.width > 0 else np.uint64(rows.columns[place])
        value = np.float64(rows.values[place])
        for k in range(rank):
            total += value * state.table[column, k] * state.small[k]
    return total


@kernel(allocates=False)
def _combine(state: State, w: Any) -> None:
    """The mean of the committee and of who learns now, each by how many pairs it was right about."""
    now, total = state.scalars[RIGHT], state.scalars[RIGHT]
    for member in range(len(state.small)):
        total += state.small[member]
    if total <= 0.0:
        now, total = 1.0, 1.0
    for j in range(len(state.v)):
        w[j] = now / total * state.v[j]
    for member in range(len(state.small)):
        share = state.small[member] / total
        if share > 0.0:
            for j in range(len(state.v)):
                w[j] += share * state.table[member, j]


@kernel(allocates=False)
def _rank(rows: Rows, first: Any, last: Any, recipe: Recipe, state: State, work: Work, scores: Any) -> None:
    """The score of each row of a query."""
    if recipe.form == COMMITTEE:
        _combine(state, work.t)
        for row in range(first, last):
            scores[row] = _dot(rows, row, work.t)
        return
    for row in range(first, last):
        score = _dot(rows, row, state.v)
        if recipe.form == LOW_RANK:
            score += _sketched_dot(rows, row, state)
        scores[row] = score * state.scalars[SCALE]


@kernel(inline=True, allocates=False, fast_sums=True)
def _change_and_multiply(s: Any, t: Any, x: Any, y: Any, n: Any) -> None:
    """s -= t t', and y = s x, in one pass over the packed triangle: four rows at a time."""
    fours = n // _4 * _4
    for i in range(_0, fours, _4):
        one, two, three = i + _1, i + _2, i + _3
        b0 = i * (i + _1) // _2
        b1 = b0 + one
        b2 = b1 + two
        b3 = b2 + three
        t0, t1, t2, t3 = t[i], t[one], t[two], t[three]
        x0, x1, x2, x3 = x[i], x[one], x[two], x[three]
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        for j in range(i):
            tj, xj = t[j], x[j]
            s0, s1 = s[b0 + j] - t0 * tj, s[b1 + j] - t1 * tj
            s2, s3 = s[b2 + j] - t2 * tj, s[b3 + j] - t3 * tj
            s[b0 + j], s[b1 + j], s[b2 + j], s[b3 + j] = s0, s1, s2, s3
            sum0 += s0 * xj
            sum1 += s1 * xj
            sum2 += s2 * xj
            sum3 += s3 * xj
            y[j] += s0 * x0 + s1 * x1 + s2 * x2 + s3 * x3
        y[i], y[one], y[two], y[three] = sum0, sum1, sum2, sum3
        for row in range(i, i + _4):
            _finish_row(s, t, x, y, row, i)
    for row in range(fours, n):
        y[row] = 0.0
        _finish_row(s, t, x, y, row, _0)


@kernel(allocates=False, inline=True, fast_sums=True)
def _finish_row(s: Any, t: Any, x: Any, y: Any, row: Any, first: Any) -> None:
    """A row's entries from column `first` to the diagonal."""
    base, total = row * (row + _1) // _2, 0.0
    for j in range(first, row):
        entry = s[base + j] - t[row] * t[j]
        s[base + j] = entry
        total += entry * x[j]
        y[j] += entry * x[row]
    entry = s[base + row] - t[row] * t[row]
    s[base + row] = entry
    y[row] += total + entry * x[row]


@kernel(allocates=False, fast_sums=True)
def _change(s: Any, t: Any, n: Any) -> None:
    """s -= t t', and t = 0."""
    for i in range(n):
        base, own = i * (i + _1) // _2, t[i]
        for j in range(i + _1):
            s[base + j] -= own * t[j]
    for i in range(n):
        t[i] = 0.0


@kernel(allocates=False, fast_sums=True)
def _settle_product(y: Any, x: Any, a: Any, b: Any, n: Any) -> Any:
    """y = a y + b x; x'y."""
    total = 0.0
    for j in range(n):
        y[j] = a * y[j] + b * x[j]
        total += y[j] * x[j]
    return total


@kernel(allocates=False)
def _full_step(rows: Rows, recipe: Recipe, state: State, work: Work, n: Any, loss: Any, weight: Any) -> None:
    """SOLAR-II. The change of s that t stands for is made now, and this step's is left in t."""
    scalars, x, d = state.scalars, work.dense, np.uint64(len(state.v))
    if rows.width == 0:
        for j in range(d):
            x[j] = 0.0
        for k in range(n):
            x[work.columns[k]] = work.x[k]
    else:  # x must be one array, whatever the rows are: else the loops over it are not vectorised
        for j in range(d):
            x[j] = work.x[j]
    _change_and_multiply(state.spread, work.t, x, work.y, d)
    variance = _settle_product(work.y, x, scalars[A], scalars[B], d)
    beta = max(variance, 0.0) + recipe.gamma / weight
    step, root = loss / beta / scalars[SCALE], 1.0 / np.sqrt(beta * scalars[A])
    for j in range(d):
        state.v[j] += step * work.y[j]
        work.t[j] = root * work.y[j]


@kernel(allocates=False)
def _diagonal_step(
    width: Any, recipe: Recipe, state: State, work: Work, n: Any, loss: Any, weight: Any
) -> None:
    scalars = state.scalars
    variance = 0.0
    for k in range(n):
        column = k if width > 0 else np.uint64(work.columns[k])
        spread = scalars[A] * state.spread[column] + scalars[B]
        variance += spread * work.x[k] * work.x[k]
    beta = variance + recipe.gamma / weight
    step, share = loss / beta / scalars[SCALE], 1.0 / (beta * scalars[A])
    for k in range(n):
        column = k if width > 0 else np.uint64(work.columns[k])
        moved = (scalars[A] * state.spread[column] + scalars[B]) * work.x[k]
        state.v[column] += step * moved
        state.spread[column] -= share * moved * moved


@kernel(allocates=False)
def _low_rank_step(
    width: Any, recipe: Recipe, state: State, work: Work, n: Any, loss: Any, weight: Any
) -> None:
    """w += alpha S x as v += alpha x / p and z -= alpha N G'x."""
    rank = np.uint64(state.table.shape[1])
    for k in range(_2 * rank):
        work.y[k] = 0.0
    variance = 0.0
    for i in range(n):
        column = i if width > 0 else np.uint64(work.columns[i])
        variance += state.spread[column] * work.x[i] * work.x[i]
        for k in range(rank):
            work.y[k] += state.table[column, k] * work.x[i]
    for k in range(rank):
        for other in range(rank):
            work.y[rank + k] += state.small[rank + k * rank + other] * work.y[other]
        variance -= work.y[k] * work.y[rank + k]
    beta = max(variance, 0.0) + recipe.gamma / weight
    for i in range(n):
        column = i if width > 0 else np.uint64(work.columns[i])
        state.v[column] += loss / beta * state.spread[column] * work.x[i]
    for k in range(rank):
        state.small[k] -= loss / beta * work.y[rank + k]


@kernel(allocates=False)
def _join_committee(state: State) -> None:
    """Who learns now takes the place of the weakest member, if it was right about more pairs."""
    weakest = 0
    for member in range(len(state.small)):
        if state.small[member] < state.small[weakest]:
            weakest = member
    if state.scalars[RIGHT] > state.small[weakest]:
        state.small[weakest] = state.scalars[RIGHT]
        for j in range(len(state.v)):
            state.table[weakest, j] = state.v[j]


@kernel(allocates=False)
def _learn_pair(
    rows: Rows, better: Any, worse: Any, weight: Any, recipe: Recipe, state: State, work: Work
) -> Any:
    """One pair. Whether anything changed."""
    scalars, form, width = state.scalars, recipe.form, rows.width
    scalars[PAIRS_SEEN] += 1.0
    n = _difference(rows, better, worse, work)
    p, square = _products(width, work, n, state.v)
    p *= scalars[SCALE]
    if form == LOW_RANK:
        p += _sketched_dot(rows, better, state) - _sketched_dot(rows, worse, state)
    mistaken = p <= 0.0 if form >= PERCEPTRON else p < 1.0
    if not mistaken or square == 0.0 or weight <= 0.0:
        scalars[RIGHT] += not mistaken
        return False
    if form == FIRST:
        tau = (1.0 - p) / (square + 0.5 / (recipe.C * weight))
        _add(width, work, n, state.v, tau / scalars[SCALE])
    elif form == FULL:
        _full_step(rows, recipe, state, work, n, 1.0 - p, weight)
    elif form == DIAGONAL:
        _diagonal_step(width, recipe, state, work, n, 1.0 - p, weight)
    elif form == LOW_RANK:
        _low_rank_step(width, recipe, state, work, n, 1.0 - p, weight)
    else:
        if form == COMMITTEE:
            _join_committee(state)
        _add(width, work, n, state.v, weight)
        scalars[RIGHT] = 0.0
    scalars[UPDATES] += 1.0
    return True


@kernel(allocates=False)
def _learn_row(rows: Rows, row: Any, level: Any, weight: Any, state: State, work: Work) -> None:
    """PRank: move the weights and every threshold that is on the wrong side."""
    n = _copy_row(rows, row, work)
    p, _square = _products(rows.width, work, n, state.v)
    total = 0.0
    for k in range(len(state.small)):
        side = 1.0 if level > k else -1.0
        if (p - state.small[k]) * side <= 0.0:
            total += side
            state.small[k] -= side * weight
    state.scalars[PAIRS_SEEN] += 1.0
    if total != 0.0:
        _add(rows.width, work, n, state.v, total * weight)
        state.scalars[UPDATES] += 1.0


@kernel(allocates=False)
def _forget(recipe: Recipe, state: State) -> None:
    """One query has gone by. Scales that get small are brought back to 1."""
    scalars, f = state.scalars, recipe.forget
    scalars[SCALE] *= np.sqrt(f)
    scalars[A] *= f
    scalars[B] = f * scalars[B] + (1.0 - f)
    if scalars[SCALE] < LEAST_SCALE:
        for j in range(len(state.v)):
            state.v[j] *= scalars[SCALE]
        scalars[SCALE] = 1.0
    if scalars[A] < 1e-5:
        step, j = 0, 0
        for k in range(len(state.spread)):
            state.spread[k] *= scalars[A]
            if k == j:  # on the diagonal
                state.spread[k] += scalars[B]
                step += 1
                j += 1 + (step if recipe.form == FULL else 0)
        scalars[A], scalars[B] = 1.0, 0.0


@kernel(allocates=False)
def _learn_all(
    rows: Rows, start: Any, stop: Any, feedback: Feedback, recipe: Recipe, state: State, work: Work
) -> Any:
    """The pairs (or rows) of one query. How many changed something."""
    updated = 0
    for k in range(start, stop):
        better, worse, weight = feedback.pairs[k, 0], feedback.pairs[k, 1], 1.0
        if len(feedback.weights) > 0:
            weight = feedback.weights[k]
        if recipe.form == PRANK:
            if weight > 0.0:
                _learn_row(rows, better, feedback.levels[better], weight, state, work)
        elif _learn_pair(rows, better, worse, weight, recipe, state, work):
            if recipe.form == LOW_RANK:
                work.taken[updated] = k
            updated += 1
    return updated


@kernel(allocates=False)
def learn(
    rows: Rows,
    offsets: NDArray[np.int64],
    feedback: Feedback,
    recipe: Recipe,
    state: State,
    work: Work,
    scores: NDArray[np.float64],
) -> Any:
    """Rank each query by what was learned before it, then learn from its feedback.

    Fills scores, one a row. How many pairs of the last query changed something.
    """
    updated = 0
    for query in range(len(offsets) - 1):
        first, last = offsets[query], offsets[query + 1]
        _rank(rows, first, last, recipe, state, work, scores)
        if recipe.forget < 1.0:
            _forget(recipe, state)
        if recipe.form == FULL:
            for j in range(len(work.t)):
                work.t[j] = 0.0
        start, stop = feedback.offsets[query], feedback.offsets[query + 1]
        updated = _learn_all(rows, start, stop, feedback, recipe, state, work)
        if recipe.form == FULL and updated > 0:
            _change(state.spread, work.t, np.uint64(len(state.v)))
    return updated


@kernel
def combined(state: State) -> Any:
    """The weights of a committee."""
    w = np.empty(len(state.v))
    _combine(state, w)
    return w
