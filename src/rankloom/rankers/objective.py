"""The value of what SPD minimises, over every pair: for curves and comparisons, not for learning.

    lam/2 |w|^2 + sum over pairs of share x loss / sum of shares

A pair's share is the product of its rows' weights, times its query's weight; with the balanced sampler it is
also divided by how many pairs its two labels make in its query, and by how many pairs of labels there are.
The time is that of all pairs; memory is bounded.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel

_CELLS = 1 << 20


class Total(NamedTuple):
    """Sums over pairs."""

    loss: float
    share: float

    def plus(self, loss: float, share: float) -> Total:
        """More pairs."""
        return Total(self.loss + loss, self.share + share)


def pair_objective(data: RankingData, model: LinearModel, loss: str, lam: float, balanced: bool) -> float:
    """The objective of a model on data that have labels."""
    scores = data.in_query_order(model.decision_function(data))
    queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights
    total = Total(0.0, 0.0)
    for query, (start, stop) in enumerate(pairwise(data.offsets.tolist())):
        of_query = _of_query(data, scores, slice(start, stop), float(queries[query]), loss, balanced)
        total = total.plus(*of_query)
    if total.share <= 0.0:
        raise InputError("the objective is a mean over pairs, and the data have none: all labels are equal")
    return 0.5 * lam * float(model.weights @ model.weights) + total.loss / total.share


def _of_query(
    data: RankingData, scores: NDArray[np.float64], rows: slice, weight: float, loss: str, balanced: bool
) -> Total:
    y, s = np.asarray(data.y)[rows], scores[rows]
    w = np.ones(len(y)) if data.weights is None else data.weights[rows]
    labels, level, counts = np.unique(y, return_inverse=True, return_counts=True)
    total, step = Total(0.0, 0.0), max(1, _CELLS // max(len(y), 1))
    if len(labels) < 2:
        return total
    for start in range(0, len(y), step):
        part = slice(start, start + step)
        a, b = np.nonzero(level[part, None] > level[None])
        a += start
        share = weight * w[a] * w[b]
        if balanced:
            share /= counts[level[a]] * counts[level[b]] * (len(labels) * (len(labels) - 1) / 2)
        total = total.plus(float(share @ _losses(s[a] - s[b], loss)), float(share.sum()))
    return total


def _losses(p: NDArray[np.float64], loss: str) -> NDArray[np.float64]:
    """Each pair's loss, its target being 1."""
    if loss == "hinge":
        return np.maximum(0.0, 1.0 - p)
    if loss == "squared":
        return 0.5 * (1.0 - p) ** 2
    return np.logaddexp(0.0, -p)
