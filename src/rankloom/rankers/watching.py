"""How good scores of held-out rows are, while a ranker learns: more is better, whatever the measure."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.evaluate import evaluate
from rankloom.measures.measure import Measure
from rankloom.measures.presets import LOSSES, POINTS


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
