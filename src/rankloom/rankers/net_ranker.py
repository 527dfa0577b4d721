"""What RankNet and LambdaRank with hidden layers share: queries in batches, learning, early stopping."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.net import ACTIVATIONS
from rankloom.rankers.checks import number, one_of, whole
from rankloom.rankers.descent import mean_one
from rankloom.rankers.lambdas import Lambdas
from rankloom.rankers.net_training import (
    DIVERGED,
    Batch,
    Course,
    Scaling,
    Table,
    checked_device,
    model_of_module,
    model_of_net,
    new_net,
    repeatable,
    scaling_of,
    train,
)


class QueryBatch(NamedTuple):
    """Whole queries, and what their lambdas are made from."""

    rows: NDArray[np.int64]
    lambdas: Lambdas
    n_queries: int

    def gradient(self, scores: NDArray[np.float64]) -> NDArray[np.float32]:
        """The lambdas, over the number of queries."""
        found: NDArray[np.float32] = self.lambdas.gradients(scores).lambdas / np.float32(self.n_queries)
        return found


class Net:
    """Learns a net for a ranker with the parameters hidden, module, activation, epochs, rate, batch, lam,

    sigma, device and seed. `objective` is the Z of the lambdas: "ranknet", a measure, or a function.
    """

    def __init__(self, ranker: Any, objective: Any, truncation: int | None = None) -> None:
        self._ranker, self._objective, self._truncation = ranker, objective, truncation

    def query_batches(self, data: RankingData) -> list[Batch]:
        """Queries that have something to teach, shuffled once, so many a batch."""
        size = whole("batch", self._ranker.batch, 1)
        y = np.asarray(data.y, dtype=np.float64)
        mixed = [
            query
            for query, (start, stop) in enumerate(pairwise(data.offsets.tolist()))
            if stop > start and y[start:stop].min() < y[start:stop].max()
        ]
        if not mixed:
            raise InputError("no query has rows with different labels: there is nothing to learn")
        order = np.random.default_rng(whole("seed", self._ranker.seed, 0)).permutation(mixed)
        groups = [np.sort(order[start : start + size]) for start in range(0, len(order), size)]
        weights = mean_one(data.weights, "sample_weight"), mean_one(data.query_weights, "query_weights")
        return [self._batch_of(data, y, weights, group) for group in groups]

    def _batch_of(
        self, data: RankingData, y: NDArray[np.float64], weights: Any, queries: NDArray[np.int64]
    ) -> QueryBatch:
        lengths = data.lengths[queries]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        rows = np.repeat(data.offsets[queries] - offsets[:-1], lengths) + np.arange(offsets[-1])
        by_row, by_query = weights
        lambdas = Lambdas(
            y[rows],
            offsets,
            self._objective,
            sigma=self._ranker.sigma,
            truncation=self._truncation,
            weights=None if by_row is None else by_row[rows],
            query_weights=None if by_query is None else by_query[queries],
            threads=1,
        )
        return QueryBatch(rows, lambdas, len(queries))

    def learned(self, data: RankingData, batches: list[Batch], valid: RankingData | None) -> Any:
        """A model, from batches with gradients; the ranker gets its `curve_`."""
        ranker, course = self._ranker, self._course()
        hidden = checked_hidden(ranker.hidden)
        with repeatable(course.seed) as torch:
            scaling = scaling_of(data)
            if ranker.module is None:
                net = new_net(data.n_features, hidden, ranker.activation, course.seed)
            else:
                net = _own_copy(ranker.module, torch)
            net = net.to(course.device)
            judge = _Judge(net, valid, scaling, course.device, ranker)
            facts = train(net, Table(data, scaling, course.device), batches, course, judge)
            if ranker.module is None:
                model: Any = model_of_net(net, ranker.activation, scaling, data.feature_names)
            else:
                model = model_of_module(net, scaling, data.feature_names)
        ranker.curve_ = np.array(judge.curve)
        return model.with_about(learning=facts)

    def _course(self) -> Course:
        ranker = self._ranker
        one_of("activation", ranker.activation, ACTIVATIONS)
        return Course(
            whole("epochs", ranker.epochs, 1),
            number("rate", ranker.rate, 0.0),
            number("lam", ranker.lam, 0.0, open_low=False),
            checked_device(ranker.device),
            ranker._patience(),
            whole("seed", ranker.seed, 0),
        )


def checked_hidden(given: Any) -> tuple[int, ...]:
    """The sizes of the hidden layers."""
    if not isinstance(given, (tuple, list)):
        raise InputError(f"hidden must be the sizes of the hidden layers, as in (64, 32), got {given!r:.60}")
    return tuple(whole("hidden", size, 1) for size in given)


class _Judge:
    """How good the net is on validation data, the larger the better; None without any."""

    def __init__(self, net: Any, valid: Any, scaling: Scaling, device: str, ranker: Any) -> None:
        self._net, self._table = net, None if valid is None else Table(valid, scaling, device)
        self._value = None if valid is None else ranker._stop_value(valid)
        self.curve: list[float] = []

    def __call__(self) -> float | None:
        if self._table is None or self._value is None:
            return None
        scores = self._table.scores(self._net)
        if not np.isfinite(scores).all():
            raise InputError(DIVERGED)
        self.curve.append(self._value(scores))
        return self.curve[-1]


def _own_copy(module: Any, torch: Any) -> Any:
    import copy

    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module must be a torch.nn.Module, got {type(module).__name__}")
    return copy.deepcopy(module)
