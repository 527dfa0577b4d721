"""LambdaRank (Burges 2010, section 4): a model that follows the lambdas of a measure, some queries at a time.

    lambda_i                            of a batch of queries, from the scores so far
    gradient = sum of lambda_i dF/dw    one pass per batch, however many pairs there are (section 2.1)

A linear model: F(x) = w . (x / deviation), so that every feature has the same say at first; the deviations
are part of the weights in the end. A query's lambdas add up to 0, so no feature needs centring. Steps are
Adam's (Kingma and Ba 2015), their size falling to 0 over all epochs. With hidden layers it is a net, and the
pass is PyTorch's (`rankloom.rankers.net_ranker`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.features import Features
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.base import Model
from rankloom.models.linear import LinearModel
from rankloom.rankers.base import DEFAULT_MEASURE
from rankloom.rankers.checks import number, unused, whole
from rankloom.rankers.descent import mean_one
from rankloom.rankers.lambdas import Gradients, Lambdas
from rankloom.rankers.net_ranker import Net, checked_hidden
from rankloom.rankers.watching import Watching

_FIRST, _SECOND, _TINY = 0.9, 0.999, 1e-8  # Adam's
_ROWS = 1 << 14


class LambdaRank(Watching):
    """A linear ranker or a net that follows lambdas.

    Args:
        measure: what is to become large: a measure (ndcg, dcg, map, mrr, err, p, r, auc, with any
            convention), "ranknet" (each pair alike), or a function of labels in ranked order. Also what
            `score` and early stopping measure, ndcg@10 where it is no measure.
        hidden: how many units each hidden layer has, such as (64, 32); () is a linear model.
        module: a torch.nn.Module that gives one score a row, in place of `hidden`; it is copied.
        activation: of hidden layers: "relu" or "tanh".
        epochs: how often every query is seen.
        rate: the size of the first steps, in deviations of the features.
        batch: how many queries make a step.
        lam: how much large weights cost, beside the mean over queries.
        sigma: how steep the sigmoid of a pair is.
        truncation: pairs count with one of the two among so many first places; None is all.
        patience: with validation data, stop after so many epochs without a better value; None never stops.
        stop_measure: what is measured on the validation data; None is `measure`.
        device: where PyTorch computes, for a net.
        seed: of the order of the batches and of a net's first weights: the same seed, data and parameters
            give the same bits.
    """

    def __init__(
        self,
        measure: Any = DEFAULT_MEASURE,
        *,
        hidden: tuple[int, ...] = (),
        module: Any = None,
        activation: str = "relu",
        epochs: int = 30,
        rate: float = 0.01,
        batch: int = 8,
        lam: float = 0.0,
        sigma: float = 1.0,
        truncation: int | None = None,
        patience: int | None = None,
        stop_measure: Any = None,
        device: str = "cpu",
        seed: int = 0,
    ) -> None:
        self.measure = measure
        self.hidden, self.module, self.activation, self.device = hidden, module, activation, device
        self.epochs, self.rate, self.batch, self.lam = epochs, rate, batch, lam
        self.sigma, self.truncation = sigma, truncation
        self.patience, self.stop_measure, self.seed = patience, stop_measure, seed

    def _learn(self, data: RankingData, valid: RankingData | None) -> Model:
        if self.module is not None or len(checked_hidden(self.hidden)):
            net = Net(self, self.measure, self.truncation)
            learned: Model = net.learned(data, net.query_batches(data), valid)
            return learned
        for name, default in (("activation", "relu"), ("device", "cpu")):
            unused(name, getattr(self, name), default, "a net: hidden=(64, 32), or a module")
        assert data.y is not None
        lambdas = Lambdas(
            data.y,
            data.offsets,
            self.measure,
            sigma=self.sigma,
            truncation=self.truncation,
            weights=mean_one(data.weights, "sample_weight"),
            query_weights=mean_one(data.query_weights, "query_weights"),
        )
        lambdas.refuse_nothing_to_learn()
        weights, curve = self._descend(data, lambdas, valid)
        self.curve_ = np.array(curve)
        if not np.isfinite(weights).all():
            raise InputError("learning diverged: take smaller steps (rate), or scale the features")
        return LinearModel(weights, feature_names=data.feature_names)

    def _descend(
        self, data: RankingData, lambdas: Lambdas, valid: RankingData | None
    ) -> tuple[NDArray[np.float64], list[float]]:
        """The weights, and the values of the validation data after each epoch."""
        epochs, batch = whole("epochs", self.epochs, 1), whole("batch", self.batch, 1)
        rate, lam = number("rate", self.rate, 0.0), number("lam", self.lam, 0.0, open_low=False)
        patience = self._patience()
        value = None if valid is None else self._stop_value(valid)
        scale = 1.0 / deviations(data.features)
        steps = Adam(data.n_features)
        edges = np.append(np.arange(0, data.n_queries, batch), data.n_queries)
        draw = np.random.default_rng(whole("seed", self.seed, 0))
        found = Gradients(np.empty(data.n_rows, np.float32), np.empty(data.n_rows, np.float32))
        scores, curve, best = np.zeros(data.n_rows), [], np.zeros(data.n_features)
        total, done = epochs * (len(edges) - 1), 0
        for _ in range(epochs):
            for place in draw.permutation(len(edges) - 1).tolist():
                first, last = int(edges[place]), int(edges[place + 1])
                rows = slice(int(data.offsets[first]), int(data.offsets[last]))
                part = data.features.rows(rows.start, rows.stop)
                score(part, steps.weights * scale, scores[rows])
                lambdas.fill(scores, first, last, found)
                slope = np.zeros(data.n_features)
                add(part, found.lambdas[rows], slope)
                slope *= scale / (last - first)
                steps.take(slope + lam * steps.weights, rate * (1.0 - done / total))
                done += 1
            if valid is None or value is None:
                continue
            held_out = np.empty(valid.n_rows)
            score(valid.features, steps.weights * scale, held_out)
            curve.append(value(held_out))
            if curve[-1] == max(curve) and curve[-1] > max(curve[:-1], default=-np.inf):
                best = steps.weights.copy()
            if patience is not None and len(curve) - 1 - int(np.argmax(curve)) >= patience:
                break
        return (best if curve else steps.weights) * scale, curve


class Adam:
    """Weights, and the running means of slopes and of their squares."""

    def __init__(self, n: int) -> None:
        self.weights, self._mean, self._square = np.zeros(n), np.zeros(n), np.zeros(n)
        self._first, self._second = 1.0, 1.0

    def take(self, slope: NDArray[np.float64], rate: float) -> None:
        """One step against the slope."""
        self._mean += (1.0 - _FIRST) * (slope - self._mean)
        self._square += (1.0 - _SECOND) * (slope * slope - self._square)
        self._first *= _FIRST
        self._second *= _SECOND
        spread = np.sqrt(self._square / (1.0 - self._second)) + _TINY
        self.weights -= rate / (1.0 - self._first) * self._mean / spread


def score(features: Features, weights: NDArray[np.float64], scores: NDArray[np.float64]) -> None:
    """Fill scores with weights . x."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.linear import score_dense, score_sparse

    values = as_kernel(features.values, np.float32)
    if features.columns is None or features.row_offsets is None:
        score_dense(values, weights, 0.0, scores)
        return
    columns = as_kernel(features.columns, np.uint32)
    score_sparse(values, columns, as_kernel(features.row_offsets, np.int64), weights, 0.0, scores)


def add(features: Features, pulls: NDArray[np.float32], total: NDArray[np.float64]) -> None:
    """Add pull x row to the total, for every row."""
    from rankloom.kernels.compile import as_kernel
    from rankloom.kernels.linear import add_dense, add_sparse

    values, pulls = as_kernel(features.values, np.float32), as_kernel(pulls, np.float32)
    if features.columns is None or features.row_offsets is None:
        add_dense(values, pulls, total)
        return
    columns = as_kernel(features.columns, np.uint32)
    add_sparse(values, columns, as_kernel(features.row_offsets, np.int64), pulls, total)


def deviations(features: Features) -> NDArray[np.float64]:
    """The standard deviation of each feature; 1 where it is 0."""
    n, width = features.n_rows, features.n_features
    if features.columns is not None:
        values = features.values.astype(np.float64)
        columns = features.columns.astype(np.int64)
        mean = np.bincount(columns, values, width) / n
        counts = np.bincount(columns, minlength=width)
        square = np.bincount(columns, (values - mean[columns]) ** 2, width) + (n - counts) * mean**2
    else:
        mean, square = np.zeros(width), np.zeros(width)
        for start in range(0, n, _ROWS):
            mean += features.values[start : start + _ROWS].sum(axis=0, dtype=np.float64) / n
        for start in range(0, n, _ROWS):
            square += ((features.values[start : start + _ROWS] - mean) ** 2).sum(axis=0)
    found = np.sqrt(square / n)
    return np.asarray(np.where(found > 0.0, found, 1.0))
