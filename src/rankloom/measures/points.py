"""Measures that compare each score with its label and know no order.

mse     = mean of (score - label)^2
logloss = mean of -(t log p + (1 - t) log(1 - p)),   p kept 2^-52 away from 0 and 1, as in scikit-learn
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.measures.measure import Measure

_EDGE = np.finfo(np.float64).eps


def targets(measure: Measure, labels: NDArray[np.float64]) -> NDArray[np.float64]:
    """Labels as the probability that was to be predicted: themselves, or 0 and 1 by a threshold."""
    lowest = measure.lowest_relevant
    return labels if lowest is None else (labels >= lowest).astype(np.float64)


def per_query_error(
    measure: Measure, scores: NDArray[np.float64], labels: NDArray[np.float64], offsets: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The mean over the rows of each query; NaN for a query without rows."""
    if measure.name == "mse":
        errors = (scores - labels) ** 2
    else:
        wanted = targets(measure, labels)
        chance = np.clip(scores, _EDGE, 1.0 - _EDGE)
        errors = -(wanted * np.log(chance) + (1.0 - wanted) * np.log1p(-chance))
    means = np.full(len(offsets) - 1, np.nan)
    filled = np.diff(offsets) > 0
    if filled.any():
        means[filled] = np.add.reduceat(errors, offsets[:-1][filled]) / np.diff(offsets)[filled]
    return means
