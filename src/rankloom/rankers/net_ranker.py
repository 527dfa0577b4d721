"""What RankNet and LambdaRank with hidden layers share: parameters, queries in batches, early stopping."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.measures.measure import Measure
from rankloom.models.base import Model
from rankloom.models.net import ACTIVATIONS
from rankloom.rankers.base import Ranker
from rankloom.rankers.checks import flag, number, one_of, unused, whole
from rankloom.rankers.lambdamart import measure_or_default
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
from rankloom.rankers.validation import held_out
from rankloom.rankers.watching import value_of_measure

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

    hidden: Sequence[int] | str
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
        return self._keep(self._learned(data, self._query_batches(data), valid), data)

    def _fit(self, data: RankingData) -> Model:
        model: Model = self._learned(data, self._query_batches(data), None)
        return model

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
            truncation=getattr(self, "truncation", None), threads=1,
        )  # fmt: skip
        return QueryBatch(rows, lambdas, len(queries))

    def _learned(self, data: RankingData, batches: list[Batch], given: Any) -> Any:
        """A model, from batches with gradients, and validation data if there are any."""
        course, valid = self._course(), held_out(type(self).__name__, given, data)
        if valid is None:
            unused("patience", self.patience, None, "validation data: fit(..., valid=data)")
        hidden = self._checked_hidden()
        standard = flag("standardize", self.standardize)
        with repeatable(course.seed) as torch:
            scaling = scaling_of(data, standard)
            if self.module is None:
                net = new_net(data.n_features, hidden, self.activation, course.seed)
            else:
                net = _own_copy(self.module, torch)
            net = net.to(course.device)
            judge = _Judge(net, valid, scaling, course.device, self._score_measure())
            facts = train(net, Table(data, scaling, course.device), batches, course, judge)
            if self.module is None:
                model: Any = model_of_net(net, self.activation, scaling, data.feature_names)
            else:
                model = model_of_module(net, scaling, data.feature_names)
        self.curve_ = np.array(judge.curve)
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
                given = [int(part) for part in given.split(",") if part.strip()]
            except ValueError:
                raise InputError(f'hidden must be whole numbers, as in "64,32", got {given!r:.60}') from None
        if not isinstance(given, (tuple, list)):
            raise InputError(
                f"hidden must be the sizes of the hidden layers, as in (64, 32), got {given!r:.60}"
            )
        return tuple(whole("hidden", size, 1) for size in given)

    def _score_measure(self) -> Measure:
        """What `score` and validation measure: `measure` where it is one."""
        return measure_or_default(self.measure)


class _Judge:
    """How good the net is on validation data, the larger the better; None without any."""

    def __init__(self, net: Any, valid: Any, scaling: Scaling, device: str, measure: Measure) -> None:
        self._net, self._table = net, None if valid is None else Table(valid, scaling, device)
        self._value = None if valid is None else value_of_measure(measure, valid)
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
