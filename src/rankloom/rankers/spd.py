"""Stochastic pairwise descent (Sculley 2009): a linear ranker from random pairs.

    minimise  lam/2 |w|^2 + mean over pairs (a, b) of P of loss(<w, a - b>)            (Section 2)

P are the pairs of rows of one query with different labels, a the better. Each step draws one (Section 3.1)
and follows the learner's rule (Section 3.2); the rules are written out in `rankloom.kernels.spd`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from rankloom.models.scaled import without_scaling
from rankloom.rankers.checks import one_of
from rankloom.rankers.descent import (
    Course,
    Material,
    Stage,
    largest_square,
    material_of,
    mean_one,
    worker_share,
)
from rankloom.rankers.objective import pair_objective
from rankloom.rankers.pairs import refuse_no_pairs
from rankloom.rankers.recipes import (
    LEARNER_NUMBERS,
    LOSS_NUMBERS,
    SAMPLERS,
    Choice,
    check_choice,
    rate_of,
)
from rankloom.rankers.streaming import Streaming
from rankloom.rankers.validation import labelled


class SPD(Streaming):
    """A linear ranker by stochastic pairwise descent.

    Args:
        loss: "hinge" (RankSVM), "logistic" or "squared" (half the square, of a pair's score and 1).
        learner: "pegasos", "sgd", "passive-aggressive", "romma", "perceptron", or "combined":
            passive-aggressive for the first part of the steps, then Pegasos.
        sampler: "pairs" (each pair alike), "balanced" (each query, then each of its labels alike) or
            "stream" (pairs within a buffer that goes through the rows once).
        steps: how many steps; with `partial_fit` and warm starts, how many more.
        lam: how much large weights cost.
        C: the largest step of passive-aggressive; None is 0.01.
        rate: "bounded" 1 / (lam (i + i0)) with i0 so large that no step overshoots, "pegasos" 1 / (lam i) as
            in the paper, "inverse" c / (c + i), "constant" c. None is bounded; for the perceptron, constant.
        c: of the inverse and constant rates; None is 10 and 1.
        margin: of the perceptron, which moves where a pair's score is at most that; None is 1.
        early: with "combined", the part of all steps that is passive-aggressive; None is 0.1.
        average: the last part of the steps, 0 to 1, over which the weights are averaged; True is 0.5.
        buffer: with "stream", how many rows the buffer holds; None is 10,000.
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
        loss: str = "hinge",
        learner: str = "pegasos",
        sampler: str = "pairs",
        *,
        steps: int = 100_000,
        lam: float = 1e-4,
        C: float | None = None,
        rate: str | None = None,
        c: float | None = None,
        margin: float | None = None,
        early: float | None = None,
        average: bool | float = False,
        buffer: int | None = None,
        scale: str | None = None,
        n_jobs: int = 1,
        warm_start: bool = False,
        callback: Callable[[int, LinearModel], Any] | None = None,
        callback_at: Any = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.loss, self.learner, self.sampler = loss, learner, sampler
        self.steps, self.lam, self.C = steps, lam, C
        self.rate, self.c, self.margin, self.early = rate, c, margin, early
        self.average, self.buffer, self.scale, self.n_jobs = average, buffer, scale, n_jobs
        self.warm_start, self.callback, self.callback_at = warm_start, callback, callback_at
        self.measure, self.seed = measure, seed

    def _choice(self) -> Choice:
        if one_of("sampler", self.sampler, SAMPLERS) != "stream" and self.buffer is not None:
            raise InputError(
                f'buffer={self.buffer!r:.60} needs sampler="stream"; leave buffer out, or choose that'
            )
        return check_choice(self)

    def _material(self, data: RankingData) -> Material:
        choice = self._choice()
        weights, query_weights = self._weights(data, choice)
        material = material_of(data, row_weights=weights, query_weights=query_weights)
        refuse_no_pairs(material, data)
        return material

    def objective(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        model: LinearModel | None = None,
    ) -> float:
        """What the steps bring down: lam/2 |w|^2 plus the mean loss over all pairs of these data.

        Every pair is looked at, with features as `scale` has them. `model` is another model than the one
        learned: in a callback, the one given.
        """
        choice = self._choice()
        data = labelled(type(self).__name__, X, y, qid, sample_weight)
        known: Any = self._model() if model is None else model
        if self._scaled_by is not None:
            data, known = self._scaled_by.applied(data), without_scaling(known, self._scaled_by)
        return pair_objective(data, known, choice.loss, choice.lam, self.sampler == "balanced")

    def _weights(
        self, data: RankingData, choice: Choice
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        """Weights of rows for the steps, and of queries for the index.

        A pair weighs the product of its rows' weights, so where queries are drawn alike, the weight of a
        query goes to its rows as a square root.
        """
        rows = mean_one(data.weights, "sample_weight")
        queries = mean_one(data.query_weights, "query_weights")
        if queries is not None and self.sampler != "pairs":
            spread = np.sqrt(np.repeat(queries, data.lengths))
            rows, queries = (spread if rows is None else rows * spread), None
        if rows is not None and choice.learner == "romma":
            raise InputError(
                'learner="romma" has no step that a weight could change; leave weights out, or choose '
                "another learner"
            )
        return rows, queries

    def _stages(self, data: RankingData, course: Course, to: int) -> list[list[Stage]]:
        n = len(course.states)
        choice, square = self._choice(), 0.0
        if choice.rate == "bounded":
            square = 2.0 * largest_square(data.features, exact=choice.loss == "squared")
        return [self._worker_stages(square, course.done, to, worker, n) for worker in range(n)]

    def _worker_stages(self, square: float, done: int, to: int, worker: int, n: int) -> list[Stage]:
        from rankloom.kernels import spd as kernel

        choice = self._choice()
        first, last = worker_share(done, worker, n), worker_share(to, worker, n)
        rate = rate_of(choice.rate, choice.c, choice.lam, square)
        limit = 1e3 / choice.lam**0.5 if choice.loss == "squared" else math.inf
        recipe = kernel.Recipe(
            sampler=kernel.BALANCED if self.sampler == "balanced" else kernel.PAIRS,
            learner=LEARNER_NUMBERS[choice.learner],
            loss=LOSS_NUMBERS[choice.loss],
            target=kernel.SIGN,
            lam=choice.lam,
            cap=choice.cap,
            rate=rate.rate,
            rate_offset=rate.offset,
            margin=choice.margin,
            alpha=0.0,
            bias_rate=0.0,
            average_from=last - round(self._averaged() * (last - first)),
            l1=0.0,
        )
        if choice.learner != "combined" or done > 0:
            return [Stage(last, recipe, limit)]
        early = round(choice.early * last)
        before = recipe._replace(learner=kernel.PASSIVE_AGGRESSIVE)
        return [Stage(early, before, limit), Stage(last, recipe, limit)]
