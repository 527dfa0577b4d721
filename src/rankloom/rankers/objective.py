"""The value of what RankSVM and SPD minimise, over every pair: for curves and comparisons.

    rl.objective    1/2 |w|^2 + C sum over P of c_ij loss
    SPD             lam/2 |w|^2 + sum over P of c_ij loss / sum over P of c_ij

A pair's share c_ij is the product of its rows' weights, times its query's weight; with the balanced sampler
it is also divided by how many pairs its two labels make in its query, and by how many pairs of labels there
are. Hinges are counted and squares added up in O(l log l); logistic losses are computed pair by pair.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.linear import LinearModel
from rankloom.rankers.checks import number, one_of
from rankloom.rankers.pair_problem import losses_of_scores
from rankloom.rankers.ranksvm import LOSSES, check_pairs
from rankloom.rankers.validation import labelled

_CELLS = 1 << 20


class Total(NamedTuple):
    """Sums over pairs."""

    loss: float
    share: float

    def plus(self, loss: float, share: float) -> Total:
        """More pairs."""
        return Total(self.loss + loss, self.share + share)


def objective(
    model: Any,
    X: Any,
    y: Any = None,
    qid: Any = None,
    sample_weight: Any = None,
    *,
    C: float = 1.0,
    loss: str = "l2",
    pairs: str = "all",
    normalize: str | None = None,
) -> float:
    """The exact value of RankSVM's objective for a linear model, whatever it was learned by.

    Args:
        model: what has `weights` and scores rows: a `LinearModel`.
        X: as for `RankSVM.fit`, with y, qid and sample_weight.
        y: labels.
        qid: queries.
        sample_weight: weights of rows.
        C: as in `RankSVM`, like loss, pairs and normalize.
        loss: "l2" or "l1".
        pairs: "all" or "adjacent".
        normalize: None, "pairs" or "query".
    """
    if not hasattr(model, "weights"):
        raise InputError(
            f"the objective is that of a linear model, which has weights; got {type(model).__name__}"
        )
    cost = number("C", C, 0.0)
    one_of("loss", loss, LOSSES)
    check_pairs(pairs, normalize)
    data = labelled("objective", X, y, qid, sample_weight)
    scores = data.in_query_order(model.decision_function(data))
    losses, share = losses_of_scores(
        data,
        scores,
        row_weights=data.weights,
        query_weights=data.query_weights,
        adjacent=pairs == "adjacent",
        normalize=normalize,
    )
    if share <= 0.0:
        raise InputError("the objective is a sum over pairs, and the data have none: all labels are equal")
    square = float(model.weights @ model.weights)
    return 0.5 * square + cost * (losses.squares if loss == "l2" else losses.hinges)


def pair_objective(data: RankingData, model: LinearModel, loss: str, lam: float, balanced: bool) -> float:
    """SPD's objective of a model on data that have labels."""
    scores = data.in_query_order(model.decision_function(data))
    rows, queries = _shares(data, balanced)
    if loss == "hinge":
        losses, share = losses_of_scores(data, scores, row_weights=rows, query_weights=queries)
        total = Total(losses.hinges, share)
    else:
        of_query = _squares_of_query if loss == "squared" else _logistic_of_query
        total = Total(0.0, 0.0)
        for query, (start, stop) in enumerate(pairwise(data.offsets.tolist())):
            part = slice(start, stop)
            level = np.unique(np.asarray(data.y)[part], return_inverse=True)[1]
            found = of_query(level, scores[part], rows[part])
            total = total.plus(*(float(queries[query]) * value for value in found))
    if total.share <= 0.0:
        raise InputError("the objective is a mean over pairs, and the data have none: all labels are equal")
    return 0.5 * lam * float(model.weights @ model.weights) + total.loss / total.share


def _shares(data: RankingData, balanced: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights of rows and of queries whose products are the pairs' shares."""
    rows = np.ones(data.n_rows) if data.weights is None else data.weights.astype(np.float64)
    queries = np.ones(data.n_queries) if data.query_weights is None else data.query_weights.astype(np.float64)
    if not balanced:
        return rows, queries
    rows, queries = rows.copy(), queries.copy()
    for query, (start, stop) in enumerate(pairwise(data.offsets.tolist())):
        _, level, counts = np.unique(np.asarray(data.y)[start:stop], return_inverse=True, return_counts=True)
        rows[start:stop] /= counts[level]
        queries[query] /= max(len(counts) * (len(counts) - 1) / 2, 1.0)
    return rows, queries


def _squares_of_query(level: Any, s: Any, a: Any) -> tuple[float, float]:
    """Sums of a_i a_j (1 - s_i + s_j)^2 / 2 and of a_i a_j, from the sums of each level and below."""
    middle = s.mean() if len(s) else 0.0
    mass, first, second = (np.bincount(level, a * (s - middle) ** power) for power in range(3))
    below = [np.cumsum(sums) - sums for sums in (mass, first, second)]
    better = mass - 2.0 * first + second, mass - first  # sums of a (1 - s)^2 and of a (1 - s)
    loss = better[0] * below[0] + 2.0 * better[1] * below[1] + mass * below[2]
    return 0.5 * float(loss.sum()), float((mass * below[0]).sum())


def _logistic_of_query(level: Any, s: Any, a: Any) -> tuple[float, float]:
    """Sums of a_i a_j log(1 + exp(s_j - s_i)) and of a_i a_j, in bounded memory."""
    total, step = Total(0.0, 0.0), max(1, _CELLS // max(len(s), 1))
    if not level.any():
        return total
    for start in range(0, len(s), step):
        i, j = np.nonzero(level[start : start + step, None] > level[None])
        i += start
        share = a[i] * a[j]
        total = total.plus(float(share @ np.logaddexp(0.0, s[j] - s[i])), float(share.sum()))
    return total
