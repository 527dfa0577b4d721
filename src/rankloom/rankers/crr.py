"""Combined regression and ranking (Sculley 2010): right values and a right ranking from one linear model.

    minimise  alpha L(D) + (1 - alpha) L(P) + lam/2 |w|^2 (+ l1 |w|_1)                 (equation 3)

L(D) is the mean loss of rows (their label, their score), L(P) that of pairs of P (t of the difference of
their labels, the difference of their scores). Each step is on a random row with the chance alpha, else on a
random pair (Algorithm 1).

    loss        of target t and score p       t(y) of a pair's difference     value of a row
    squared     (t - p)^2 / 2                 y                               score
    logistic    cross entropy of t, sigma(p)  (1 + y) / 2                     sigma(score)
    hinge       max(0, 1 - t p)               1                               score; labels are -1 and 1

Pairs of P never have equal labels, so the differences that L(P) asks for are larger than those that can be
expected of two rows: with squared loss, scores come out too wide, however long one learns. `calibrate` mends
that afterwards, by the one scale and offset that fit the training labels best; the ranking stays.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from rankloom.rankers.calibration import cross_entropy, least_squares
from rankloom.rankers.checks import flag, number, one_of, share
from rankloom.rankers.descent import (
    Course,
    Material,
    Stage,
    labels_of,
    largest_square,
    material_of,
    mean_one,
    mean_weights,
    worker_share,
)
from rankloom.rankers.pairs import refuse_no_pairs
from rankloom.rankers.recipes import LOSS_NUMBERS, LOSSES, Rate, rate_constant, rate_name, rate_of
from rankloom.rankers.stepper import Stepper

CRR_SAMPLERS = ("pairs", "balanced")
_RAREST = 1e-9
_ROWS_A_FEATURE = 20


class CRR(Stepper):
    """A linear model of values that also ranks, by stochastic descent on rows and pairs.

    Args:
        alpha: the part of steps that are on rows: 1 is regression only, 0 ranking only.
        loss: "squared", "logistic" (values are probabilities, or lie between the two ends of the labels) or
            "hinge" (two labels).
        sampler: of pairs: "pairs" (each alike) or "balanced" (each query, then each of its labels alike).
        steps: how many steps; with `partial_fit` and warm starts, how many more.
        lam: how much large weights cost; the bias costs nothing.
        l1: how much the absolute values of weights cost, which makes weights of little use exactly 0.
        calibrate: after learning, fit the scale and offset of the scores to the training labels, exactly.
            None does so for squared and hinge loss; for logistic loss where there are twenty rows or more a
            feature: it needs it less, and features that are many fit training labels so well that it would
            make values too sure.
        bias: learn a bias. Without one, and uncalibrated, scores are 0 where all features are.
        target_range: with logistic loss, the labels that stand for 0 and 1; None is (0, 1) where all labels
            are within, else the smallest and the largest label.
        rate: "bounded" 1 / (lam (i + i0)) with i0 so large that no step overshoots (None is that),
            "pegasos" 1 / (lam i) as in the paper, "inverse" c / (c + i), "constant" c.
        c: of the inverse and constant rates; None is 10 and 0.01.
        average: the last part of the steps, 0 to 1, over which the weights are averaged; True is 0.5. None is
            0.5 as well, but 0 with l1: an average of sparse weights is not sparse.
        scale: how features are scaled first, as `QueryScaler` does it: "minmax", "standard", "deviation",
            "maxabs" or "rank", over all rows, or "minmax/query" and so on, within each query. The model keeps
            the scaling.
        n_jobs: workers, which share the steps; their weights are averaged. The model depends on it.
        warm_start: `fit` goes on from where it stands.
        callback: called with (step, model); learning stops where it returns something true.
        callback_at: at which steps: every so many, or a list; None is 100, 200, 500, 1,000, ... and the last.
        measure: what `score` measures; None is ndcg@10.
        seed: the same seed, data and parameters give the same bits.
    """

    def __init__(
        self,
        alpha: float = 0.5,
        loss: str = "squared",
        sampler: str = "pairs",
        *,
        steps: int = 100_000,
        lam: float = 1e-4,
        l1: float = 0.0,
        calibrate: bool | None = None,
        bias: bool = True,
        target_range: tuple[float, float] | None = None,
        rate: str | None = None,
        c: float | None = None,
        average: bool | float | None = None,
        scale: str | None = None,
        n_jobs: int = 1,
        warm_start: bool = False,
        callback: Callable[[int, LinearModel], Any] | None = None,
        callback_at: Any = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.alpha, self.loss, self.sampler = alpha, loss, sampler
        self.steps, self.lam, self.l1, self.calibrate, self.bias = steps, lam, l1, calibrate, bias
        self.target_range, self.rate, self.c = target_range, rate, c
        self.average, self.scale, self.n_jobs = average, scale, n_jobs
        self.warm_start, self.callback, self.callback_at = warm_start, callback, callback_at
        self.measure, self.seed = measure, seed

    _range: tuple[float, float]

    def _material(self, data: RankingData) -> Material:
        one_of("sampler", self.sampler, CRR_SAMPLERS)
        queries = mean_one(data.query_weights, "query_weights")
        if queries is not None and self.sampler != "pairs":
            raise InputError(
                'query weights choose pairs, which needs sampler="pairs"; "balanced" draws every query alike'
            )
        targets, _ = self._targets(data)
        rows = mean_one(data.weights, "sample_weight")
        material = material_of(data, targets=targets, row_weights=rows, query_weights=queries)
        if self._alpha() < 1.0:
            refuse_no_pairs(material, data, "; alpha=1 learns values without any ranking")
        return material

    def _alpha(self) -> float:
        return number("alpha", self.alpha, 0.0, 1.0, open_low=False)

    def _l1_cost(self) -> float:
        return number("l1", self.l1, 0.0, open_low=False)

    def _averaged(self) -> float:
        l1 = self._l1_cost() > 0.0
        if self.average is None:
            return 0.0 if l1 else 0.5
        part = share("average", self.average)
        if l1 and part > 0.0:
            raise InputError(
                f"an average of sparse weights is not sparse: average={self.average!r:.60} needs l1=0; leave "
                "average out, or l1"
            )
        return part

    def _targets(self, data: RankingData) -> tuple[NDArray[np.float64], tuple[float, float] | None]:
        """What the steps aim at, and the labels that 0 and 1 of it stand for, if others do."""
        loss, y = one_of("loss", self.loss, LOSSES), labels_of(data)
        if loss != "logistic" and self.target_range is not None:
            raise InputError('target_range needs loss="logistic"; leave it out, or choose that')
        if loss == "squared":
            return y, None
        if loss == "hinge":
            return _two_sides(y)
        low, high = self._ends(y)
        return (y, None) if (low, high) == (0.0, 1.0) else ((y - low) / (high - low), (low, high))

    def _ends(self, y: NDArray[np.float64]) -> tuple[float, float]:
        """The labels that stand for 0 and 1: as given, as in the calls before, or as found."""
        given = self.target_range
        if given is None and self._goes_on:
            given = self._range
        smallest, largest = float(y.min()), float(y.max())
        if given is None:
            within = smallest >= 0.0 and largest <= 1.0
            self._range = (0.0, 1.0) if within or smallest == largest else (smallest, largest)
            low, high = self._range
        else:
            low, high = _checked_range(given)
        if smallest < low or largest > high:
            raise InputError(
                f"with logistic loss, labels must lie within target_range, {low:g} to {high:g}, and they go "
                f"from {smallest:g} to {largest:g}; pass target_range=({min(low, smallest):g}, "
                f"{max(high, largest):g}), or use squared loss"
            )
        return low, high

    def _started(self, course: Course, material: Material) -> Course:
        """Begin at the bias that is best where all weights are 0: a rare label is far from even odds."""
        from rankloom.kernels.spd import BIAS

        if flag("bias", self.bias):
            targets, weights = material.truth.targets, material.truth.weights
            mean = float(np.average(targets, weights=weights if len(weights) else None))
            for state in course.states:
                state.scalars[BIAS] = _best_constant(self.loss, mean)
        return course

    def _stages(self, data: RankingData, course: Course, to: int) -> list[list[Stage]]:
        lam = number("lam", self.lam, 0.0)
        name = rate_name(self.rate, "bounded")
        c = rate_constant(self.c, name, 10.0 if name == "inverse" else 0.01)
        square = 0.0
        if name == "bounded":
            square = 2.0 * (largest_square(data.features, exact=self.loss == "squared") + 1.0)
        rate, n = rate_of(name, c, lam, square), len(course.states)
        limit = np.inf
        if self.loss == "squared":
            limit = 1e3 * (1.0 + float(np.abs(labels_of(data)).max())) / np.sqrt(lam)
        return [self._worker_stages(rate, limit, (course.done, to), worker, n) for worker in range(n)]

    def _worker_stages(
        self, rate: Rate, limit: float, span: tuple[int, int], worker: int, n: int
    ) -> list[Stage]:
        from rankloom.kernels import spd as kernel

        first, last = (worker_share(step, worker, n) for step in span)
        recipe = kernel.Recipe(
            sampler=kernel.BALANCED if self.sampler == "balanced" else kernel.PAIRS,
            learner=kernel.SGD,
            loss=LOSS_NUMBERS[self.loss],
            target=kernel.SIGN if self.loss == "hinge" else kernel.DIFFERENCE,
            lam=float(self.lam),
            cap=1.0,
            rate=rate.rate,
            rate_offset=rate.offset,
            margin=0.0,
            alpha=self._alpha(),
            bias_rate=1.0 if flag("bias", self.bias) else 0.0,
            average_from=last - round(self._averaged() * (last - first)),
            l1=self._l1_cost(),
        )
        return [Stage(last, recipe, limit)]

    def _calibrates(self, data: RankingData) -> bool:
        if self.calibrate is None:
            return self.loss != "logistic" or data.n_rows >= _ROWS_A_FEATURE * data.n_features
        return flag("calibrate", self.calibrate)

    def _linear_model(self, course: Course, data: RankingData) -> LinearModel:
        """The model as the steps left it, or calibrated."""
        weights, bias = mean_weights(course)
        targets, ends = self._targets(data)
        link = "logistic" if self.loss == "logistic" else "identity"
        if self._calibrates(data):
            plain = LinearModel(weights, bias)
            scores = data.in_query_order(plain.decision_function(data))
            if self.loss == "hinge":
                targets, ends = labels_of(data), None
            fit = cross_entropy if link == "logistic" else least_squares
            a, b = fit(scores, targets, data.weights)
            weights, bias = a * weights, a * bias + b
        return LinearModel(weights, bias, link=link, target_range=ends, feature_names=data.feature_names)


def _best_constant(loss: str, mean: float) -> float:
    if loss == "squared":
        return mean
    if loss == "hinge":
        return float(np.sign(mean))
    inside = min(max(mean, _RAREST), 1.0 - _RAREST)
    return float(np.log(inside / (1.0 - inside)))


def _two_sides(y: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[float, float] | None]:
    """Two labels as -1 and 1; the model's 0 and 1 then stand for the middle and for the larger label."""
    low, high = float(y.min()), float(y.max())
    if not ((y == low) | (y == high)).all():
        raise InputError(
            f"hinge loss tells two labels apart, got {len(np.unique(y)):,} different ones; "
            "use squared or logistic loss"
        )
    if low == high:
        return np.ones(len(y)), (0.0, high) if high > 0.0 else None
    return np.where(y == high, 1.0, -1.0), ((low + high) / 2.0, high)


def _checked_range(given: Any) -> tuple[float, float]:
    try:
        low, high = (float(end) for end in given)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"target_range must be two numbers (low, high) or None, got {given!r:.60}"
        ) from error
    if not -np.inf < low < high < np.inf:
        raise InputError(f"target_range must rise from low to high, got {low:g} and {high:g}")
    return low, high
