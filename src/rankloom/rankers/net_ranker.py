"""What RankNet and LambdaRank with hidden layers share: parameters, queries in batches, early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.measure import Measure
from rankloom.measures.presets import POINTS
from rankloom.models.net import ACTIVATIONS
from rankloom.rankers.base import DEFAULT_MEASURE, Ranker
from rankloom.rankers.checks import flag, number, one_of, whole
from rankloom.rankers.lambdas import Lambdas
from rankloom.rankers.net_training import (
    Batch,
    Course,
    Table,
    checked_device,
    model_of_module,
    model_of_net,
    new_net,
    repeatable,
    scaling_of,
    train,
)
from rankloom.rankers.validation import labelled

OPTIMIZERS = ("adam", "sgd")


class QueryBatch(NamedTuple):
    """Whole queries, and what their lambdas are made from."""

    rows: NDArray[np.int64]
    lambdas: Lambdas
    n_queries: int

    def gradient(self, scores: NDArray[np.float64]) -> NDArray[np.float32]:
        """The lambdas, over the number of queries."""
        found: NDArray[np.float32] = self.lambdas.gradients(scores).lambdas / np.float32(self.n_queries)
        return found


class NetRanker(Ranker):
    """The base of rankers that are nets. A subclass says which lambdas, by `_lambdas`."""

    hidden: Sequence[int]
    module: Any
    activation: str
    epochs: int
    batch: int
    learning_rate: float
    optimizer: str
    weight_decay: float
    standardize: bool
    sigma: float
    patience: int | None
    device: str
    measure: Any
    seed: int

    def _lambdas(self) -> Any:
        """The Z of the lambdas: "ranknet", a measure, or a function."""
        raise NotImplementedError(f"{type(self).__name__} does not say what its lambdas are")

    def fit(
        self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None, *, valid: Any = None
    ) -> Self:
        """Learn.

        Args:
            X: features (an array, a sparse matrix, a data frame), or a RankingData, which has all the rest.
            y: labels, larger is better.
            qid: the query of each row, in any order; None is one query over everything.
            sample_weight: the weight of each row; a pair weighs the product of its rows' weights.
            valid: a RankingData to measure after each epoch; the parameters of the best epoch are kept.
        """
        data = self._training_data(X, y, qid, sample_weight)
        if valid is not None:
            valid = self._checked_valid(valid, data)
        return self._keep(self._learned(data, self._query_batches(data), valid), data)

    def _checked_valid(self, valid: Any, data: RankingData) -> RankingData:
        if not isinstance(valid, RankingData):
            raise InputError(f"valid must be a RankingData with labels, got {type(valid).__name__}")
        checked = labelled(type(self).__name__, valid, None, None, None)
        if checked.n_features != data.n_features:
            raise InputError(
                f"valid has {checked.n_features:,} features and the training data {data.n_features:,}"
            )
        return checked

    def _query_batches(self, data: RankingData) -> list[Batch]:
        """Queries that have something to teach, shuffled once, so many a batch."""
        size = whole("batch", self.batch, 1)
        number("sigma", self.sigma, 0.0)
        y = np.asarray(data.y, dtype=np.float64)
        mixed = [
            query
            for query, (start, stop) in enumerate(zip(data.offsets[:-1], data.offsets[1:], strict=True))
            if stop > start and y[start:stop].min() < y[start:stop].max()
        ]
        if not mixed:
            raise InputError("no query has rows with different labels: there is nothing to learn")
        order = np.random.default_rng(whole("seed", self.seed, 0)).permutation(mixed)
        groups = [np.sort(order[start : start + size]) for start in range(0, len(order), size)]
        return [self._batch_of(data, y, group) for group in groups]

    def _batch_of(self, data: RankingData, y: NDArray[np.float64], queries: NDArray[np.int64]) -> QueryBatch:
        lengths = data.lengths[queries]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        rows = np.repeat(data.offsets[queries] - offsets[:-1], lengths) + np.arange(offsets[-1])
        weights = None if data.weights is None else data.weights[rows]
        by_query = None if data.query_weights is None else data.query_weights[queries]
        lambdas = Lambdas(
            y[rows], offsets, self._lambdas(), sigma=self.sigma, weights=weights, query_weights=by_query,
            threads=1,
        )  # fmt: skip
        return QueryBatch(rows, lambdas, len(queries))

    def _learned(self, data: RankingData, batches: list[Batch], valid: RankingData | None) -> Any:
        """A model, from batches with gradients."""
        course = self._course()
        hidden = self._checked_hidden()
        standard = flag("standardize", self.standardize)
        with repeatable(course.seed) as torch:
            scaling = scaling_of(data, standard)
            if self.module is None:
                net = new_net(data.n_features, hidden, self.activation, course.seed)
            else:
                net = _own_copy(self.module, torch)
            net = net.to(course.device)
            judge = _Judge(net, valid, scaling, course.device, self._stopping_measure())
            facts = train(net, Table(data, scaling, course.device), batches, course, judge)
            if self.module is None:
                model: Any = model_of_net(net, self.activation, scaling, data.feature_names)
            else:
                model = model_of_module(net, scaling, data.feature_names)
        self.validation_ = judge.values
        return model.with_about(learning=facts)

    def _course(self) -> Course:
        patience = None if self.patience is None else whole("patience", self.patience, 1)
        one_of("activation", self.activation, ACTIVATIONS)
        return Course(
            whole("epochs", self.epochs, 1),
            number("learning_rate", self.learning_rate, 0.0),
            one_of("optimizer", self.optimizer, OPTIMIZERS),
            number("weight_decay", self.weight_decay, 0.0, open_low=False),
            checked_device(self.device),
            patience,
            whole("seed", self.seed, 0),
        )

    def _checked_hidden(self) -> tuple[int, ...]:
        given: Any = self.hidden
        if isinstance(given, str):
            try:
                given = [int(part) for part in given.replace("x", ",").split(",") if part.strip()]
            except ValueError:
                raise InputError(f'hidden must be whole numbers, as in "64,32", got {given!r:.60}') from None
        if not isinstance(given, (tuple, list)):
            raise InputError(
                f"hidden must be the sizes of the hidden layers, as in (64, 32), got {given!r:.60}"
            )
        return tuple(whole("hidden", size, 1) for size in given)

    def _stopping_measure(self) -> Measure:
        measure = Measure.parse(self.measure or DEFAULT_MEASURE)
        if measure.name in POINTS:
            raise InputError(f"measure must be one of rankings, such as ndcg@10, got {measure}")
        return measure


class _Judge:
    """How good the net is on validation data after each epoch; None without any."""

    def __init__(self, net: Any, valid: Any, scaling: Any, device: str, measure: Measure) -> None:
        self._net, self._valid, self._measure = net, valid, measure
        self.values: list[float] = []
        if valid is not None:
            self._table = Table(valid, scaling, device)
            self._places = valid.order

    def __call__(self, epoch: int) -> float | None:
        """The measure, turned so that more is better."""
        from rankloom.measures.evaluate import evaluate

        if self._valid is None:
            return None
        scores = self._table.scores(self._net)
        if not np.isfinite(scores).all():
            raise InputError("learning diverged: scores are no numbers; take a smaller learning_rate")
        if self._places is not None:
            own, scores = scores, np.empty_like(scores)
            scores[self._places] = own
        value = evaluate(scores, self._valid, measures=self._measure)[self._measure]
        self.values.append(value)
        return -value if self._measure.lower_is_better else value


def _own_copy(module: Any, torch: Any) -> Any:
    import copy

    if not isinstance(module, torch.nn.Module):
        raise InputError(f"module must be a torch.nn.Module, got {type(module).__name__}")
    return copy.deepcopy(module)
