"""A measure along a line of scores, alpha a + (1 - alpha) b, exactly: it is constant between crossings.

    measure(alpha) = measure just above 0 + sum of the changes at crossings below alpha

Every query is walked by itself (`rankloom.kernels.mix`); their changes, sorted by alpha, are one sweep over
all. Where more crossings may come than memory is meant for, alpha is cut into stretches that are swept one
after the other.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate
from rankloom.measures.inputs import Judged
from rankloom.measures.measure import Measure
from rankloom.measures.presets import PAIRS, POINTS

Numbers = NDArray[np.float64]

ROOM = 1 << 20  # crossings of one query that are held at a time
CHANGES = 1 << 24  # changes of all queries that are held at a time
_CANDIDATES = 64
_CURVE = 1 << 16  # intervals of one stretch that are kept, where there are several
_TILED = 1 << 20
_CLOSE = 1e-12


class Interval(NamedTuple):
    """Alphas between two crossings, and the measure there."""

    value: float
    low: float
    high: float

    @property
    def middle(self) -> float:
        """The alpha furthest from both crossings."""
        return (self.low + self.high) / 2.0


class Walked(NamedTuple):
    """A measure along the line: edges[i]:edges[i + 1] has values[i]; the best intervals, those first."""

    edges: Numbers
    values: Numbers
    best: list[Interval]
    crossings: int


def walk(a: Numbers, b: Numbers, rows: Judged, measure: Measure, threads: int | None = None) -> Walked:
    """The measure for alpha between 0 and 1, without the ends; `rows` has labels and queries of a and b."""
    line = _Line(a, b, rows, measure, threads)
    n_stretches = max(1, -(-line.crossings_at_most() // CHANGES))
    ends = np.linspace(0.0, 1.0, n_stretches + 1)
    edges, values, best, crossings, at = [np.zeros(1)], [], list[Interval](), 0, line.start
    for low, high in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        alphas, after = _swept(line.changes(low, high), at)
        crossings += len(alphas)
        steps, found = np.append(alphas, high), np.append(at, after)
        at = float(found[-1])
        own = np.append(low, steps)
        wide = own[1:] > own[:-1]
        best = _better(best, own[:-1][wide], own[1:][wide], found[wide], measure.lower_is_better)
        if n_stretches > 1:
            steps, found = _thinned(steps, found, measure.lower_is_better)
        edges.append(steps)
        values.append(found)
    joined_edges, joined = np.concatenate(edges), np.concatenate(values)
    wide = np.diff(joined_edges) > 0.0
    return Walked(np.append(joined_edges[:-1][wide], 1.0), joined[wide], best, crossings)


def _swept(changes: Numbers, start: float) -> tuple[Numbers, Numbers]:
    """Where the measure changes, each place once, and what it is after that."""
    changes = changes[np.argsort(changes[:, 0], kind="stable")]
    if not len(changes):
        return np.empty(0), np.empty(0)
    first = np.flatnonzero(np.append(True, np.diff(changes[:, 0]) > 0.0))
    sums = np.add.reduceat(changes[:, 1], first)
    return changes[first, 0], start + np.cumsum(sums)


def _better(
    best: list[Interval], low: Numbers, high: Numbers, values: Numbers, falling: bool
) -> list[Interval]:
    """The best intervals so far: by value, to within rounding, and of equal ones the widest."""
    keys = -values if falling else values
    top = np.argsort(-keys, kind="stable")[: 4 * _CANDIDATES]
    equal = np.flatnonzero(keys >= keys.max(initial=-np.inf) - _CLOSE)
    widest = equal[np.argsort(low[equal] - high[equal], kind="stable")[:_CANDIDATES]]
    places = np.unique(np.concatenate((top, widest)))
    found = [
        *best,
        *(Interval(float(values[p]), float(low[p]), float(high[p])) for p in places.tolist()),
    ]
    sign = -1.0 if falling else 1.0
    found.sort(key=lambda one: (-round(sign * one.value / _CLOSE), one.low - one.high))
    return found[:_CANDIDATES]


def _thinned(edges: Numbers, values: Numbers, falling: bool) -> tuple[Numbers, Numbers]:
    """The same with the best of several intervals for all of them, if there are too many."""
    step = -(-len(values) // _CURVE)
    if step == 1:
        return edges, values
    first = np.arange(0, len(values), step)
    last = np.append(first[1:], len(values)) - 1
    pick = np.minimum if falling else np.maximum
    return edges[last], pick.reduceat(values, first)


class _Line:
    """Two columns of scores, with rows as the kernel wants them: each query in its order just above 0."""

    def __init__(self, a: Numbers, b: Numbers, rows: Judged, measure: Measure, threads: int | None) -> None:
        if measure.name in POINTS:
            raise InputError(f"{measure} compares values, not rankings; name a measure of rankings: ndcg@10")
        self.measure, self.threads, self.offsets = measure, threads, rows.offsets
        self.lengths = np.diff(rows.offsets)
        query = np.repeat(np.arange(len(self.lengths)), self.lengths)
        order = np.lexsort((_tie_keys(rows, measure), -a, -b, query))
        self.a, self.b, self.labels = a[order], b[order], rows.labels[order]
        self.query = query
        found = evaluate(
            -np.arange(len(a), dtype=np.float64), self.labels, qid=query, measures=measure,
            query_weights=rows.query_weights, doc_ids=_numbers_as_ids(measure, len(a)), threads=threads,
        )  # fmt: skip
        self.first = found.per_query(measure).copy()
        weights = np.ones(len(self.lengths)) if rows.query_weights is None else rows.query_weights
        defined = ~np.isnan(self.first)
        total = float(weights[defined].sum())
        self.share = np.where(defined, weights, 0.0) / max(total, 1e-300)
        self.slow = self._needing_evaluation()
        for place in np.flatnonzero(self.slow).tolist():
            before = np.append(self._crossings(place), 1.0)[:1] / 2.0
            self.first[place] = self._evaluated(place, before)[0]
        if total <= 0.0:
            raise InputError(f"{measure} is defined for no query of the data; name a measure that is")
        self.start = float(self.first[defined] @ self.share[defined])

    def _needing_evaluation(self) -> NDArray[np.bool_]:
        """Queries that adjacent swaps do not tell all of: rows tied everywhere that share their places."""
        needs = np.zeros(len(self.lengths), dtype=np.bool_)
        if self.measure.name == "map" and self.measure.denominator == "found":
            needs[:] = True
        elif self.measure.ties == "average" or self.measure.name in PAIRS:
            same = (np.diff(self.a) == 0.0) & (np.diff(self.b) == 0.0) & (np.diff(self.query) == 0)
            needs[self.query[1:][same & (np.diff(self.labels) != 0.0)]] = True
            if self.measure.name == "tau":
                needs[self.query[1:][same]] = True
        return needs & (self.share > 0.0)

    def crossings_at_most(self) -> int:
        """How many changes there can be, about."""
        k = self.measure.k
        reach = self.lengths if k is None else np.minimum(self.lengths, 16 * k)
        return int((reach.astype(np.float64) ** 2).sum() / 4.0)

    def changes(self, low: float, high: float) -> Numbers:
        """Where the measure changes from low to high, and by how much: two columns."""
        from rankloom.kernels.compile import as_kernel
        from rankloom.kernels.mix import walk_block
        from rankloom.kernels.threads import run_blocks

        kind, worth, by_place, units = self._recipe()
        units = np.where(self.slow, 0.0, units * self.share)
        stretch = np.array([low, high])
        cutoff = self.measure.k or int(self.lengths.max(initial=1))

        def work(first: int, last: int) -> Numbers:
            start, end = int(self.offsets[first]), int(self.offsets[last])
            columns = (as_kernel(c[start:end], np.float64) for c in (self.a, self.b, worth, by_place))
            offsets = as_kernel(self.offsets[first : last + 1] - start, np.int64)
            block = as_kernel(units[first:last], np.float64)
            found: Numbers = walk_block(offsets, *columns, block, kind, cutoff, stretch, ROOM)
            return found

        parts = run_blocks(work, self.offsets, self.threads)
        parts += [self._slow_changes(place, low, high) for place in np.flatnonzero(self.slow).tolist()]
        return np.concatenate(parts) if parts else np.empty((0, 2))

    def _recipe(self) -> tuple[int, Numbers, Numbers, Numbers]:
        """How the kernel sees the measure: its kind, worth by row, what places are worth, units by query."""
        from rankloom.kernels import mix as kernels

        measure, n = self.measure, len(self.labels)
        nothing, units = np.zeros(n), np.ones(len(self.lengths))
        if measure.short == "zero" and measure.k:
            units[self.lengths < measure.k] = 0.0
        if measure.name in PAIRS:
            return kernels.BY_PAIR, *self._pairs(units)
        if measure.name in ("ndcg", "dcg", "mean-ndcg"):
            return kernels.BY_PLACE, *self._gains(), units
        if measure.name == "err":
            return kernels.EXPECTED_RECIPROCAL_RANK, self._stops(), nothing, units
        worth = (self.labels >= (measure.lowest_relevant or 0.0)).astype(np.float64)
        relevant = np.bincount(self.query, worth, len(self.lengths))
        if measure.name == "mrr":
            return kernels.RECIPROCAL_RANK, worth, nothing, units
        if measure.name == "map":
            found = relevant if measure.denominator == "relevant" else np.minimum(relevant, measure.k or n)
            return kernels.AVERAGE_PRECISION, worth, nothing, units / np.maximum(found, 1.0)
        cut = np.minimum(measure.k or n, self.lengths)
        if measure.name == "r":
            divisor: Any = relevant
        else:
            divisor = float(measure.k or 1) if measure.short == "pad" else cut
        by_place = nothing
        filled = self.lengths > 0
        by_place[(self.offsets[:-1] + cut - 1)[filled]] = 1.0
        return kernels.BY_PLACE, worth, by_place, units / np.maximum(divisor, 1.0)

    def _pairs(self, units: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Labels, and what a pair counts: 1 / P for accuracy, 2 / sqrt(X P) for tau of X untied pairs."""
        measure = self.measure
        worth, least = self.labels, measure.lowest_relevant
        if least is not None:
            worth = (self.labels >= least).astype(np.float64)
        alike = _equal_pairs(worth, self.query, len(self.lengths))
        everything = self.lengths * (self.lengths - 1) / 2.0
        pairs = everything - alike
        divisor = np.sqrt(pairs * everything) / 2.0 if measure.name == "tau" else pairs
        sign = -1.0 if measure.lower_is_better else 1.0
        return worth, np.zeros(len(worth)), sign * units / np.maximum(divisor, 0.5)

    def _gains(self) -> tuple[Numbers, Numbers]:
        """Gains by row; what each place is worth above the next, over the ideal."""
        from rankloom.measures.conventions import discounts, row_gains

        measure = self.measure
        gains = row_gains(measure, self.labels, self.offsets)
        longest = int(self.lengths.max(initial=1))
        cut = min(measure.k or longest, longest)
        worth = np.zeros(longest + 1)
        worth[:cut] = discounts(str(measure.discount), cut)
        place = np.arange(len(gains)) - np.repeat(self.offsets[:-1], self.lengths)
        if measure.name == "dcg":
            return gains, (worth[:-1] - worth[1:])[place]
        ideal = gains[np.lexsort((-gains, self.query))] * worth[place]
        totals = np.bincount(self.query, ideal, len(self.lengths))
        if measure.name == "ndcg":
            return gains, (worth[:-1] - worth[1:])[place] / np.where(totals > 0.0, totals, 1.0)[self.query]
        return gains, _mean_ndcg_places(ideal, worth, self.offsets, measure.k)

    def _stops(self) -> Numbers:
        """How likely a reader is to stop at a row."""
        grade = float(self.measure.max_grade or 0.0)
        positive = np.maximum(self.labels, 0.0)
        if self.measure.gain == "linear":
            return positive / grade
        return np.asarray(np.exp2(positive - grade) - np.exp2(-grade))

    def _slow_changes(self, place: int, low: float, high: float) -> Numbers:
        """The changes of one query, by measuring it between all of its crossings."""
        edges = np.concatenate(([0.0], self._crossings(place), [1.0]))
        alphas = edges[1:-1]
        values = self._evaluated(place, (edges[:-1] + edges[1:]) / 2.0)
        changes = np.column_stack((alphas, np.diff(values) * self.share[place]))
        return changes[(alphas > low) & (alphas <= high)]

    def _crossings(self, place: int) -> Numbers:
        """Where rows of one query change places, rising."""
        first, last = int(self.offsets[place]), int(self.offsets[place + 1])
        a, b = self.a[first:last], self.b[first:last]
        i, j = np.triu_indices(last - first, 1)
        down, up = b[i] - b[j], a[j] - a[i]
        crossed = (down > 0.0) & (up > 0.0)
        alphas = np.unique(down[crossed] / (down[crossed] + up[crossed]))
        return alphas[(alphas > 0.0) & (alphas < 1.0)]

    def _evaluated(self, place: int, alphas: Numbers) -> Numbers:
        """One query's measure at these alphas."""
        first, last = int(self.offsets[place]), int(self.offsets[place + 1])
        a, b, labels = (column[first:last] for column in (self.a, self.b, self.labels))
        batch, parts = max(1, _TILED // (last - first)), []
        for start in range(0, len(alphas), batch):
            some = alphas[start : start + batch, None]
            scores = (some * a + (1.0 - some) * b).reshape(-1)
            found = evaluate(
                scores, np.tile(labels, len(some)), qid=np.repeat(np.arange(len(some)), last - first),
                measures=self.measure, doc_ids=_numbers_as_ids(self.measure, len(scores)),
            )  # fmt: skip
            parts.append(found.per_query(self.measure))
        return np.concatenate(parts)


def _tie_keys(rows: Judged, measure: Measure) -> Any:
    """What decides between rows that both rankings score alike, rising."""
    if measure.ties == "docid":
        ids = [str(rows.doc_ids[row]) for row in range(len(rows.labels))]
        place = {text: i for i, text in enumerate(sorted(set(ids)))}
        return np.array([-place[text] for text in ids])
    if measure.ties in ("pessimistic", "optimistic"):
        return rows.labels if measure.ties == "pessimistic" else -rows.labels
    return np.arange(len(rows.labels))


def _numbers_as_ids(measure: Measure, n: int) -> Any:
    """Document ids for a measure that asks for some, where no two scores of a query are equal."""
    return [""] * n if measure.ties == "docid" else None


def _equal_pairs(worth: Numbers, query: NDArray[np.int64], n_queries: int) -> Numbers:
    """Pairs of rows of a query that are worth the same."""
    if not len(worth):
        return np.zeros(n_queries)
    order = np.lexsort((worth, query))
    fresh = np.append(True, (np.diff(worth[order]) != 0.0) | (np.diff(query[order]) != 0))
    first = np.flatnonzero(fresh)
    sizes = np.diff(np.append(first, len(worth))).astype(np.float64)
    return np.asarray(np.bincount(query[order][first], sizes * (sizes - 1.0) / 2.0, n_queries))


def _mean_ndcg_places(ideal: Numbers, worth: Numbers, offsets: NDArray[np.int64], k: int | None) -> Numbers:
    """What a place is worth above the next in the mean of NDCG@i."""
    by_place = np.zeros(len(ideal))
    for first, last in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True):
        cut = min(k or last - first, last - first)
        best = np.cumsum(ideal[first : first + cut])
        if cut and best[0] > 0.0:
            inverse = 1.0 / best
            below = np.append(np.cumsum(inverse[::-1])[::-1][1:], 0.0)
            lost = worth[:cut] - worth[1 : cut + 1]
            by_place[first : first + cut] = (worth[:cut] * inverse + lost * below) / cut
    return by_place
