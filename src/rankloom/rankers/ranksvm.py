"""RankSVM, exact (Lee & Lin 2014): the linear ranker that is best over all pairs.

    minimise  1/2 |w|^2 + C sum over P of c_ij max(0, 1 - <w, x_i - x_j>)^p

P are the pairs of rows of one query with y_i > y_j (equation 1). p is 2 (equation 3) or 1 (equation 2), and
c_ij is 1 unless weights or `normalize` say otherwise. The sums over P are in `rankloom.kernels.ranksvm`.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError, RankloomWarning
from rankloom.models.linear import LinearModel
from rankloom.rankers.base import Ranker
from rankloom.rankers.checks import flag, number, one_of, whole
from rankloom.rankers.unscaled import warn_of_scales

LOSSES = ("l2", "l1")
PAIRS = ("all", "adjacent")
NORMALIZE = ("pairs", "query")
_UNEVEN = 1e3


class Result(NamedTuple):
    """How training ended."""

    C: float
    objective: float
    """The problem's value at the weights."""
    residual: float
    """With L2 loss, the gradient's length beside that at w = 0; with L1 loss, the gap to the lower bound
    beside the objective."""
    iterations: int
    evaluations: int
    """How often the objective was computed."""
    products: int
    """Products with the Hessian."""
    converged: bool


class RankSVM(Ranker):
    """The linear ranker that minimises RankSVM's objective over all pairs.

    Args:
        C: how much the pairs' losses cost beside |w|^2 / 2.
        loss: "l2" (squared hinges, by a Newton method) or "l1" (hinges, by a bundle method).
        pairs: "all" pairs of a query with different labels, or "adjacent": only of labels that are neighbours
            among those of the query.
        normalize: None, C is the cost of each pair; "pairs", of all pairs' mean; "query", of each query's
            mean, added up.
        tol: with L2 loss, learning stops where the gradient is this small beside that at w = 0 (and, in one
            large query, steps no longer take a third off the objective); with L1 loss, where the objective is
            known to be within this part of the least.
        max_iter: iterations after which it stops with a warning.
        scale: how features are scaled first, as `QueryScaler` does it: "minmax", "standard", "deviation",
            "maxabs" or "rank", over all rows, or by query with "minmax/query"; the model keeps it.
        warm_start: `fit` begins at the weights that it has.
        n_jobs: threads; None is all. The model does not depend on it.
        measure: what `score` measures; None is ndcg@10.

    Attributes:
        result_: how training ended: objective, residual, iterations, products, converged.
    """

    result_: Result
    _weights: NDArray[np.float64]  # as learned, on the scale that `scale` asks for

    def __init__(
        self,
        C: float = 1.0,
        *,
        loss: str = "l2",
        pairs: str = "all",
        normalize: str | None = None,
        tol: float = 1e-3,
        max_iter: int = 1000,
        scale: str | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        measure: Any = None,
    ) -> None:
        self.C, self.loss, self.pairs, self.normalize = C, loss, pairs, normalize
        self.tol, self.max_iter, self.scale, self.warm_start = tol, max_iter, scale, warm_start
        self.n_jobs, self.measure = n_jobs, measure

    def _fit(self, data: RankingData) -> LinearModel:
        C = number("C", self.C, 0.0)
        start = None
        if flag("warm_start", self.warm_start) and hasattr(self, "_weights"):
            start = self._weights
            if len(start) != data.n_features:
                raise InputError(
                    f"warm_start goes on with {len(start)} features, and these data have {data.n_features}; "
                    "give it as many, or set warm_start=False"
                )
        self._check()
        return self._solved(self._problem(data), data, C, start)

    def _check(self) -> None:
        one_of("loss", self.loss, LOSSES)
        number("tol", self.tol, 0.0)
        whole("max_iter", self.max_iter, 1)

    def _problem(self, data: RankingData) -> Any:
        from rankloom.rankers.pair_problem import PairProblem

        check_pairs(self.pairs, self.normalize)
        jobs = None if self.n_jobs is None else whole("n_jobs", self.n_jobs, 1)
        problem = PairProblem(data, adjacent=self.pairs == "adjacent", normalize=self.normalize, threads=jobs)
        warn_of_scales(data, "RankSVM", stacklevel=6, times=_UNEVEN, part=0.5)
        return problem

    def _solved(
        self, problem: Any, data: RankingData, C: float, start: NDArray[np.float64] | None
    ) -> LinearModel:
        from rankloom.rankers.bundle import bundle
        from rankloom.rankers.newton import newton

        solve = newton if self.loss == "l2" else bundle
        with np.errstate(over="ignore", invalid="ignore"):  # the solvers look for it, and say what to do
            found = solve(problem, C, start, float(self.tol), int(self.max_iter))
        self.result_, self._weights = Result(C, *found[1:]), found.weights
        if not found.converged:
            self._warn(found.residual)
        about = {**self.result_._asdict(), "pairs_weight": problem.pair_weight}
        return LinearModel(found.weights, feature_names=data.feature_names, about={"solver": about})

    def _warn(self, residual: float) -> None:
        if self.result_.iterations < self.max_iter:
            why = "rounding leaves nothing to gain; take a larger tol, or scale the features"
        else:
            why = "take a larger max_iter or tol, a smaller C, or scale the features (rl.QueryScaler)"
        warnings.warn(
            f"RankSVM stopped at C={self.result_.C:g} after {self.result_.iterations} iterations with a "
            f"residual of {residual:.1e}, not {self.tol:g}: {why}",
            RankloomWarning,
            stacklevel=5,
        )

    def path(
        self,
        X: Any,
        y: Any = None,
        qid: Any = None,
        sample_weight: Any = None,
        *,
        Cs: Sequence[float] | None = None,
        valid: RankingData | None = None,
        measures: Sequence[Any] = ("pairwise", "ndcg@10"),
    ) -> Any:
        """Learn with each C from the smallest up, each from the weights before; a `rankloom.RankSVMPath`.

        Args:
            X: as for `fit`, with y, qid and sample_weight.
            y: labels.
            qid: queries.
            sample_weight: weights of rows.
            Cs: None is 2^-15, 2^-14, ..., 2^10, those of Lee & Lin.
            valid: data to measure each model on; None is not to measure.
            measures: what to measure.
        """
        from rankloom.rankers.ranksvm_path import walk

        self._check()
        return walk(self, self._training_data(X, y, qid, sample_weight), Cs, valid, measures)


def check_pairs(pairs: Any, normalize: Any) -> None:
    """Refuse what is no kind of pairs, and no kind of normalisation."""
    one_of("pairs", pairs, PAIRS)
    if normalize is not None:
        one_of("normalize", normalize, NORMALIZE)
