"""Rankers that look at held-out rows while they learn, and keep what ranked those best."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import LOSSES, POINTS
from rankloom.models.base import Model
from rankloom.rankers.base import DEFAULT_MEASURE, Ranker
from rankloom.rankers.checks import unused, whole
from rankloom.rankers.lambdas import RANKNET
from rankloom.rankers.validation import held_out


class Watching(Ranker):
    """A ranker with the parameters `measure`, `stop_measure` and `patience`, whose `fit` takes held-out data.

    Attributes:
        curve_: how good the held-out data were ranked, after each round; empty without them.
    """

    _texts: tuple[str, ...] = ("measure", "stop_measure")  # may be given as text whatever their type

    measure: Any
    stop_measure: Any
    patience: int | None
    curve_: NDArray[np.float64]

    def _learn(self, data: RankingData, valid: RankingData | None) -> Model:
        """Learn from data, watching `valid`."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it learns")

    def fit(
        self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, *, valid: Any = None
    ) -> Self:
        """Learn.

        Args:
            X: features (an array, a sparse matrix, a data frame), or a RankingData, which has all the rest.
            y: labels, larger is better.
            qid: the query of each row, in any order; None is one query over everything.
            sample_weight: the weight of each row; a pair counts as the product of its rows' weights.
            valid: a RankingData to measure after each round; what ranked it best is kept.
        """
        data = self._training_data(X, y, qid, sample_weight)
        if valid is None:
            unused("patience", self.patience, None, "validation data: fit(..., valid=data)")
            unused("stop_measure", self.stop_measure, None, "validation data: fit(..., valid=data)")
        return self._keep(self._learn(data, held_out(type(self).__name__, valid, data)), data)

    def _score_measure(self) -> Measure:
        """What `score` measures: `measure` where it is one."""
        return measure_or_default(self.measure)

    def _stop_value(self, valid: RankingData) -> Callable[[NDArray[np.float64]], float]:
        """How good scores of the held-out rows are."""
        wanted = self.stop_measure
        measure = measure_or_default(self.measure) if wanted is None else Measure.parse(wanted)
        return value_of_measure(measure, valid)

    def _patience(self) -> int | None:
        return None if self.patience is None else whole("patience", self.patience, 1)


def measure_or_default(given: Any) -> Measure:
    """A measure, or ndcg@10 for what is none: ranknet, a function."""
    if given == RANKNET or (callable(given) and not isinstance(given, Measure)):
        return Measure.parse(DEFAULT_MEASURE)
    return Measure.parse(given)


def value_of_measure(measure: Measure, data: RankingData) -> Callable[[NDArray[np.float64]], float]:
    """A function of scores in the order of the data's rows; what it says of equal scores is not -inf."""
    if measure.name in POINTS:
        raise InputError(f"{measure} measures values, not a ranking; stop on a measure such as ndcg@10")
    sign = -1.0 if measure.name in LOSSES else 1.0

    def value(scores: NDArray[np.float64]) -> float:
        return sign * evaluate(data.in_caller_order(scores), data, measures=measure)[measure]

    if not np.isfinite(value(np.zeros(data.n_rows))):
        raise InputError(f"{measure} is not defined for any query of the validation data")
    return value
