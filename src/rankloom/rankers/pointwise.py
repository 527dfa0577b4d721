"""Regression on labels as a ranker: rows are ranked by the label they are expected to have (Lee & Lin 2014).

    score(x) = the regressor's prediction for x, whatever x's query

The named regressors are those of their Section 4.5, with its parameters, and ridge regression:

    ridge       sum of (y - w.x - b)^2 + lam |w|^2
    svr         |w|^2 / 2 + C sum of (y - w.x)^2              L2-loss support vector regression, epsilon 0
    svr-l1      (|w|^2 + b^2) / 2 + C sum of |y - w.x - b|    L1-loss, 1,000 passes of LIBLINEAR at most
    forest      40 trees of any depth on samples of the rows, sqrt(n) of the n features tried in each node
    gbdt        gradient boosting: learning rate 0.1, depth 4, 100 trees
"""

from __future__ import annotations

import math
import warnings
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Ridge
from sklearn.svm import LinearSVR
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError, RankloomWarning
from rankloom.models.base import Model
from rankloom.models.linear import LinearModel
from rankloom.models.trees import TreeModel, load_lightgbm, useful_threads
from rankloom.rankers.base import Ranker
from rankloom.rankers.checks import number, one_of, unused, whole
from rankloom.rankers.descent import labels_of, mean_one
from rankloom.rankers.foreign import ForeignModel

LINEAR = ("ridge", "svr", "svr-l1")
TREES = ("forest", "gbdt")
REGRESSORS = LINEAR + TREES
# Whose each parameter is, and what None stands for.
_FOR: dict[str, dict[str, float | int]] = {
    "C": {"svr": 1.0, "svr-l1": 1.0},
    "lam": {"ridge": 1.0},
    "trees": {"forest": 40, "gbdt": 100},
    "depth": {"gbdt": 4},
    "rate": {"gbdt": 0.1},
}
_MOST_LEAVES = 1 << 17
_PASSES = 1000
_ROWS_TRIED = 256


@runtime_checkable
class Regressor(Protocol):
    """Whatever has scikit-learn's `fit` and `predict`."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn."""

    def predict(self, X: Any) -> Any:
        """A number for each row."""


class Pointwise(Ranker):
    """Any regressor as a ranker, or a named one: the baselines that every ranker should beat.

    Args:
        regressor: "ridge", "svr" (L2 loss), "svr-l1" (L1 loss), "forest", "gbdt" (these two grow their trees
            with LightGBM), or any regressor with scikit-learn's `fit` and `predict`, which is left as it is.
        C: of svr and svr-l1, how much errors cost, each row's; None is 1.
        lam: of ridge, how much large weights cost; None is 1.
        trees: of forest and gbdt, how many; None is 40 and 100.
        depth: of gbdt's trees; None is 4.
        rate: of gbdt, how much of each tree is taken; None is 0.1.
        scale: how features are scaled first, as `QueryScaler` does it: "minmax", "standard", "deviation",
            "maxabs" or "rank", over all rows, or "minmax/query" and so on, within each query. The model keeps
            the scaling.
        measure: what `score` measures; None is ndcg@10.
        seed: the same seed, data and parameters give the same bits.

    Attributes:
        regressor_: the regressor after its `fit`; with "forest" and "gbdt", LightGBM's Booster.
    """

    regressor_: Any

    def __init__(
        self,
        regressor: str | Regressor = "ridge",
        *,
        C: float | None = None,
        lam: float | None = None,
        trees: int | None = None,
        depth: int | None = None,
        rate: float | None = None,
        scale: str | None = None,
        measure: Any = None,
        seed: int = 0,
    ) -> None:
        self.regressor, self.C, self.lam = regressor, C, lam
        self.trees, self.depth, self.rate = trees, depth, rate
        self.scale, self.measure, self.seed = scale, measure, seed

    def _takes_missing(self) -> bool:
        if isinstance(self.regressor, str):
            return self.regressor in TREES and self.scale is None
        try:
            return bool(get_tags(self.regressor).input_tags.allow_nan)
        except (AttributeError, TypeError):
            return False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if not isinstance(self.regressor, str):
            tags.input_tags.sparse &= bool(get_tags(self.regressor).input_tags.sparse)
        return tags

    def _fit(self, data: RankingData) -> Model:
        self._check()
        if self.regressor in TREES:
            return self._grown(data)
        regressor, weights = self._made(), row_weights(data)
        given = {}
        if weights is not None:
            if not has_fit_parameter(regressor, "sample_weight"):
                raise InputError(f"{type(regressor).__name__} takes no weights of rows; leave them out")
            given["sample_weight"] = weights
        with warnings.catch_warnings():
            if isinstance(self.regressor, str):
                warnings.simplefilter("ignore", ConvergenceWarning)  # told below, with what to do
            self.regressor_ = regressor.fit(data.X.astype(np.float64), labels_of(data), **given)
        if self.regressor in ("svr", "svr-l1") and np.max(self.regressor_.n_iter_) >= _PASSES:
            told = f"{self.regressor} has not converged in {_PASSES:,} passes: its ranking is not that of C"
            warnings.warn(f"{told}; take a smaller C, or scale the features", RankloomWarning, stacklevel=2)
        return model_of_regressor(self.regressor_, data)

    def _check(self) -> None:
        named = isinstance(self.regressor, str)
        if named:
            one_of("regressor", self.regressor, REGRESSORS)
        elif not isinstance(self.regressor, Regressor) or isinstance(self.regressor, type):
            known = ", ".join(REGRESSORS)
            raise InputError(
                f"regressor must be one of {known}, or have fit and predict, got {self.regressor!r:.60}"
            )
        for name, whose in _FOR.items():
            if not named or self.regressor not in whose:
                needs = " or ".join(f'regressor="{one}"' for one in whose)
                unused(name, getattr(self, name), None, needs)

    def _value(self, name: str) -> Any:
        """A parameter of a named regressor."""
        given = getattr(self, name)
        return _FOR[name][str(self.regressor)] if given is None else given

    def _made(self) -> Any:
        """A regressor of scikit-learn's kind, not fitted."""
        if not isinstance(self.regressor, str):
            return clone(self.regressor, safe=False)
        seed = whole("seed", self.seed, 0)
        if self.regressor == "ridge":
            return Ridge(number("lam", self._value("lam"), 0.0), tol=1e-12)
        squared = self.regressor == "svr"
        return LinearSVR(
            loss="squared_epsilon_insensitive" if squared else "epsilon_insensitive",
            C=number("C", self._value("C"), 0.0),
            dual=not squared,
            fit_intercept=not squared,
            max_iter=_PASSES,
            random_state=seed,
        )

    def _grown(self, data: RankingData) -> TreeModel:
        """By LightGBM; the same bits for any number of threads."""
        lightgbm = load_lightgbm()
        trees = whole("trees", self._value("trees"), 1)
        seed = whole("seed", self.seed, 0)
        how = {
            "objective": "regression",
            "seed": seed,
            "num_threads": useful_threads(data.features),
            **_SAME_BITS,
        }
        how |= self._forest(data) if self.regressor == "forest" else self._boosting()
        weights = mean_one(row_weights(data), "weights")  # LightGBM's least sum of a leaf is for such
        rows = lightgbm.Dataset(lightgbm_table(data), labels_of(data), weight=weights, params=_SAME_BITS)
        self.regressor_ = lightgbm.train(how, rows, trees)
        return TreeModel(self.regressor_, feature_names=data.feature_names)

    def _boosting(self) -> dict[str, Any]:
        depth = whole("depth", self._value("depth"), 1)
        rate = number("rate", self._value("rate"), 0.0, 1.0)
        return {"max_depth": depth, "num_leaves": min(2**depth, _MOST_LEAVES), "learning_rate": rate}

    def _forest(self, data: RankingData) -> dict[str, Any]:
        """A sample of 63.2 % of rows is as many different ones as a bootstrap sample has."""
        tried = max(1, math.isqrt(data.n_features)) / data.n_features
        return {
            "boosting": "rf",
            "bagging_freq": 1,
            "bagging_fraction": 0.632,
            "feature_fraction_bynode": tried,
            "num_leaves": min(max(data.n_rows, 2), _MOST_LEAVES),
            "min_data_in_leaf": 1,
        }


_SAME_BITS = {"verbosity": -1, "deterministic": True, "force_row_wise": True}


def lightgbm_table(data: RankingData) -> Any:
    """The features as LightGBM takes them."""
    if not data.is_sparse:
        return np.asarray(data.X)
    from scipy.sparse import csr_matrix

    return csr_matrix(data.X)


def row_weights(data: RankingData) -> NDArray[np.float64] | None:
    """The weight of each row, times that of its query."""
    if data.query_weights is None:
        return data.weights
    spread = np.repeat(data.query_weights, data.lengths)
    return spread if data.weights is None else data.weights * spread


def model_of_regressor(regressor: Any, data: RankingData) -> Model:
    """What a regressor learned, as a model that can be kept if it is one: linear, or trees of LightGBM.

    Whether it is, is seen from predictions: a regressor with a log link has weights, too.
    """
    foreign = ForeignModel(regressor, data.n_features, data.feature_names)
    few = data.take(slice(0, int(np.searchsorted(data.offsets, _ROWS_TRIED)) + 1))
    expected = foreign.decision_function(few)
    for found in (_linear(regressor, data), _trees(regressor, data)):
        if found is None:
            continue
        scores = found.decision_function(few)
        if np.allclose(scores, expected, rtol=1e-5, atol=1e-6 * max(1.0, float(np.abs(expected).max()))):
            return found
    return foreign


def _linear(regressor: Any, data: RankingData) -> LinearModel | None:
    weights = np.asarray(getattr(regressor, "coef_", np.nan))
    bias = np.asarray(getattr(regressor, "intercept_", 0.0))
    if weights.size != data.n_features or bias.size != 1 or weights.dtype.kind not in "fiu":
        return None
    if not np.isfinite(weights).all():
        return None
    return LinearModel(weights.reshape(-1), float(bias.reshape(())), feature_names=data.feature_names)


def _trees(regressor: Any, data: RankingData) -> TreeModel | None:
    if not type(regressor).__module__.startswith("lightgbm"):
        return None
    try:
        return TreeModel(regressor, feature_names=data.feature_names)
    except InputError:
        return None
