"""Lambdas from Python: what each row's score should do, for trees, nets and linear models alike.

    lambdas = Lambdas(data.y, data.offsets, "ndcg@10")
    pull, bend = lambdas.gradients(scores)        the gradient of the cost by score, and its second derivative

The cost is the sum over pairs (i better than j) of |delta Z_ij| log(1 + e^(-sigma (s_i - s_j))), where
|delta Z_ij| is the change of the measure if the two swapped places (Burges 2010, equations 3, 6 and section
7). To descend, go against `lambdas`; a Newton step is -sum of lambdas / sum of weights.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.measures.conventions import discounts, row_gains
from rankloom.measures.measure import Measure
from rankloom.rankers.checks import number, whole

if TYPE_CHECKING:
    from rankloom.rankers.lambda_report import LambdaReport

RANKNET = "ranknet"
NORMALISATIONS = ("lightgbm",)
TRAINABLE = ("ndcg", "dcg", "map", "mrr", "err", "p", "r", "auc")
_NO_CUTOFF = 2**31
LIGHTGBM_TRUNCATION = 30
_WHOLE_LISTS = (1, 5)  # PAIRS and AREA of the kernel, which have no cutoff


class Gradients(NamedTuple):
    """By row: the gradient of the cost, and its second derivative (w)."""

    lambdas: NDArray[np.float32]
    weights: NDArray[np.float32]


class Lambdas:
    """The lambdas of some queries, for any scores. Keeps the last ranking, from which the next one is near.

    Args:
        labels: one per row, any finite numbers; rows of a query together.
        offsets: query q is rows offsets[q]:offsets[q + 1].
        measure: Z: "ranknet" (each pair alike), a measure (ndcg, dcg, map, mrr, err, p, r, auc), or a
            function that takes labels in ranked order and returns a number: right, and slow.
        sigma: how steep the sigmoid is.
        truncation: only pairs with one of the two among so many first places count; None is all. A measure's
            own cutoff holds beside it.
        normalisation: None, or "lightgbm": |delta NDCG| as LightGBM has it (over the ideal DCG at the
            truncation, 30 by default; discounts of all places; divided by 0.01 + the gap of scores), then
            all of a query's lambdas times log2(1 + S) / S, S their sum.
        weights: one per row; a pair counts as the product of its rows' weights.
        query_weights: one per query.
        threads: how many; None is all cores.
    """

    def __init__(
        self,
        labels: Any,
        offsets: Any,
        measure: Any = "ndcg@10",
        *,
        sigma: float = 1.0,
        truncation: int | None = None,
        normalisation: str | None = None,
        weights: Any = None,
        query_weights: Any = None,
        threads: int | None = None,
    ) -> None:
        self.labels = np.ascontiguousarray(labels, dtype=np.float64)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.measure = parse_objective(measure)
        self.sigma = number("sigma", sigma, 0.0)
        self.normalisation = _checked_normalisation(normalisation, self.measure)
        if truncation is None:
            truncation = LIGHTGBM_TRUNCATION if normalisation else _NO_CUTOFF
        self.truncation = whole("truncation", truncation, 1)
        self.threads = threads
        self.weights = _column("weights", weights, len(self.labels))
        self.query_weights = _column("query_weights", query_weights, len(self.offsets) - 1)
        if not np.isfinite(self.labels).all():
            raise InputError("a label must be a finite number")
        self._function: Callable[[Any], float] | None = measure if callable(measure) else None
        if self._function is None:
            self._lists, self._rule = self._prepared()

    def gradients(self, scores: Any) -> Gradients:
        """Lambdas and weights of all rows, as float32, for these scores."""
        scores = _scores(scores, len(self.labels))
        found = Gradients(np.empty(len(scores), np.float32), np.empty(len(scores), np.float32))
        from rankloom.kernels.threads import run_blocks

        run_blocks(lambda first, last: self.fill(scores, first, last, found), self.offsets, self.threads)
        return found

    @property
    def reach(self) -> int:
        """A pair counts where one of its rows stands among so many first places."""
        if self._function is not None or self._rule.kind in _WHOLE_LISTS:
            return self.truncation
        return min(self.truncation, int(self._rule.cutoff))

    def report(self, scores: Any) -> LambdaReport:
        """What each query says for these scores: how many pairs count, how strongly they pull."""
        from rankloom.rankers.lambda_report import report_on

        return report_on(self, _scores(scores, len(self.labels)))

    def fill(self, scores: NDArray[np.float64], first: int, last: int, found: Gradients) -> None:
        """The gradients of queries first..last, last excluded, at their rows of `found`; unchecked."""
        if self._function is not None:
            from rankloom.rankers.lambdas_by_definition import fill_by_definition

            fill_by_definition(self, self._function, scores, first, last, found)
            return
        from rankloom.kernels.lambdas import lambda_block

        lambda_block(self._lists, self._rule, scores, first, last, *found)

    def refuse_nothing_to_learn(self) -> None:
        """An error where no pair of rows would ever pull."""
        queries = np.repeat(np.arange(self._n_queries), np.diff(self.offsets))
        ranked = np.flatnonzero((queries[1:] == queries[:-1]) & (self.labels[1:] != self.labels[:-1]))
        if not len(ranked):
            raise InputError(f"in none of the {self._n_queries:,} queries do two rows differ in label")
        if self._function is None and not self._lists.scales[queries[ranked]].any():
            raise InputError(f"in no query is any label worth something to {self.measure}")

    def _prepared(self) -> tuple[Any, Any]:
        """What the kernel reads."""
        from rankloom.kernels import lambdas as kernel
        from rankloom.kernels.compile import as_kernel

        measure: Any = self.measure
        if measure == RANKNET:
            kind, worth, scales = kernel.PAIRS, _levels(self.labels, self.offsets), np.ones(self._n_queries)
        else:
            kind, worth, scales = self._by_measure(measure)
        cutoff = _NO_CUTOFF if measure == RANKNET or not measure.k else measure.k
        longest = int(np.diff(self.offsets).max(initial=1))
        places = np.zeros(1)
        if kind == kernel.DISCOUNTED:
            cutoff, places = self._discounts(measure, cutoff, longest)
        lists = kernel.Lists(
            as_kernel(self.offsets, np.int64),
            as_kernel(worth, np.float64),
            as_kernel(self.weights, np.float32),
            as_kernel(scales * self.query_weights, np.float64),
            as_kernel(np.arange(len(worth)) - np.repeat(self.offsets[:-1], np.diff(self.offsets)), np.int32),
        )
        normalisation = kernel.LIGHTGBM if self.normalisation else kernel.PLAIN
        rule = kernel.Rule(kind, normalisation, cutoff, self.truncation, self.sigma, places)
        return lists, rule

    @property
    def _n_queries(self) -> int:
        return len(self.offsets) - 1

    def _discounts(self, measure: Measure, cutoff: int, longest: int) -> tuple[int, NDArray[np.float64]]:
        """What places are worth, and from where on they are worth nothing."""
        if self.normalisation:
            return _NO_CUTOFF, discounts(str(measure.discount), longest)
        kind = str(measure.discount)
        places = np.ones(longest) if measure.name in ("p", "r") else discounts(kind, longest)
        places[min(cutoff, longest) :] = 0.0
        return cutoff, places

    def _by_measure(self, measure: Measure) -> tuple[int, NDArray[np.float64], NDArray[np.float64]]:
        """The kind of a measure, what each row is worth to it, and what a query's changes are divided by."""
        from rankloom.kernels import lambdas as kernel

        if measure.name in ("ndcg", "dcg"):
            gains = row_gains(measure, self.labels, self.offsets)
            if measure.name == "dcg":
                return kernel.DISCOUNTED, gains, np.ones(self._n_queries)
            depth = self.truncation if self.normalisation else measure.k or _NO_CUTOFF
            return kernel.DISCOUNTED, gains, _inverse(ideal_dcg(measure, gains, self.offsets, depth))
        if measure.name == "err":
            satisfied = _satisfied(measure, self.labels)
            return kernel.CASCADE, satisfied, np.ones(self._n_queries)
        relevant = (self.labels >= (measure.lowest_relevant or 0.0)).astype(np.float64)
        found = np.add.reduceat(np.append(relevant, 0.0), self.offsets[:-1]) * (np.diff(self.offsets) > 0)
        lengths = np.diff(self.offsets).astype(np.float64)
        k = float(measure.k or _NO_CUTOFF)
        if measure.name == "map":
            wanted = found if measure.denominator == "relevant" else np.minimum(found, k)
            return kernel.AVERAGE_PRECISION, relevant, _inverse(wanted)
        if measure.name == "mrr":
            return kernel.RECIPROCAL_RANK, relevant, (found > 0).astype(np.float64)
        if measure.name == "auc":
            return kernel.AREA, relevant, _inverse(found * (lengths - found))
        wanted = found
        if measure.name == "p":
            wanted = np.where(found > 0, k if measure.short == "pad" else np.minimum(k, lengths), 0.0)
        return kernel.DISCOUNTED, relevant, _inverse(wanted)


def parse_objective(measure: Any) -> Any:
    """Z: "ranknet", a Measure that lambdas can be made from, or a function."""
    if callable(measure) and not isinstance(measure, Measure):
        return measure
    if isinstance(measure, str) and measure.strip().lower() == RANKNET:
        return RANKNET
    parsed = Measure.parse(measure)
    if parsed.name not in TRAINABLE or (parsed.name == "map" and parsed.denominator == "found"):
        raise InputError(
            f"lambdas can be made from ranknet, {', '.join(TRAINABLE)}, "
            f"or a function of labels in ranked order, not from {parsed}"
        )
    return parsed


def _checked_normalisation(given: Any, measure: Any) -> str | None:
    if given is None:
        return None
    if given not in NORMALISATIONS:
        raise InputError(f"normalisation must be None or {', '.join(NORMALISATIONS)}, got {given!r:.60}")
    if not isinstance(measure, Measure) or measure.name != "ndcg":
        raise InputError(f'normalisation="lightgbm" is for ndcg, not for {measure}; leave it out')
    if measure.k is not None:
        raise InputError(
            'normalisation="lightgbm" cuts ndcg by its truncation: measure="ndcg", truncation=30'
        )
    return str(given)


def ideal_dcg(
    measure: Measure, gains: NDArray[np.float64], offsets: NDArray[np.int64], k: int
) -> NDArray[np.float64]:
    """The DCG@k of each query's best order."""
    from rankloom.measures.order import ideal_labels

    best = ideal_labels(gains, offsets)
    lengths = np.diff(offsets)
    worth = discounts(str(measure.discount), int(lengths.max(initial=1)))
    worth[min(k, len(worth)) :] = 0.0
    places = np.arange(len(best)) - np.repeat(offsets[:-1], lengths)
    sums = np.add.reduceat(np.append(best * worth[places], 0.0), offsets[:-1])
    return np.asarray(sums * (lengths > 0))


def _satisfied(measure: Measure, labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """How likely a reader is to stop at each row."""
    grade = float(measure.max_grade or 0.0)
    if labels.max(initial=0.0) > grade:
        raise InputError(
            f"a label must not be above max_grade {grade:g} for err, got {labels.max():g}; "
            f"say err:max_grade={labels.max():g}"
        )
    known = np.maximum(labels, 0.0)
    return known / grade if measure.gain == "linear" else (2.0**known - 1.0) / 2.0**grade


def _levels(labels: NDArray[np.float64], offsets: NDArray[np.int64]) -> NDArray[np.float64]:
    """The place of each label among the different labels of its query: 0, 1, 2, ..."""
    if not len(labels):
        return np.empty(0)
    queries = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    order = np.lexsort((labels, queries))
    steps = np.zeros(len(labels))
    steps[1:] = (labels[order][1:] != labels[order][:-1]) & (queries[1:] == queries[:-1])
    steps = np.cumsum(steps)
    levels = np.empty(len(labels))
    levels[order] = steps - steps[offsets[queries]]
    return levels


def _inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """1 / value, and 0 where there is none: such a query has nothing to teach."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0.0)


def _column(name: str, given: Any, n: int) -> NDArray[np.float64]:
    if given is None:
        return np.ones(n)
    values = np.asarray(given, dtype=np.float64)
    if values.shape != (n,) or not np.isfinite(values).all() or (values < 0.0).any():
        raise InputError(f"{name} must be {n:,} finite numbers from 0, got shape {values.shape}")
    return values


def _scores(given: Any, n: int) -> NDArray[np.float64]:
    from rankloom.kernels.compile import as_kernel

    scores = as_kernel(given, np.float64)
    if scores.shape != (n,):
        raise InputError(f"scores must be one number per row ({n:,}), got shape {scores.shape}")
    if not np.isfinite(scores.sum()) and not np.isfinite(scores).all():
        raise InputError("a score must be a finite number")
    return scores
