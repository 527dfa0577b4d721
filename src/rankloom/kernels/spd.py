"""Stochastic pairwise descent: draw a pair (for CRR, or a row), take a step, many times (Sculley 2009, 2010).

    w = scale v                      shrinking by a factor costs one multiplication
    x = a - b for a pair, a the better one;  x = a for a row;  p = <w, x>, for a row with the bias added

    SGD, Pegasos        w <- (1 - eta lam) w + eta g x,  eta = rate / (rate_offset + i) at step i
                        g = 1 if p < 1 else 0 (hinge),  t - 1 / (1 + e^-p) (logistic),  t - p (squared);
                        Pegasos projects w into the ball of radius 1 / sqrt(lam)
    Passive-Aggressive  w <- w + min(C, (1 - p) / |x|^2) x                    where p < 1
    ROMMA               w <- c w + d x,  D = |x|^2 |w|^2 - p^2,               where p < 1
                        c = (|x|^2 |w|^2 - p) / D,  d = |w|^2 (1 - p) / D;  w <- x / |x|^2 from w = 0
    Perceptron          w <- w + eta x                                        where p <= margin
    L1                  w_j = scale sign(v_j) max(0, |v_j| - U),  U <- U + eta l1 / scale in each such
                        step: dual averaging (Xiao 2010). With the bounded rate, w after step i minimises
                        <sum of -g x, w> + i l1 |w|_1 + (i + i0) lam/2 |w|^2

What comes is known ahead: pairs are drawn AHEAD steps before they are used, and their values are fetched NEAR
steps before. Dense and sparse rows go through the same helpers.

The average of w over the last steps is kept as sum of w_i = A v + u, with A the sum of scales and u changed
only where v is. It knows nothing of L1, whose averages would not be sparse.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel
from rankloom.kernels.memory import prefetch
from rankloom.kernels.pair_index import FIRST, LAST, START, STOP, PairIndex
from rankloom.kernels.random import GOLDEN, mix

PAIRS, BALANCED = range(2)
SGD, PEGASOS, PASSIVE_AGGRESSIVE, ROMMA, PERCEPTRON = range(5)
HINGE, LOGISTIC, SQUARED = range(3)
SIGN, DIFFERENCE = range(2)

# Places in State.scalars.
SCALE, NORM, BIAS, SCALE_SUM, BIAS_SUM, AVERAGED, UPDATES, DRAWN_TO, SHRINK = range(9)
SCALARS = 9

AHEAD, NEAR, RING = 16, 6, 32
NOBODY = 2**64 - 1
LEAST_SCALE = 1e-5  # below it, w and the averages would lose digits

_0, _1, _16, _32, _RING_MASK, _LOW = (np.uint64(n) for n in (0, 1, 16, 32, RING - 1, 0xFFFFFFFF))
_NOBODY = np.uint64(NOBODY)
_TO_UNIT = 1.0 / 4294967296.0


class Rows(NamedTuple):
    """Feature rows. Dense: `values` is the table, row after row, `width` columns each; sparse: width is 0."""

    values: NDArray[np.float32]
    columns: NDArray[np.uint32]
    offsets: NDArray[np.uint64]
    width: int


class Truth(NamedTuple):
    """Targets of rows. `weights` is empty where all weigh the same."""

    targets: NDArray[np.float64]
    weights: NDArray[np.float64]


class Recipe(NamedTuple):
    """What a step is; see the module."""

    sampler: int
    learner: int
    loss: int
    target: int
    """SIGN: a pair's target is 1; DIFFERENCE: that of its targets, d, or (1 + d) / 2 for logistic loss."""
    lam: float
    cap: float
    rate: float
    rate_offset: float
    margin: float
    alpha: float
    """The part of steps that are on rows, not on pairs."""
    bias_rate: float
    """The bias moves at this times eta; 0 is no bias."""
    average_from: int
    """Steps after this one are averaged, if State.sums has room."""
    l1: float
    """How much the absolute values of weights cost; without averages."""


class State(NamedTuple):
    """Where the learner is: all that a later call needs to go on as if there had been no break."""

    v: NDArray[np.float64]
    sums: NDArray[np.float64]
    scratch: NDArray[np.float32]
    scalars: NDArray[np.float64]
    ring: NDArray[np.uint64]
    random: NDArray[np.uint64]


@kernel(inline=True, allocates=False)
def _bits(random: NDArray[np.uint64]) -> Any:
    random[0] += GOLDEN
    return mix(random[0])


@kernel(inline=True, allocates=False)
def _below(bits: Any, count: Any) -> Any:
    """32 random bits as a number below count."""
    return (bits * count) >> _32


@kernel(inline=True, allocates=False)
def _uniform_pair(index: PairIndex, random: NDArray[np.uint64]) -> Any:
    """A cell by its weight, a row of it, a row of the rest of its query: (better, worse)."""
    bits = _bits(random)
    cell = _below(bits >> _32, np.uint64(len(index.threshold)))
    if (bits & _LOW) >= index.threshold[cell]:
        cell = np.uint64(index.alias[cell])
    first, last = index.cells[cell, FIRST], index.cells[cell, LAST]
    start, stop = index.cells[cell, START], index.cells[cell, STOP]
    bits = _bits(random)
    one = first + _below(bits >> _32, last - first)
    other = start + _below(bits & _LOW, stop - start - (last - first))
    if other < first:
        return np.uint64(index.rows[one]), np.uint64(index.rows[other])
    return np.uint64(index.rows[other + (last - first)]), np.uint64(index.rows[one])


@kernel(inline=True, allocates=False)
def _balanced_pair(index: PairIndex, random: NDArray[np.uint64]) -> Any:
    """A query, a label of it, another label, a row of each, all uniform: (better, worse)."""
    bits = _bits(random)
    group = _below(bits >> _32, np.uint64(len(index.groups)))
    cell, count = index.groups[group, 0], index.groups[group, 1]
    one = _below(bits & _LOW, count)
    bits = _bits(random)
    other = _below(bits >> _32, count - _1)
    other += np.uint64(other >= one)
    high, low = cell + max(one, other), cell + min(one, other)
    better = index.cells[high, 0] + _below(bits & _LOW, index.cells[high, 1] - index.cells[high, 0])
    bits = _bits(random)
    worse = index.cells[low, 0] + _below(bits >> _32, index.cells[low, 1] - index.cells[low, 0])
    return np.uint64(index.rows[better]), np.uint64(index.rows[worse])


@kernel(inline=True, allocates=False)
def _draw(index: PairIndex, truth: Truth, recipe: Recipe, random: NDArray[np.uint64]) -> Any:
    """What the next step is about: (better, worse), or (row, NOBODY) for a step of regression."""
    if recipe.alpha > 0.0:
        bits = _bits(random)
        if np.float64(bits >> _32) * _TO_UNIT < recipe.alpha:
            return _below(bits & _LOW, np.uint64(len(truth.targets))), _NOBODY
    if recipe.sampler == PAIRS:
        return _uniform_pair(index, random)
    return _balanced_pair(index, random)


@kernel(inline=True, allocates=False)
def _span(rows: Rows, row: Any) -> Any:
    """Where a row's values are: (first, last)."""
    if rows.width > 0:
        width = np.uint64(rows.width)
        return row * width, row * width + width
    return rows.offsets[row], rows.offsets[row + _1]


@kernel(inline=True, allocates=False)
def _fetch(rows: Rows, row: Any) -> None:
    """Ask for all values of a row."""
    first, last = _span(rows, row)
    if first < last:
        for place in range(first, last, _16):
            prefetch(rows.values, place)
            if rows.width == 0:
                prefetch(rows.columns, place)
        prefetch(rows.values, last - _1)  # rows do not start where cache lines do
        if rows.width == 0:
            prefetch(rows.columns, last - _1)


@kernel(inline=True, allocates=False, fast_sums=True)
def _dense_dot(values: NDArray[np.float32], first: Any, width: Any, v: NDArray[np.float64]) -> Any:
    total = 0.0
    for j in range(width):
        total += v[j] * values[first + j]
    return total


@kernel(inline=True, allocates=False)
def _dot(rows: Rows, row: Any, v: NDArray[np.float64]) -> Any:
    first, last = _span(rows, row)
    if rows.width > 0:
        return _dense_dot(rows.values, first, last - first, v)
    total = 0.0
    for place in range(first, last):
        total += v[rows.columns[place]] * rows.values[place]
    return total


@kernel(inline=True, allocates=False, fast_sums=True)
def _dense_shrunk_dot(
    values: NDArray[np.float32], first: Any, width: Any, v: NDArray[np.float64], most: Any
) -> Any:
    total = 0.0
    for j in range(width):
        total += (v[j] - min(max(v[j], -most), most)) * values[first + j]
    return total


@kernel(allocates=False)
def _shrunk_dot(rows: Rows, row: Any, v: NDArray[np.float64], most: Any) -> Any:
    """<v, x> with every v_j nearer to 0 by `most`, but not beyond."""
    first, last = _span(rows, row)
    if rows.width > 0:
        return _dense_shrunk_dot(rows.values, first, last - first, v, most)
    total = 0.0
    for place in range(first, last):
        weight = v[rows.columns[place]]
        total += (weight - min(max(weight, -most), most)) * rows.values[place]
    return total


@kernel(inline=True, allocates=False)
def _score(rows: Rows, row: Any, state: State) -> Any:
    """<w, x> / scale."""
    if state.scalars[SHRINK] > 0.0:
        return _shrunk_dot(rows, row, state.v, state.scalars[SHRINK])
    return _dot(rows, row, state.v)


@kernel(inline=True, allocates=False, fast_sums=True)
def _dense_add(
    values: NDArray[np.float32], first: Any, width: Any, v: NDArray[np.float64], factor: Any
) -> Any:
    change = 0.0
    for j in range(width):
        old, step = v[j], factor * values[first + j]
        v[j] = old + step
        change += step * (old + old + step)
    return change


@kernel(inline=True, allocates=False)
def _add(rows: Rows, row: Any, v: NDArray[np.float64], factor: Any) -> Any:
    """v += factor x; by how much |v|^2 grows."""
    first, last = _span(rows, row)
    if rows.width > 0:
        return _dense_add(rows.values, first, last - first, v, factor)
    change = 0.0
    for place in range(first, last):
        column = rows.columns[place]
        old, step = v[column], factor * rows.values[place]
        v[column] = old + step
        change += step * (old + old + step)
    return change


@kernel(allocates=False)
def _square(rows: Rows, better: Any, worse: Any, scratch: NDArray[np.float32]) -> Any:
    """|a - b|^2, or |a|^2 where there is no b. The scratch is zero before and after."""
    first, last = _span(rows, better)
    total = 0.0
    if rows.width > 0:
        start = _span(rows, worse)[0] if worse != _NOBODY else first
        for j in range(last - first):
            below = np.float64(rows.values[start + j]) if worse != _NOBODY else 0.0
            total += (np.float64(rows.values[first + j]) - below) ** 2
        return total
    for place in range(first, last):
        scratch[rows.columns[place]] = rows.values[place]
        total += np.float64(rows.values[place]) ** 2
    if worse != _NOBODY:
        start, stop = _span(rows, worse)
        for place in range(start, stop):
            value = np.float64(rows.values[place])
            total += value * (value - 2.0 * np.float64(scratch[rows.columns[place]]))
    for place in range(first, last):
        scratch[rows.columns[place]] = np.float32(0.0)
    return max(total, 0.0)


@kernel(inline=True, allocates=False)
def _move(rows: Rows, better: Any, worse: Any, state: State, factor: Any, averaging: Any) -> None:
    """w += factor x."""
    step = factor / state.scalars[SCALE]
    state.scalars[NORM] += _add(rows, better, state.v, step)
    if worse != _NOBODY:
        state.scalars[NORM] += _add(rows, worse, state.v, -step)
    if averaging:
        _add(rows, better, state.sums, -step * state.scalars[SCALE_SUM])
        if worse != _NOBODY:
            _add(rows, worse, state.sums, step * state.scalars[SCALE_SUM])
    state.scalars[UPDATES] += 1.0


@kernel(allocates=False)
def _settle_scale(state: State) -> None:
    """Bring the scale back to 1, with w and the sum of all w as they are, and the norm anew."""
    scale, norm = state.scalars[SCALE], 0.0
    for j in range(len(state.v)):
        if len(state.sums) > 0:
            state.sums[j] += state.scalars[SCALE_SUM] * state.v[j]
        state.v[j] *= scale
        norm += state.v[j] * state.v[j]
    state.scalars[SCALE], state.scalars[NORM], state.scalars[SCALE_SUM] = 1.0, norm, 0.0
    state.scalars[SHRINK] *= scale


@kernel(inline=True, allocates=False)
def _target(truth: Truth, recipe: Recipe, better: Any, worse: Any) -> Any:
    if worse == _NOBODY:
        return truth.targets[better]
    if recipe.target == SIGN:
        return 1.0
    difference = truth.targets[better] - truth.targets[worse]
    return (1.0 + difference) / 2.0 if recipe.loss == LOGISTIC else difference


@kernel(inline=True, allocates=False)
def _slope(recipe: Recipe, target: Any, p: Any) -> Any:
    """g: minus the derivative of the loss by p."""
    if recipe.loss == HINGE:
        return target if target * p < 1.0 else 0.0
    if recipe.loss == SQUARED:
        return target - p
    return target - 1.0 / (1.0 + np.exp(-p))


@kernel(inline=True, allocates=False)
def _gradient_step(
    rows: Rows, truth: Truth, recipe: Recipe, state: State, pair: Any, step: Any, p: Any
) -> None:
    better, worse, weight = pair
    scalars = state.scalars
    eta = recipe.rate / (recipe.rate_offset + np.float64(step))
    slope = _slope(recipe, _target(truth, recipe, better, worse), p) * weight
    scalars[SCALE] *= 1.0 - eta * recipe.lam
    if scalars[SCALE] < LEAST_SCALE:
        _settle_scale(state)
    if slope != 0.0:
        _move(rows, better, worse, state, eta * slope, len(state.sums) > 0)
        if worse == _NOBODY:
            scalars[BIAS] += recipe.bias_rate * eta * slope
    if recipe.learner == PEGASOS and recipe.lam * scalars[NORM] * scalars[SCALE] ** 2 > 1.0:
        scalars[SCALE] = np.sqrt(1.0 / (recipe.lam * scalars[NORM]))
    if recipe.l1 > 0.0:
        scalars[SHRINK] += eta * recipe.l1 / scalars[SCALE]


@kernel(allocates=False)
def _margin_step(rows: Rows, recipe: Recipe, state: State, pair: Any, step: Any, p: Any) -> None:
    """Passive-Aggressive, ROMMA and perceptron, on a pair."""
    better, worse, weight = pair
    averaging = len(state.sums) > 0
    if recipe.learner == PERCEPTRON:
        if p <= recipe.margin:
            eta = recipe.rate / (recipe.rate_offset + np.float64(step))
            _move(rows, better, worse, state, eta * weight, averaging)
        return
    if p >= 1.0:
        return
    square = _square(rows, better, worse, state.scratch)
    if square == 0.0:
        return
    norm = state.scalars[NORM] * state.scalars[SCALE] ** 2
    if recipe.learner == PASSIVE_AGGRESSIVE:
        _move(rows, better, worse, state, min(recipe.cap * weight, (1.0 - p) / square), averaging)
    elif norm == 0.0:
        _move(rows, better, worse, state, 1.0 / square, averaging)
    else:
        rest = square * norm - p * p
        if rest > 1e-12 * square * norm:
            state.scalars[SCALE] *= (square * norm - p) / rest
            if abs(state.scalars[SCALE]) < LEAST_SCALE or abs(state.scalars[SCALE]) > 1.0 / LEAST_SCALE:
                _settle_scale(state)
            _move(rows, better, worse, state, norm * (1.0 - p) / rest, averaging)


@kernel(allocates=False)
def take_steps(
    rows: Rows, truth: Truth, index: PairIndex, recipe: Recipe, state: State, first: int, count: int
) -> None:
    """Steps first .. first + count - 1, counted from 1. Taken in several calls, they are the same bits."""
    ring, scalars = state.ring, state.scalars
    for step in range(np.uint64(first), np.uint64(first) + np.uint64(count)):
        while np.uint64(scalars[DRAWN_TO]) < step + np.uint64(AHEAD):
            scalars[DRAWN_TO] += 1.0
            slot = np.uint64(scalars[DRAWN_TO]) & _RING_MASK
            ring[slot, 0], ring[slot, 1] = _draw(index, truth, recipe, state.random)
            if rows.width == 0:
                for side in range(2):
                    if ring[slot, side] != _NOBODY:
                        prefetch(rows.offsets, ring[slot, side])
        slot = (step + np.uint64(NEAR)) & _RING_MASK
        for side in range(2):
            if ring[slot, side] != _NOBODY:
                _fetch(rows, ring[slot, side])
        better, worse = ring[step & _RING_MASK, 0], ring[step & _RING_MASK, 1]
        p, weight = _score(rows, better, state), 1.0
        if worse != _NOBODY:
            p -= _score(rows, worse, state)
        p = p * scalars[SCALE] + (scalars[BIAS] if worse == _NOBODY else 0.0)
        if len(truth.weights) > 0:
            weight = truth.weights[better] * (truth.weights[worse] if worse != _NOBODY else 1.0)
        if recipe.learner <= PEGASOS:
            _gradient_step(rows, truth, recipe, state, (better, worse, weight), step, p)
        else:
            _margin_step(rows, recipe, state, (better, worse, weight), step, p)
        if len(state.sums) > 0 and step > np.uint64(recipe.average_from):
            scalars[SCALE_SUM] += scalars[SCALE]
            scalars[BIAS_SUM] += scalars[BIAS]
            scalars[AVERAGED] += 1.0


def new_state(n_features: int, seed: int, average: bool = False) -> State:
    """A state at w = 0, with room for the sums of an average if that is wanted."""
    scalars = np.zeros(SCALARS)
    scalars[SCALE] = 1.0
    return State(
        np.zeros(n_features),
        np.zeros(n_features if average else 0),
        np.zeros(n_features, dtype=np.float32),
        scalars,
        np.full((RING, 2), NOBODY, dtype=np.uint64),
        np.array([seed], dtype=np.uint64),
    )


def shrunk(state: State) -> NDArray[np.float64]:
    """v, or with L1 what is left of it."""
    most = state.scalars[SHRINK]
    return state.v - np.clip(state.v, -most, most) if most > 0.0 else state.v


def weights_of(state: State) -> tuple[NDArray[np.float64], float]:
    """The weights and the bias: the average over the steps averaged, if there are any, else the last."""
    count = state.scalars[AVERAGED]
    if count:
        return (state.scalars[SCALE_SUM] * state.v + state.sums) / count, float(
            state.scalars[BIAS_SUM] / count
        )
    return shrunk(state) * state.scalars[SCALE], float(state.scalars[BIAS])
