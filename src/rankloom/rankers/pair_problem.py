"""RankSVM's problem as a solver sees it: value, gradient and products with the Hessian, over all pairs of P.

    f(w) = 1/2 |w|^2 + C sum over P of c_ij max(0, 1 - w.(x_i - x_j))^p        p = 1 or 2

Everything is what `rankloom.kernels.ranksvm` finds, without C, and then scaled: one set of counts serves all
values of C.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.kernels import ranksvm as kernel
from rankloom.kernels.compile import as_kernel
from rankloom.kernels.linear import dot
from rankloom.kernels.pair_index import label_cells
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
    plan_of,
)
from rankloom.kernels.spread import spread_of
from rankloom.kernels.threads import ordered_map, thread_count
from rankloom.kernels.vectors import BLOCK, LANES, packed_places, packed_size
from rankloom.rankers.descent import kernel_rows, labels_of

CACHE = 1 << 18  # bytes of rows that stay in cache between two passes
_LARGE = 32  # a query that is so many times larger is shared by the threads, in two passes
_MOST_BLOCKS = 64
_BLOCK = 1 << 20  # bytes of rows that are worth a block
_ROW_COST = 16
_LINE = 64  # bytes
_MANY_FEATURES = 1 << 12  # from here, the spread of each is not looked for
_SAMPLE = 1 << 16  # rows that show the spread of the features
_LEAST_SAMPLED = 1 << 17  # rows of a query that has a sample worth solving first
_THINNER = 32
_KEPT = 1 << 13  # rows of a label that a sample is to have


class Losses(NamedTuple):
    """Sums over active pairs."""

    hinges: float
    squares: float


class PairProblem:
    """The pairs of data that have labels. Not for two threads at once: it knows where it is.

    Args:
        data: with labels, without missing values.
        adjacent: only pairs of labels that are neighbours in their query.
        normalize: None, "pairs" (all pair weights sum to 1) or "query" (those of each query do).
        threads: how many; None is all.
        cache: bytes of rows that are taken in one go.
    """

    def __init__(
        self,
        data: RankingData,
        *,
        adjacent: bool = False,
        normalize: str | None = None,
        threads: int | None = None,
        cache: int = CACHE,
    ) -> None:
        cells = label_cells(labels_of(data), data.offsets)
        if not len(cells[2]):
            raise InputError(
                f"nothing to learn a ranking from: in none of the {data.n_queries:,} queries do two rows "
                "differ in label; look at the labels, and at whether qid groups the rows as meant"
            )
        self.n_features = data.n_features
        self._data, self._cache = data, cache
        self.threads = thread_count(threads)
        self._rows = kernel_rows(data.features)
        self._plan = plan_of(*cells, adjacent)
        totals = _pair_weights(self._plan, cells, data.weights)
        shares = _shares(self._plan, data.offsets, data.query_weights, totals, normalize)
        self.pair_weight = float(shares @ totals)
        self._pairs_of_group = shares * totals
        self._at_zero: dict[str, NDArray[np.float64]] = {}
        self._diagonal: NDArray[np.float64] | None = None
        self._last: tuple[str, NDArray[np.float64], tuple[Losses, NDArray[np.float64]]] | None = None
        self._weights = Weights(_by_place(self._plan, data.weights), shares)
        self._batches, self._large, self._span = _batches(self._plan, data.features, cache)
        self._blocks = _blocks(self._batches, self._large, data.features)
        self._state = _state(self._plan, self._batches, data.n_rows)
        chunks = min(self.threads, len(self._blocks))
        self._chunks = [
            (len(self._blocks) * k // chunks, len(self._blocks) * (k + 1) // chunks) for k in range(chunks)
        ]
        self._scratch = [_scratch(self._plan, self._span) for _ in self._chunks]
        largest = max((self._size(batch) for batch in self._large), default=0)
        self._large_scratch = _scratch(self._plan, largest) if largest else None
        wide = len(self._rows.values) * 8 // (1 << 22)
        self._pieces = min(16, max(1, wide)) if self._large else 0
        self._is_packed = self._rows.width >= BLOCK
        width = packed_size(self.n_features) if self._is_packed else self.n_features
        self._sums = np.zeros((len(self._blocks) + self._pieces, width))
        self.n_evaluations = self.n_products = 0

    def _size(self, batch: int) -> int:
        g = self._batches.groups[batch]
        return int(self._plan.stops[g] - self._plan.starts[g])

    def _packed(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """v as the passes over rows take it."""
        if not self._is_packed:
            return v
        packed = np.zeros(packed_size(self.n_features))
        packed[packed_places(self.n_features)] = v
        return packed

    def _total(self) -> NDArray[np.float64]:
        """X^T u, from all sums."""
        total = self._sums.sum(axis=0)
        return np.asarray(total[packed_places(self.n_features)] if self._is_packed else total)

    def evaluate(self, w: NDArray[np.float64], loss: str = "squared") -> tuple[Losses, NDArray[np.float64]]:
        """The losses at w, and the gradient of the one asked for; products are with the Hessian here."""
        if self._last is not None and self._last[0] == loss and np.array_equal(self._last[1], w):
            return self._last[2]  # a path begins where it was, and the stopping rule at 0
        self.n_evaluations += 1
        which, packed = SQUARES if loss == "squared" else HINGES, self._packed(w)
        losses = np.zeros((len(self._blocks) + 1, 2))
        self._sums[:] = 0.0

        def small(chunk: int) -> None:
            first, last = self._chunks[chunk]
            kernel.evaluate_batches(
                self._rows,
                self._plan,
                self._weights,
                self._batches,
                self._state,
                self._blocks,
                first,
                last,
                packed,
                which,
                self._scratch[chunk],
                losses,
                self._sums,
            )

        self._each(small, len(self._chunks))
        for batch in self._large:
            self._dots(batch, w, active=False)
            self._evaluate_large(batch, which, losses[-1])
            kernel.list_active(self._plan, self._batches, self._state, batch)
            self._add(batch)
        found = Losses(*(float(x) for x in losses.sum(axis=0)))
        gradient = self._total() * (2.0 if loss == "squared" else 1.0)
        self._last = loss, w.copy(), (found, gradient)
        return found, gradient

    def gradient_at_zero(self, loss: str) -> NDArray[np.float64]:
        """The loss's gradient at w = 0, of which the stopping rule speaks. Moves there the first time."""
        if loss not in self._at_zero:
            self._at_zero[loss] = self.evaluate(np.zeros(self.n_features), loss)[1]
        return self._at_zero[loss]

    def diagonal(self) -> NDArray[np.float64]:
        """About the Hessian's diagonal at w = 0, from a part of the rows; 0 where features are many."""
        if self._diagonal is None:
            self._diagonal = np.zeros(self.n_features)
            if self.n_features <= _MANY_FEATURES:
                every = max(1, len(self._batches.rows) // _SAMPLE)
                every = min(every, len(self._pairs_of_group))
                spread_of(
                    self._rows,
                    self._plan,
                    self._weights,
                    self._pairs_of_group,
                    every,
                    _SAMPLE,
                    self._diagonal,
                )
                share = float(self._pairs_of_group[::every].sum())
                self._diagonal *= 2.0 * self.pair_weight / share if share > 0.0 else 0.0
        return self._diagonal

    def product(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """The Hessian of the squares, at the last w evaluated, times v."""
        self.n_products += 1
        packed = self._packed(v)
        self._sums[:] = 0.0

        def small(chunk: int) -> None:
            first, last = self._chunks[chunk]
            kernel.curve_batches(
                self._rows,
                self._plan,
                self._weights,
                self._batches,
                self._state,
                self._blocks,
                first,
                last,
                packed,
                self._scratch[chunk],
                self._sums,
            )

        self._each(small, len(self._chunks))
        for batch in self._large:
            self._dots(batch, v, active=True)
            kernel.curve_large(
                self._plan, self._weights, self._batches, self._state, batch, self._large_scratch
            )
            self._add(batch)
        return 2.0 * self._total()

    @property
    def is_one_query(self) -> bool:
        """One query, taken in passes over its rows: scores are then worth keeping. For these alone are
        `scores`, `move`, `bend` and `pull`."""
        return len(self._batches.groups) == 2 and len(self._large) == 1

    def sample(self) -> PairProblem | None:
        """A part of a query that is large and has no row weights; of each label, its rows in equal steps."""
        size = self._size(0) if self.is_one_query else 0
        if size < _LEAST_SAMPLED or len(self._weights.rows):
            return None
        start = int(self._plan.starts[0])
        by_label = np.empty(size, dtype=np.int64)
        by_label[self._plan.place[start : start + size] - np.uint32(start)] = np.arange(size)
        counts = np.bincount(self._plan.level[start : start + size])
        steps = np.clip(counts // _KEPT, 1, _THINNER)
        if 4 * (-(-counts // steps)).sum() > size:
            rows = np.append(
                by_label[:-1:_THINNER], by_label[-1]
            )  # the least and the greatest label at least
        else:
            edges = np.append(0, np.cumsum(counts))
            rows = np.concatenate([by_label[edges[k] : edges[k + 1] : steps[k]] for k in range(len(counts))])
        rows = np.sort(rows) + start
        part = RankingData.from_features(self._data.features.gather(rows), labels_of(self._data)[rows])
        return PairProblem(part, adjacent=self._plan.adjacent, threads=self.threads, cache=self._cache)

    def scores(self, v: NDArray[np.float64]) -> NDArray[np.float64]:
        """X v of the query's rows, by place."""
        z = np.zeros(self._size(0))
        if v.any():
            self._dots_into(z, 0, v, active=False)
        return z

    def move(self, z: NDArray[np.float64], along: NDArray[np.float64], step: float) -> tuple[Losses, float]:
        """Be at scores z + step along: the losses there, and how fast the squares grow along `along`."""
        assert self._large_scratch is not None
        self.n_evaluations += 1
        self._last = None
        there = self._large_scratch.z
        np.multiply(along, step, out=there)
        there += z
        losses = np.zeros(2)
        self._evaluate_large(0, SQUARES, losses)
        return Losses(float(losses[0]), float(losses[1])), 2.0 * float(dot(self._large_scratch.u, along))

    def bend(self, along: NDArray[np.float64]) -> float:
        """The second derivative of the squares along these scores, where it is."""
        scratch = self._large_scratch
        found = kernel.bend_large(self._plan, self._weights, self._batches, self._state, 0, along, scratch)
        return 2.0 * float(found)

    def pull(self) -> NDArray[np.float64]:
        """The gradient of the squares, right after `move`."""
        kernel.list_active(self._plan, self._batches, self._state, 0)
        self._sums[:] = 0.0
        self._add(0)
        return 2.0 * self._total()

    def _evaluate_large(self, batch: int, which: int, losses: NDArray[np.float64]) -> None:
        scratch = self._large_scratch
        kernel.evaluate_large(
            self._plan, self._weights, self._batches, self._state, batch, which, scratch, losses
        )

    def _each(self, work: Callable[[int], None], count: int) -> None:
        if count == 1:
            work(0)
            return
        for _ in ordered_map(work, range(count), self.threads):
            pass

    def _listed(self, batch: int, active: bool) -> tuple[NDArray[np.uint32], int, int, int]:
        begin, end = (int(edge) for edge in self._batches.edges[batch : batch + 2])
        base = int(self._plan.starts[int(self._batches.groups[batch])])
        if not active:
            return self._batches.rows, begin, end, base
        return self._state.active, begin, begin + int(self._state.n_active[batch]), base

    def _dots(self, batch: int, v: NDArray[np.float64], active: bool) -> None:
        assert self._large_scratch is not None
        z = self._large_scratch.z
        if active or not v.any():
            z[:] = 0.0
        if not v.any():
            return
        self._dots_into(z, batch, v, active)

    def _dots_into(self, z: NDArray[np.float64], batch: int, v: NDArray[np.float64], active: bool) -> None:
        listed, begin, end, base = self._listed(batch, active)
        cuts, packed = _cuts(begin, end, self._pieces), self._packed(v)

        def work(piece: int) -> None:
            kernel.dots_of(
                self._rows, self._plan.place, listed, cuts[piece], cuts[piece + 1], base, packed, z
            )

        self._each(work, self._pieces)

    def _add(self, batch: int) -> None:
        assert self._large_scratch is not None
        u = self._large_scratch.u
        listed, begin, end, base = self._listed(batch, active=True)
        cuts = _cuts(begin, end, self._pieces)

        def work(piece: int) -> None:
            sums = self._sums[len(self._blocks) + piece]
            kernel.add_of(self._rows, self._plan.place, listed, cuts[piece], cuts[piece + 1], base, u, sums)

        self._each(work, self._pieces)


def losses_of_scores(
    data: RankingData,
    scores: NDArray[np.float64],
    *,
    row_weights: NDArray[np.float64] | None = None,
    query_weights: NDArray[np.float64] | None = None,
    adjacent: bool = False,
    normalize: str | None = None,
) -> tuple[Losses, float]:
    """The losses of scores in query order, and the weight of all pairs, 0 if there are none."""
    cells = label_cells(labels_of(data), data.offsets)
    if not len(cells[2]):
        return Losses(0.0, 0.0), 0.0
    plan = plan_of(*cells, adjacent)
    totals = _pair_weights(plan, cells, row_weights)
    shares = _shares(plan, data.offsets, query_weights, totals, normalize)
    weights = Weights(_by_place(plan, row_weights), shares)
    scratch = _scratch(plan, int((plan.stops - plan.starts).max()))
    found = np.zeros(2)
    state = _state(plan, _batches(plan, data.features, CACHE)[0], data.n_rows)
    kernel.evaluate_scores(plan, weights, state, as_kernel(scores, np.float64), scratch, found)
    return Losses(float(found[0]), float(found[1])), float(shares @ totals)


def _cuts(begin: int, end: int, pieces: int) -> list[int]:
    return [begin + (end - begin) * k // pieces for k in range(pieces + 1)]


def _by_place(plan: Plan, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """Weights of rows as the kernels take them."""
    if weights is None:
        return np.empty(0)
    found = np.empty(len(weights))
    found[plan.place] = weights
    return found


def _pair_weights(plan: Plan, cells: Any, weights: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """For each group, the sum over its pairs of the product of their rows' weights."""
    rows, cells, groups = cells
    ends = cells[:, :2].astype(np.int64)
    if weights is None:
        mass = (ends[:, 1] - ends[:, 0]).astype(np.float64)
    else:
        total = np.concatenate(([0.0], np.cumsum(weights[rows])))
        mass = total[ends[:, 1]] - total[ends[:, 0]]
    first = groups[:, 0].astype(np.int64)
    if plan.adjacent:
        products = mass * np.append(mass[1:], 0.0)
        products[first[1:] - 1] = 0.0
        return np.asarray(np.add.reduceat(products, first))
    whole, squares = np.add.reduceat(mass, first), np.add.reduceat(mass * mass, first)
    return np.asarray(0.5 * (whole * whole - squares))


def _shares(
    plan: Plan,
    offsets: NDArray[np.int64],
    query_weights: NDArray[np.float64] | None,
    totals: NDArray[np.float64],
    normalize: str | None,
) -> NDArray[np.float64]:
    """The weight of each group's pairs, beside that of their rows."""
    shares = np.ones(len(totals))
    if query_weights is not None:
        query = np.searchsorted(offsets, plan.starts.astype(np.int64), side="right") - 1
        shares = query_weights[query].astype(np.float64)
    if normalize == "query":
        shares = np.divide(shares, totals, out=np.zeros_like(shares), where=totals > 0.0)
    elif normalize == "pairs" and shares @ totals > 0.0:
        shares = shares / float(shares @ totals)
    if not shares @ totals > 0.0:
        raise InputError("the weights leave no pair to learn from: each has a row or a query of weight 0")
    return shares


def _costs(features: Features, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Bytes before each row."""
    if features.row_offsets is None:
        return rows * (features.n_features * 4 + _ROW_COST)
    return features.row_offsets[rows] * 8 + rows * _ROW_COST


def _batches(plan: Plan, features: Features, cache: int) -> tuple[Any, list[int], int]:
    """Batches of groups, which of them are large, and the most rows from end to end of the others."""
    starts, stops = plan.starts.astype(np.int64), plan.stops.astype(np.int64)
    before = _costs(features, starts)
    large = _costs(features, stops) - before > _LARGE * cache
    new = np.ones(len(starts), dtype=bool)
    new[1:] = (np.diff(before // cache) > 0) | large[1:] | large[:-1]
    first = np.flatnonzero(new)
    edges = np.append(first, len(starts))
    lengths = stops - starts
    useful = np.concatenate(([0], np.cumsum(lengths)))
    rows = np.arange(int(useful[-1])) + np.repeat(starts - useful[:-1], lengths)
    spans = stops[edges[1:] - 1] - starts[first]
    span = int(spans[~large[first]].max(initial=0))
    found = Batches(edges.astype(np.uint64), rows.astype(np.uint32), useful[edges].astype(np.uint64))
    return found, np.flatnonzero(large[first]).tolist(), span


def _blocks(batches: Any, large: list[int], features: Features) -> NDArray[np.uint64]:
    """Runs of batches without large ones, of about equal rows, by the data alone."""
    n = len(batches.groups) - 1
    per_row = max(1, features.values.nbytes // max(features.n_rows, 1)) + _ROW_COST
    total = int(batches.edges[-1]) * per_row
    least = max(_BLOCK, 32 * features.n_features)
    size = max(least, -(-total // _MOST_BLOCKS)) // per_row
    edges = batches.edges[:-1].astype(np.int64)
    new = np.ones(n, dtype=bool)
    new[1:] = np.diff(edges // max(size, 1)) > 0
    is_large = np.zeros(n, dtype=bool)
    is_large[large] = True
    new[1:] |= is_large[1:] | is_large[:-1]
    first = np.flatnonzero(new)
    last = np.append(first[1:], n)
    keep = ~is_large[first]
    pairs = np.column_stack((first[keep], last[keep])).astype(np.uint64)
    return pairs if len(pairs) else np.zeros((1, 2), dtype=np.uint64)


def _state(plan: Plan, batches: Any, n_rows: int) -> Any:
    slots = int(plan.slots[-1])
    layers, two = plan.layers.any(), (plan.kind == TWO).any()
    needed = layers or two
    order = np.zeros(n_rows if needed else 0, dtype=np.uint32)
    if needed:
        kernel.first_order(plan, order)
    return State(
        order=order,
        items=np.zeros(slots, dtype=np.uint32),
        digits=np.zeros(slots if layers else 0, dtype=np.uint8),
        known=np.zeros(slots if two else 0, dtype=np.uint32),
        above=np.zeros(slots if layers else 0, dtype=np.uint16),
        below=np.zeros(slots if layers else 0, dtype=np.uint16),
        tile_above=np.zeros(int(plan.tiles[-1]) + 1, dtype=np.uint32),
        tile_below=np.zeros(int(plan.tiles[-1]) + 1, dtype=np.uint32),
        masks=np.zeros(n_rows if plan.masked.any() else 0, dtype=np.uint32),
        reach=np.zeros(n_rows),
        active=np.zeros(len(batches.rows), dtype=np.uint32),
        n_active=np.zeros(len(batches.groups) - 1, dtype=np.uint64),
    )


def _on_a_line(size: int) -> NDArray[np.float64]:
    """Zeros from where a line of the cache begins: wide stores cost twice as much across its end."""
    room = np.zeros(size + _LINE // 8)
    first = -room.ctypes.data % _LINE // 8
    return room[first : first + size]


def _scratch(plan: Plan, span: int) -> Any:
    def room(extra: int = 0) -> NDArray[np.float64]:
        return np.zeros(span + extra)

    leaves = int(np.diff(plan.edge_first.astype(np.int64)).max(initial=1))
    return Scratch(
        room(),
        room(),
        room(),
        room(LEAF),
        room(LEAF + 4),
        room(LEAF + 4),
        _on_a_line((TILE + 2) * LANES),
        np.zeros(leaves + 1, dtype=np.uint32),
        np.zeros(span + LEAF, dtype=np.uint32),
    )
