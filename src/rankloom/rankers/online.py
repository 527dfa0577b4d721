"""What learns online: it ranks a query, is told how good that was, and learns from it, query by query.

    ranker.learn_one_query(X, feedback)     the scores it ranked by, before it learned
    ranker.learn_many(data)                 the same for many queries, bit by bit as if one by one
    ranker.partial_fit(data)                learn_many; ranker.fit(data): from the beginning
    ranker.progress_                        how good those rankings were: over all queries, and over the last

Where the learner stands is a few arrays (`kernels.online.State`), which `save_state` keeps.
"""

from __future__ import annotations

import copy
import os
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import all_finite
from rankloom.data.features import Features, features_from
from rankloom.data.feedback import Feedback
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.kernels.online import State, Work
from rankloom.models.base import Model
from rankloom.models.linear import LinearModel
from rankloom.rankers.base import Ranker, versions
from rankloom.rankers.checks import whole
from rankloom.rankers.descent import kernel_rows
from rankloom.rankers.progress import Meter, Progress
from rankloom.rankers.validation import labelled

_PAIRS_AT_ONCE = 1 << 20
_ALL_PAIRS = 1 << 40
_NO_WEIGHTS = np.empty(0)


class Batch(NamedTuple):
    """Some queries, and what is known of them. Queries have labels, or pairs of their own."""

    features: Features
    offsets: NDArray[np.int64]
    labels: NDArray[np.float64] | None
    row_weights: NDArray[np.float64] | None
    pairs: NDArray[np.int64] | None
    pair_weights: NDArray[np.float64] | None


class Mind(NamedTuple):
    """Where a learner stands."""

    form: int
    state: State
    counts: dict[str, int]
    extra: dict[str, NDArray[Any]]
    """What a method keeps besides: pairs that wait, levels."""


class Online(Ranker):
    """What SOLAR, PRank and the committee perceptron share.

    Attributes:
        progress_: measures of the rankings made, each before it was learned from.
        model_: what was learned.
    """

    max_pairs: Any
    window: Any
    start: Any
    seed: Any
    measure: Any
    _mind: Mind
    _meter: Meter
    _stay: tuple[str, ...] = ()
    """Parameters that what is learned has the shape of."""

    # What a method says of itself.

    def _check(self) -> None:
        """Refuse parameters that cannot be."""

    def _begun(self, n_features: int, state: State) -> Mind:
        """The mind of who has seen nothing; `state` has weights to start from, the rest is empty."""
        raise NotImplementedError

    def _recipe(self, mind: Mind) -> Any:
        raise NotImplementedError

    def _weights(self, mind: Mind) -> NDArray[np.float64]:
        weights: NDArray[np.float64] = mind.state.v * mind.state.scalars[0]
        return weights

    def _found(self, mind: Mind) -> dict[str, Any]:  # noqa: ARG002
        """Facts for the model beyond those that all learners have."""
        return {}

    def _prepared(self, mind: Mind, batch: Batch) -> tuple[Mind, NDArray[np.float64]]:  # noqa: ARG002
        """The mind with room for what comes, and the level of each row where rows are learned."""
        return mind, _NO_WEIGHTS

    def _learns_rows(self) -> bool:
        return False

    # Learning.

    def fit(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Forget everything, and learn query by query, once.

        Args:
            X: features (an array, a sparse matrix, a data frame), or a RankingData, which has all the rest.
            y: labels, larger is better.
            qid: the query of each row, in any order; None is one query over everything.
            sample_weight: the weight of each row; a pair weighs the product of its rows'.
        """
        data = self._training_data(X, y, qid, sample_weight)
        self._check()
        if not self._learns_rows():
            _refuse_no_pairs(data)
        self._begin(data.n_features)
        self._learn_data(data)
        return self

    def partial_fit(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Go on learning, query by query, from where learning stands; the arguments are those of `fit`."""
        self.learn_many(X, y, qid, sample_weight)
        return self

    def learn_many(
        self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None
    ) -> NDArray[np.float64]:
        """Rank and learn query by query. The scores that each query was ranked by, in the caller's order.

        The same bits as `learn_one_query` on each. The arguments are those of `fit`.
        """
        data = labelled(type(self).__name__, X, y, qid, sample_weight)
        if not all_finite(data.values):
            raise InputError(f"{type(self).__name__} cannot learn from missing values (NaN); fill them in")
        self._ready(data.n_features)
        return data.in_caller_order(self._learn_data(data))

    def learn_one_query(self, X: Any, feedback: Any, weights: Any = None) -> NDArray[np.float64]:
        """Rank the rows of one query, then learn from what was said of them. The scores ranked by.

        Args:
            X: the features of the rows.
            feedback: a label for each row, or a `Feedback`: grades, pairs or clicks.
            weights: the weight of each row.
        """
        features, told = self.checked_query(X, feedback)
        own = None if weights is None else np.asarray(weights, dtype=np.float64)
        if own is not None and (own.shape != (features.n_rows,) or not (own >= 0.0).all()):
            raise InputError(f"weights must be {features.n_rows} numbers from 0, got {weights!r:.60}")
        offsets = np.array([0, features.n_rows], dtype=np.int64)
        batch = Batch(features, offsets, told.labels, own, told.pairs, told.weights)
        return self._learn(batch)

    def checked_query(self, X: Any, feedback: Any) -> tuple[Features, Feedback]:
        """Rows and feedback that can be learned from, or an error."""
        features = _table(X)
        told = feedback if isinstance(feedback, Feedback) else Feedback.grades(feedback)
        told.check(features.n_rows)
        self._ready(features.n_features)
        if self._learns_rows() and (told.pairs is not None or told.labels is None):
            raise InputError(f"{type(self).__name__} learns from labels, not from pairs; give grades")
        return features, told

    def rank_one_query(self, X: Any) -> NDArray[np.float64]:
        """The scores of the rows of one query, as `learn_one_query` would give; nothing is learned."""
        features = _table(X)
        self._ready(features.n_features)
        return self._scores(features)

    def _scores(self, features: Features) -> NDArray[np.float64]:
        from rankloom.kernels.online import Feedback as Pairs
        from rankloom.kernels.online import learn

        ends = np.zeros(2, dtype=np.int64)
        nothing = Pairs(ends, np.empty((0, 2), dtype=np.int64), _NO_WEIGHTS, _NO_WEIGHTS)
        offsets, scores = np.array([0, features.n_rows], dtype=np.int64), np.empty(features.n_rows)
        recipe = self._recipe(self._mind)._replace(forget=1.0)
        learn(
            kernel_rows(features), offsets, nothing, recipe, self._mind.state, self._work(features, 0), scores
        )
        return scores

    def begin(self, n_features: int) -> Self:
        """Forget everything, and be ready to rank and learn rows of so many features."""
        self._check()
        return self._begin(whole("n_features", n_features, 1))

    def _begin(self, n_features: int) -> Self:
        from rankloom.kernels.online import SCALARS, SCALE, A

        scalars = np.zeros(SCALARS)
        scalars[[SCALE, A]] = 1.0
        nothing = np.empty(0)
        seeds = np.random.SeedSequence(whole("seed", self.seed, 0))
        seed = seeds.generate_state(1, np.uint64).astype(np.uint64)
        start = start_weights(self.start, n_features)
        state = State(start, nothing, np.empty((0, 0)), nothing, scalars, seed)
        self._check()
        self._meter = Meter(whole("window", self.window, 1))
        self._begun_with = {name: getattr(self, name) for name in ("window", *self._stay)}
        self._mind = self._begun(n_features, state)
        self._changed(n_features)
        return self

    def _ready(self, n_features: int) -> None:
        """Begin, or refuse other features than those learned so far."""
        if not hasattr(self, "_mind"):
            self.begin(n_features)
            return
        known, name = self.n_features_in_, type(self).__name__
        if known != n_features:
            raise InputError(
                f"X has {n_features} features, but {name} is expecting {known} features as input; give it "
                "those it has learned from so far, or fit anew"
            )
        self._check()
        for parameter, value in self._begun_with.items():
            if getattr(self, parameter) != value:
                raise InputError(
                    f"{parameter} must stay {value!r} while learning goes on, got "
                    f"{getattr(self, parameter)!r:.60}; or fit anew"
                )

    def _learn_data(self, data: RankingData) -> NDArray[np.float64]:
        """All queries of some data. Scores in the order of its rows."""
        weights = data.weights
        if data.query_weights is not None:
            spread = np.sqrt(np.repeat(data.query_weights, data.lengths))
            weights = spread if weights is None else weights * spread
        scores = np.empty(data.n_rows)
        for first, last in self._cuts(data):
            start, stop = data.offsets[first], data.offsets[last]
            batch = Batch(
                data.features.rows(int(start), int(stop)),
                data.offsets[first : last + 1] - start,
                None if data.y is None else data.y[start:stop],
                None if weights is None else weights[start:stop],
                None,
                None,
            )
            scores[start:stop] = self._learn(batch)
        names = data.feature_names
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return scores

    def _cuts(self, data: RankingData) -> list[tuple[int, int]]:
        """Runs of queries with a bounded number of pairs."""
        most = np.minimum(data.lengths * (data.lengths - 1) // 2, self._most())
        total, cuts, first = np.concatenate(([0], np.cumsum(most))), [], 0
        while first < data.n_queries:
            last = int(np.searchsorted(total, total[first] + _PAIRS_AT_ONCE, side="right")) - 1
            last = first + 1 if self._one_by_one() else min(max(last, first + 1), data.n_queries)
            cuts.append((first, last))
            first = last
        return cuts

    def _one_by_one(self) -> bool:
        """Whether something is to be done after each query."""
        return False

    def _most(self) -> int:
        if self.max_pairs is None:
            return _ALL_PAIRS
        return whole("max_pairs", self.max_pairs, 1, ", or None for all")

    def _learn(self, batch: Batch) -> NDArray[np.float64]:
        """Rank, measure, learn."""
        from rankloom.kernels.feedback import MEASURES, measure_queries
        from rankloom.kernels.online import Feedback as Pairs
        from rankloom.kernels.online import learn

        n_rows, n_queries = batch.features.n_rows, len(batch.offsets) - 1
        mind, levels = self._prepared(self._mind, batch)
        offsets = np.ascontiguousarray(batch.offsets)
        starts, pairs, weights = self._drawn(batch, mind.state.random)
        scores = np.empty(n_rows)
        most = int(np.diff(starts).max(initial=0))
        work = self._work(batch.features, most)
        told = Pairs(starts, pairs, weights, levels)
        rows, recipe = kernel_rows(batch.features), self._recipe(mind)
        updated = learn(rows, offsets, told, recipe, mind.state, work, scores)
        if batch.labels is not None:
            values = np.full((n_queries, MEASURES), np.nan)
            measure_queries(offsets, _writable(batch.labels), scores, values)
            self._meter.add(values)
        counts = mind.counts
        counts = {"queries": counts["queries"] + n_queries, "rows": counts["rows"] + n_rows}
        mind = mind._replace(counts=counts)
        if self._one_by_one() and updated:
            taken = work.taken[:updated]
            mind = self._learned(mind, batch, pairs[taken], weights[taken] if len(weights) else None)
        self._mind = mind
        self._changed(batch.features.n_features)
        return scores

    def _learned(
        self,
        mind: Mind,
        batch: Batch,  # noqa: ARG002
        pairs: NDArray[np.int64],  # noqa: ARG002
        weights: NDArray[np.float64] | None,  # noqa: ARG002
    ) -> Mind:
        """What is to be done after a query; of its pairs, those that changed something."""
        return mind

    def _drawn(
        self, batch: Batch, random: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Pairs to learn from (or rows), in order: (where each query's start, pairs, their weights)."""
        from rankloom.kernels.feedback import choose_some

        if batch.pairs is not None:
            chosen = choose_some(len(batch.pairs), self._most(), random).astype(np.int64)
            starts = np.array([0, len(chosen)], dtype=np.int64)
            pairs = np.ascontiguousarray(batch.pairs[chosen])
            weights = _NO_WEIGHTS if batch.pair_weights is None else batch.pair_weights[chosen]
        elif self._learns_rows():
            starts = np.ascontiguousarray(batch.offsets)
            order = [
                start + choose_some(stop - start, stop - start, random).astype(np.int64)
                for start, stop in pairwise(starts.tolist())
            ]
            own = np.concatenate(order) if order else np.empty(0, dtype=np.int64)
            pairs, weights = np.ascontiguousarray(np.stack((own, own), axis=1)), _NO_WEIGHTS
        else:
            starts, pairs = self._drawn_by_label(batch, random)
            weights = _NO_WEIGHTS
        if batch.row_weights is not None:
            product = batch.row_weights[pairs[:, 0]]
            if not self._learns_rows():
                product = product * batch.row_weights[pairs[:, 1]]
            weights = product * weights if len(weights) else product
        return starts, pairs, np.ascontiguousarray(weights)

    def _drawn_by_label(
        self, batch: Batch, random: NDArray[np.uint64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        from rankloom.kernels.feedback import draw_pairs

        lengths = np.diff(batch.offsets)
        room = int(np.minimum(lengths * (lengths - 1) // 2, self._most()).sum())
        starts, pairs = np.zeros(len(lengths) + 1, dtype=np.int64), np.empty((room, 2), dtype=np.int64)
        offsets = np.ascontiguousarray(batch.offsets)
        labels = np.zeros(batch.features.n_rows) if batch.labels is None else _writable(batch.labels)
        draw_pairs(offsets, labels, self._most(), random, starts, pairs)
        return starts, pairs[: starts[-1]]

    def _work(self, features: Features, most: int) -> Work:
        """Room for the kernel, kept as long as it is large enough."""
        d, longest = features.n_features, features.n_features
        if features.row_offsets is not None:
            longest = 2 * int(np.diff(features.row_offsets).max(initial=1))
        size = max(d, 64)
        work: Work | None = getattr(self, "_room", None)
        taken = most if self._one_by_one() else 0
        if work is None or len(work.x) < longest or len(work.t) != size or len(work.taken) < taken:
            work = Work(
                np.zeros(longest),
                np.zeros(longest, dtype=np.uint32),
                np.zeros(max(size, 2 * self._rank())),
                np.zeros(size),
                np.zeros(size),
                np.zeros(taken, dtype=np.int64),
            )
            self._room = work
        return work

    def _rank(self) -> int:
        return 0

    # What was learned.

    @property
    def progress_(self) -> Progress:
        """How good the rankings were, each measured before it was learned from."""
        self._model()
        return self._meter.progress()

    def _changed(self, n_features: int) -> None:
        self._kept_model: list[LinearModel] = []
        self.n_features_in_ = n_features

    @property
    def model_(self) -> LinearModel:  # type: ignore[override]
        """What was learned so far; made when it is asked for."""
        if not hasattr(self, "_mind"):
            raise AttributeError(f"this {type(self).__name__} has not learned anything yet; call fit")
        if not self._kept_model:
            names = getattr(self, "feature_names_in_", None)
            model = LinearModel(
                self._weights(self._mind), feature_names=None if names is None else names.tolist()
            )
            self._kept_model.append(model.with_about(**self._about()))
        return self._kept_model[0]

    def _model(self) -> Model:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "_mind")
        return self.model_

    def _about(self) -> dict[str, Any]:
        from rankloom.kernels.online import PAIRS_SEEN, UPDATES
        from rankloom.rankers.base import _is_plain

        scalars = self._mind.state.scalars
        return {
            "method": self.method_name(),
            "parameters": {k: v for k, v in self.get_params(deep=False).items() if _is_plain(v)},
            "data": {**self._mind.counts, "features": self.n_features_in_},
            "learned": {"pairs": int(scalars[PAIRS_SEEN]), "updates": int(scalars[UPDATES])},
            **self._found(self._mind),
            "versions": versions(),
        }

    def __getstate__(self) -> Any:
        held = dict(super().__getstate__())
        held.pop("_room", None)
        return held

    def __setstate__(self, held: Any) -> None:
        """Arrays that were mapped from a file cannot be learned into: those that are kept are copies."""
        super().__setstate__(copy.deepcopy(held))

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Keep where learning stands in a file of plain arrays; `rankloom.resume` goes on bit by bit."""
        from rankloom.rankers.states import write_state

        self._model()
        write_state(self, path)


def _table(X: Any) -> Features:
    if isinstance(X, Features):
        return X
    return X.features if isinstance(X, RankingData) else features_from(X)


def _writable(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from rankloom.kernels.compile import as_kernel

    return as_kernel(values, np.float64)


def _refuse_no_pairs(data: RankingData) -> None:
    if data.y is None:
        return
    first = np.repeat(data.offsets[:-1], data.lengths)
    if not (data.y != data.y[first]).any():
        raise InputError(
            "nothing to learn a ranking from: no two rows of a query differ in label; look at labels and qid"
        )


def start_weights(start: Any, n_features: int) -> NDArray[np.float64]:
    """The weights to begin with: zeros, or those of a linear model."""
    if start is None:
        return np.zeros(n_features)
    if not isinstance(start, LinearModel):
        raise InputError(f"start must be a linear model (rl.load gives one) or None, got {start!r:.80}")
    if start.n_features != n_features:
        raise InputError(
            f"the model to start from has {start.n_features} features, the data {n_features}; "
            "take one that was learned from the same features"
        )
    return np.array(start.weights)
