"""What every ranker is: an estimator of scikit-learn's kind that learns from queries and leaves a model.

    ranker.fit(X, y, qid=qid)        or ranker.fit(data)
    ranker.predict(X)                values; ranker.decision_function(X): the scores that rank
    ranker.score(X, y, qid=qid)      how well it ranks: ndcg@10, or what `measure` says
    ranker.model_                    what was learned; scores without any learner, saves itself

With scikit-learn's metadata routing on, `qid` goes wherever it is needed without being asked for: fit and
score request it, and a splitter takes it as its groups.
"""

from __future__ import annotations

import json
import platform
import sys
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from rankloom import __version__
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.base import Model
from rankloom.models.scaled import with_scaling
from rankloom.models.scaling import SPARSE_KINDS, Scaling, learned_scaling, spelled
from rankloom.rankers.validation import labelled, rows_to_score, training_data

if TYPE_CHECKING:
    from rankloom.measures.measure import Measure

DEFAULT_MEASURE = "ndcg@10"


class Ranker(BaseEstimator):
    """The base of all rankers. A ranker has its parameters as arguments of `__init__`, and `_fit`.

    Attributes:
        model_: what was learned.
        n_features_in_: how many features.
        feature_names_in_: their names, if the data had some.
    """

    # With False for the weights of `score`, scikit-learn's Pipeline.score would fail: it always offers them.
    __metadata_request__fit = {"qid": True, "sample_weight": True}  # noqa: RUF012
    __metadata_request__score = {"qid": True, "sample_weight": True}  # noqa: RUF012

    __metadata_request__predict = {"qid": True}  # noqa: RUF012
    __metadata_request__decision_function = {"qid": True}  # noqa: RUF012

    scale: Any = None  # a ranker that scales features has this as a parameter

    model_: Model
    n_features_in_: int
    feature_names_in_: NDArray[Any]

    def _fit(self, data: RankingData) -> Model:
        """Learn from data that has labels, two rows or more, and no missing values unless it takes them."""
        raise NotImplementedError(f"{type(self).__name__} does not say how it learns")

    def _takes_missing(self) -> bool:
        """Whether features may be missing (NaN)."""
        return False

    def fit(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> Self:
        """Learn.

        Args:
            X: features (an array, a sparse matrix, a data frame), or a RankingData, which has all the rest.
            y: labels, larger is better.
            qid: the query of each row, in any order; None is one query over everything.
            sample_weight: the weight of each row.
        """
        data = self._training_data(X, y, qid, sample_weight)
        return self._keep(self._fit_scaled(data), data)

    def _fit_scaled(self, data: RankingData) -> Model:
        """Learn on the scale that the parameter `scale` asks for; the model takes rows as they are."""
        scaling = self._scaling(data)
        if scaling is None:
            return self._fit(data)
        model: Model = with_scaling(self._fit(scaling.applied(data)), scaling)
        return model

    def _scaling(self, data: RankingData) -> Scaling | None:
        """What the parameter `scale` asks for, learned from these rows."""
        return None if self.scale is None else learned_scaling(*spelled(self.scale), data)

    def _training_data(self, X: Any, y: Any, qid: Any, sample_weight: Any) -> RankingData:
        """What a method that learns was given, checked."""
        missing = self._takes_missing()
        return training_data(type(self).__name__, X, y, qid, sample_weight, missing=missing)

    def _keep(self, model: Model, data: RankingData) -> Self:
        """Hold what was learned, with the facts of how."""
        self.model_ = model.with_about(**self._facts(data), **model.about)
        self.n_features_in_ = data.n_features
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def _facts(self, data: RankingData) -> dict[str, Any]:
        parameters = {name: value for name, value in self.get_params(deep=False).items() if _is_plain(value)}
        return {
            "method": self.method_name(),
            "parameters": parameters,
            "data": {"rows": data.n_rows, "queries": data.n_queries, "features": data.n_features},
            "versions": versions(),
        }

    @classmethod
    def method_name(cls) -> str:
        """What the command line calls this ranker."""
        return cls.__name__.lower()

    def predict(self, X: Any, qid: Any = None) -> NDArray[np.float64]:
        """The value of each row, in the order given. A model that scales queries needs their `qid`."""
        return self._model().predict(self._rows(X, qid))

    def decision_function(self, X: Any, qid: Any = None) -> NDArray[np.float64]:
        """The score of each row, in the order given: the larger, the further up it is ranked."""
        return self._model().decision_function(self._rows(X, qid))

    def _model(self) -> Model:
        check_is_fitted(self, "model_")
        return self.model_

    def _rows(self, X: Any, qid: Any = None) -> RankingData:
        """Rows to score, with as many features as were learned from."""
        data, name = rows_to_score(X, qid, missing=self._takes_missing()), type(self).__name__
        if qid is None and self.model_.needs_queries and not isinstance(X, RankingData):
            raise InputError(
                f"{name} has scaled each query by its own rows, so it must know them to score: pass qid "
                "beside X, or a RankingData; all rows of a query at once"
            )
        if data.n_features != self.n_features_in_:
            raise InputError(
                f"X has {data.n_features} features, but {name} is expecting {self.n_features_in_} features "
                "as input; give it the features that it was trained on"
            )
        return data

    def score(self, X: Any, y: Any = None, qid: Any = None, sample_weight: Any = None) -> float:
        """How well the rows are ranked: the mean over queries of ndcg@10, or of the parameter `measure`.

        A measure of which less is better (mse, logloss, ece, auc-loss) counts negative, so that more is
        better in any case; measures of values (mse, logloss, ece) measure `predict`. With `sample_weight`, a
        query weighs what its rows weigh in the mean. Weights of rows in a RankingData are for training only.
        """
        from rankloom.measures.evaluate import evaluate
        from rankloom.measures.presets import LOSSES, POINTS

        model = self._model()
        missing = self._takes_missing()
        data = labelled(type(self).__name__, X, y, qid, sample_weight, missing=missing)
        measure = self._score_measure()
        rows = self._rows(data)
        scores = model.predict(rows) if measure.name in POINTS else model.decision_function(rows)
        weights = None if sample_weight is None else _query_weights(data)
        found = evaluate(scores, data, measures=measure, query_weights=weights)[measure]
        return -found if measure.name in LOSSES else found

    def _score_measure(self) -> Measure:
        """What `score` measures."""
        from rankloom.measures.measure import Measure

        return Measure.parse(getattr(self, "measure", None) or DEFAULT_MEASURE)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = self.scale is None or str(self.scale).startswith(SPARSE_KINDS)
        tags.input_tags.allow_nan = self._takes_missing()
        return tags


def _query_weights(data: RankingData) -> NDArray[np.float64] | None:
    """The mean weight of each query's rows."""
    if data.weights is None or not data.n_queries:
        return None
    means: NDArray[np.float64] = np.add.reduceat(data.weights, data.offsets[:-1]) / data.lengths
    return means


def _is_plain(value: Any) -> bool:
    """Whether a parameter can stand in a model file: not a function that is called back, say."""
    try:
        json.dumps(value, default=lambda other: other.tolist(), allow_nan=False)
    except (TypeError, ValueError, AttributeError, RecursionError):
        return False
    return True


def versions() -> dict[str, str]:
    """What the model was learned with."""
    numba = sys.modules.get("numba")
    found = {"rankloom": __version__, "python": platform.python_version(), "numpy": np.__version__}
    return found if numba is None else {**found, "numba": numba.__version__}
