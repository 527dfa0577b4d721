"""LambdaMART (Burges 2010, section 7): boosted trees that follow the lambdas of a measure.

for k in 1 .. N:
    lambda_i, w_i                 from the scores so far                    (rankloom.kernels.lambdas)
    a tree with L leaves          on the lambdas                            (LightGBM, or symmetric.py)
    value of leaf l               -sum of lambda_i / (lambda_l2 + sum of w_i) over its rows
    F_k = F_(k-1) + learning_rate x the value of the leaf each row is in
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.categories import check_categories
from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.load import load
from rankloom.models.trees import TreeModel, useful_threads
from rankloom.rankers.base import DEFAULT_MEASURE
from rankloom.rankers.boosting import SPLITS, Grower, Growing, Watch, checked_params, grow_trees
from rankloom.rankers.checks import flag, number, one_of, unused, whole
from rankloom.rankers.descent import mean_one
from rankloom.rankers.lambdas import Gradients, Lambdas
from rankloom.rankers.point_losses import POINTWISE, PointLoss
from rankloom.rankers.watching import Watching

TREES = ("leaf-wise", "symmetric")
OBJECTIVES = ("lambdas", *POINTWISE)
DAMPING_ROWS = {"leaf-wise": 30, "symmetric": 10}
_FOR_LAMBDAS = {"sigma": 1.0, "truncation": None, "normalisation": None, "noise": 0.0, "draws": 1}
_OF_LIGHTGBM = {"splits": "newton", "quantised": False, "monotone": None, "categorical": None, "params": None}


class LambdaMART(Watching):
    """Boosted trees that rank.

    Args:
        measure: what the trees learn to make large: a measure (ndcg, dcg, map, mrr, err, p, r, auc, with any
            convention), "ranknet" (each pair alike), or a function of labels in ranked order. Also what
            `score` and early stopping measure, ndcg@10 where it is no measure.
        objective: "lambdas", or row by row "regression", "logistic" (two labels) or "balanced" (two labels,
            of equal weight however rare one is).
        trees: "leaf-wise", where the leaf that gains most is split next, or "symmetric", where each level
            asks one question of all its leaves.
        n_trees: how many trees at most.
        leaves: how many leaves a tree has at most; symmetric trees round up to 2, 4, 8, ... 256.
        learning_rate: what part of each Newton step is taken.
        sigma: how steep the sigmoid of a pair is.
        truncation: pairs count with one of the two among so many first places; None is all.
        normalisation: None, or "lightgbm", whose lambdarank it then is (measure="ndcg").
        noise: for each tree, scores are shaken by so much Gumbel noise (over sigma) before the lambdas are
            taken: lists are then drawn by their scores, not sorted.
        draws: with noise, the lambdas are means over so many draws.
        splits: "newton", or "least-squares" as in the paper.
        patience: with validation data, stop after so many trees without a better value; None never stops.
        stop_measure: what is measured on the validation data; None is `measure`.
        base: a model, or the file of one, whose scores are where learning starts; it goes into the new model.
        min_data_in_leaf: how many rows a leaf has at least.
        lambda_l2: added to a leaf's sum of w, so that few rows take short steps. None is as much as 30 rows
            (10 of symmetric trees) have on average at scores of 0 (for the objective "lambdas" without
            normalisation; else 0).
        feature_fraction: the part of features that each tree looks at.
        bagging_fraction: the part of rows that each tree looks at.
        max_bin: how many values of a feature are told apart.
        quantised: sums of small whole numbers in place of gradients: faster, about as good; the bits then
            depend on the number of threads.
        monotone: a number per feature, or a dict from name or column to number: 1 where scores must not fall
            as the feature rises, -1 where they must not rise, 0 for free.
        categorical: the features that are categories, by name or column number (from 0), in a list or as text
            with commas between them. Their values are whole numbers from 0.
        params: further parameters of LightGBM, by its names.
        seed: the same seed, data and parameters give the same bits.
    """

    def __init__(
        self,
        measure: Any = DEFAULT_MEASURE,
        *,
        objective: str = "lambdas",
        trees: str = "leaf-wise",
        n_trees: int = 100,
        leaves: int = 31,
        learning_rate: float = 0.1,
        sigma: float = 1.0,
        truncation: int | None = None,
        normalisation: str | None = None,
        noise: float = 0.0,
        draws: int = 1,
        splits: str = "newton",
        patience: int | None = None,
        stop_measure: Any = None,
        base: Any = None,
        min_data_in_leaf: int = 20,
        lambda_l2: float | None = None,
        feature_fraction: float = 1.0,
        bagging_fraction: float = 1.0,
        max_bin: int = 255,
        quantised: bool = False,
        monotone: Any = None,
        categorical: Any = None,
        params: dict[str, Any] | None = None,
        seed: int = 0,
    ) -> None:
        self.measure, self.objective, self.trees = measure, objective, trees
        self.n_trees, self.leaves, self.learning_rate = n_trees, leaves, learning_rate
        self.sigma, self.truncation, self.normalisation = sigma, truncation, normalisation
        self.noise, self.draws, self.splits = noise, draws, splits
        self.patience, self.stop_measure = patience, stop_measure
        self.base, self.min_data_in_leaf, self.lambda_l2 = base, min_data_in_leaf, lambda_l2
        self.feature_fraction, self.bagging_fraction = feature_fraction, bagging_fraction
        self.max_bin, self.quantised, self.monotone = max_bin, quantised, monotone
        self.categorical, self.params, self.seed = categorical, params, seed

    _texts = (*Watching._texts, "base", "categorical")

    def _takes_missing(self) -> bool:
        return True

    def _learn(self, data: RankingData, valid: RankingData | None) -> TreeModel:
        base = checked_base(self.base, data)
        objective, shift = self._objective(data)
        start = np.zeros(data.n_rows) if base is None else data.in_query_order(base.decision_function(data))
        if base is not None:
            shift = 0.0
        watch = None if valid is None else self._watch(valid, base, shift)
        damping = self._damping(objective)
        symmetric = one_of("trees", self.trees, TREES) == "symmetric"
        made = self._symmetric if symmetric else self._grower
        grower = made(data, damping, start + shift, watch)
        gradients = self._shaken(objective.gradients)
        grown = grow_trees(grower, gradients, whole("n_trees", self.n_trees, 1), shift)
        self.curve_ = np.array(grown.curve)
        logistic = self.objective in ("logistic", "balanced")
        return TreeModel(
            grown.text,
            base=base,
            link="logistic" if logistic else "identity",
            target_range=objective.target_range if logistic else None,
            feature_names=data.feature_names,
            about={"trees": grown.n_trees, **grower.facts},
        )

    def _symmetric(
        self, data: RankingData, damping: float, start: NDArray[np.float64], watch: Watch | None
    ) -> Growing:
        from rankloom.rankers.symmetric import Setting, SymmetricGrower

        for name, default in _OF_LIGHTGBM.items():
            unused(name, getattr(self, name), default, 'trees="leaf-wise"')
        return SymmetricGrower(data, Setting(**self._common(), lambda_l2=damping), start, watch)

    def _grower(
        self, data: RankingData, damping: float, start: NDArray[np.float64], watch: Watch | None
    ) -> Growing:
        splits = one_of("splits", self.splits, SPLITS)
        params = {**self._all_params(data), "lambda_l2": damping}
        categorical = categories(self.categorical, data)
        if any(np.take(params.get("monotone_constraints", np.zeros(data.n_features)), categorical)):
            raise InputError("monotone must be 0 for features in categorical: categories have no order")
        if watch is not None:
            check_categories(watch.data.features, categorical, data.feature_names)
        if splits == "least-squares" and params["use_quantized_grad"]:
            raise InputError('quantised=True needs splits="newton"; leave one of the two out')
        try:
            return Grower(data, params, start, splits, watch, categorical)
        except Exception as error:
            if type(error).__name__ == "LightGBMError":
                raise InputError(f"LightGBM refuses: {error}") from error
            raise

    def _damping(self, objective: Any) -> float:
        """What is added to a leaf's sum of w; in rows, since w is of the size of the measure's changes."""
        if self.lambda_l2 is not None:
            return float(number("lambda_l2", self.lambda_l2, 0.0, open_low=False))
        if self.objective != "lambdas" or self.normalisation is not None:
            return 0.0
        at_zero = objective.gradients(np.zeros(len(objective.labels)))
        return DAMPING_ROWS[one_of("trees", self.trees, TREES)] * float(
            at_zero.weights.mean(dtype=np.float64)
        )

    def _shaken(self, gradients: Callable[[Any], Any]) -> Callable[[Any], Any]:
        """The gradients at scores with noise, anew each time."""
        noise = number("noise", self.noise, 0.0, open_low=False) / number("sigma", self.sigma, 0.0)
        draws = whole("draws", self.draws, 1)
        if not noise:
            unused("draws", draws, 1, "noise")
            return gradients
        rng = np.random.default_rng(whole("seed", self.seed, 0))

        def shaken(scores: NDArray[np.float64]) -> Gradients:
            found = [gradients(scores + rng.gumbel(0.0, noise, len(scores))) for _ in range(draws)]
            return Gradients(*(np.mean(parts, axis=0) for parts in zip(*found, strict=True)))

        return shaken

    def _objective(self, data: RankingData) -> tuple[Any, float]:
        """What gives the gradients, and the score at which all rows start."""
        weights = mean_one(data.weights, "sample_weight")
        queries = mean_one(data.query_weights, "query_weights")
        assert data.y is not None
        if one_of("objective", self.objective, OBJECTIVES) != "lambdas":
            for name, default in _FOR_LAMBDAS.items():
                unused(name, getattr(self, name), default, 'objective="lambdas"')
            rows = np.ones(data.n_rows) if weights is None else weights
            if queries is not None:
                rows = rows * np.repeat(queries, data.lengths)
            loss = PointLoss(self.objective, data.y, rows)
            return loss, loss.start
        lambdas = Lambdas(
            data.y,
            data.offsets,
            self.measure,
            sigma=self.sigma,
            truncation=self.truncation,
            normalisation=self.normalisation,
            weights=weights,
            query_weights=queries,
        )
        lambdas.refuse_nothing_to_learn()
        return lambdas, 0.0

    def _watch(self, valid: RankingData, base: Any, shift: float) -> Watch:
        start = np.full(valid.n_rows, shift)
        if base is not None:
            start = valid.in_query_order(base.decision_function(valid))
        return Watch(valid, start, self._stop_value(valid), self._patience())

    def _common(self) -> dict[str, Any]:
        """What both kinds of trees are grown by."""
        return {
            "leaves": whole("leaves", self.leaves, 2),
            "learning_rate": number("learning_rate", self.learning_rate, 0.0),
            "min_data_in_leaf": whole("min_data_in_leaf", self.min_data_in_leaf, 1),
            "feature_fraction": number("feature_fraction", self.feature_fraction, 0.0, 1.0),
            "bagging_fraction": number("bagging_fraction", self.bagging_fraction, 0.0, 1.0),
            "max_bin": whole("max_bin", self.max_bin, 2),
            "seed": whole("seed", self.seed, 0),
        }

    def _all_params(self, data: RankingData) -> dict[str, Any]:
        """Everything that LightGBM is told."""
        common = self._common()
        own: dict[str, Any] = {
            "objective": "custom",
            "num_leaves": common.pop("leaves"),
            **common,
            "use_quantized_grad": flag("quantised", self.quantised),
            "num_threads": useful_threads(data.features),
            "feature_pre_filter": False,  # with it, LightGBM fails where no feature can be split
            "verbosity": -1,
            "deterministic": True,
        }
        given = checked_params(self.params)
        if "force_col_wise" not in given:
            own["force_row_wise"] = True
        if self.bagging_fraction < 1.0:
            own["bagging_freq"] = 1
        if self.quantised:
            own |= {"num_grad_quant_bins": 16, "quant_train_renew_leaf": True}
        monotone = constraints(self.monotone, data)
        if monotone is not None:
            own["monotone_constraints"] = monotone
        return {**own, **given}


def checked_base(given: Any, data: RankingData) -> Any:
    """The model to start from: a model, a ranker that has learned, or a file."""
    if given is None:
        return None
    base = load(given) if isinstance(given, str) else getattr(given, "model_", given)
    if not hasattr(base, "decision_function") or not hasattr(base, "content"):
        raise InputError(f"base must be a model, such as ranker.model_, got {type(base).__name__}")
    if base.n_features != data.n_features:
        raise InputError(
            f"base has {base.n_features:,} features and the data {data.n_features:,}; they must agree"
        )
    return base


def categories(given: Any, data: RankingData) -> list[int]:
    """The columns of the features that are categories, in order."""
    if given is None:
        return []
    if not isinstance(given, (str, list, tuple, np.ndarray)):
        raise InputError(f"categorical must be a list of names or column numbers, got {given!r:.60}")
    wanted: list[Any] = list(given)
    if isinstance(given, str):
        parts = [part.strip() for part in given.split(",")]
        names = data.feature_names or ()
        wanted = [int(part) if part.isdecimal() and part not in names else part for part in parts]
    found = sorted({feature_place("categorical", one, data) for one in wanted})
    check_categories(data.features, found, data.feature_names)
    return found


def feature_place(parameter: str, given: Any, data: RankingData) -> int:
    """The column of a feature: a name of the data's, or a number."""
    names = list(data.feature_names or [])
    place = names.index(given) if given in names else given
    if (
        isinstance(place, bool)
        or not isinstance(place, (int, np.integer))
        or not 0 <= place < data.n_features
    ):
        raise InputError(f"{parameter} names the feature {given!r:.60}, which the data do not have")
    return int(place)


def constraints(given: Any, data: RankingData) -> list[int] | None:
    """One of -1, 0, 1 for each feature."""
    if given is None:
        return None
    if isinstance(given, dict):
        found = [0] * data.n_features
        for name, value in given.items():
            found[feature_place("monotone", name, data)] = value
    else:
        found = list(given)
    if len(found) != data.n_features or any(value not in (-1, 0, 1) for value in found):
        raise InputError(f"monotone must be -1, 0 or 1 for each of {data.n_features:,} features")
    return [int(value) for value in found]
