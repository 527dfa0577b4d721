"""LightGBM as a grower of trees: given a gradient and a curvature a row, it adds one tree after another.

    gradients(scores)  ->  a tree  ->  scores  ->  gradients(scores)  ->  ...

Two ways to grow one (`splits`): "newton" chooses splits by gradient and curvature at once, as LightGBM does;
"least-squares" is the paper's MART: the tree that fits the gradient best, whose leaves then get their Newton
step, minus the sum of gradients over that of curvatures.
"""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.trees import load_lightgbm

SPLITS = ("newton", "least-squares")
# What LightGBM is never told by `params`, and who says it instead.
_OURS = {
    "objective": "objective",
    "num_leaves": "leaves",
    "learning_rate": "learning_rate",
    "num_iterations": "n_trees",
    "num_threads": "RANKLOOM_THREADS",
    "seed": "seed",
    "early_stopping_round": "patience",
    "monotone_constraints": "monotone",
    "min_data_in_leaf": "min_data_in_leaf",
    "lambda_l2": "lambda_l2",
    "feature_fraction": "feature_fraction",
    "bagging_fraction": "bagging_fraction",
    "max_bin": "max_bin",
    "use_quantized_grad": "quantised",
    "sigmoid": "sigma",
    "lambdarank_truncation_level": "truncation",
    "lambdarank_norm": "normalisation",
    "categorical_feature": "categorical",
    "linear_tree": "nothing: leaves are numbers",
    "boosting": "nothing: trees are boosted",
    "num_class": "nothing: a row has one score",
    "metric": "stop_measure",
    "data": "fit",
    "valid": "fit",
}
_LEAST_CURVATURE = 1e-12


class Watch(NamedTuple):
    """What is looked at while trees grow: held-out rows, their start, and how good scores of them are."""

    data: RankingData
    start: NDArray[np.float64]
    value: Callable[[NDArray[np.float64]], float]
    patience: int | None


class Grown(NamedTuple):
    """The trees as LightGBM's text; the values of the watch after each; how many trees are kept."""

    text: str
    curve: list[float]
    n_trees: int


class Growing(Protocol):
    """What adds one tree after another; with `draws`, another may grow where one did not."""

    draws: bool
    facts: dict[str, Any]
    watch: Watch | None

    def grow(self, gradients: Callable[[Any], Any]) -> bool:
        """One more tree; False if none could be split off."""

    def watched(self) -> float:
        """How good the held-out rows are ranked."""

    def text(self, n_trees: int, shift: float) -> str:
        """The first trees as LightGBM writes them, the first one's leaves raised by `shift`."""


class Grower:
    """A LightGBM booster with its scores, tree by tree."""

    def __init__(
        self,
        data: RankingData,
        params: dict[str, Any],
        start: NDArray[np.float64],
        splits: str,
        watch: Watch | None,
        categorical: list[int],
    ) -> None:
        self.lightgbm = load_lightgbm()
        self.params, self.categorical = params, categorical
        self.splits = splits
        self.data, self.watch = data, watch
        self.rate = float(params["learning_rate"])
        self.train = self._set(data, start)
        self.booster = self.lightgbm.Booster(params, self.train)
        self.draws = params["feature_fraction"] < 1.0 or params["bagging_fraction"] < 1.0
        self.facts = {"lightgbm": self.lightgbm.__version__}
        self.scores, self.held_out = start.copy(), np.empty(0)
        if watch is not None:
            self.held_out = watch.start.copy()
            if splits == "newton":
                held_out = self._set(watch.data, watch.start, self.train)
                self.booster.add_valid(held_out, "valid")

    def _set(self, data: RankingData, start: NDArray[np.float64], reference: Any = None) -> Any:
        """Rows as LightGBM holds them: cut into bins."""
        labels = np.zeros(data.n_rows, dtype=np.float32)  # it wants some, and reads none
        made = self.lightgbm.Dataset(
            table_of(data),
            labels,
            init_score=start,
            reference=reference,
            params=self.params,
            categorical_feature=self.categorical,
        )
        return made.construct()

    def grow(self, gradients: Callable[[Any], Any]) -> bool:
        """One more tree; False if none could be split off."""
        if self.splits == "newton":
            return not self.booster.update(fobj=lambda scores, _: gradients(scores))
        pull, bend = gradients(self.scores)
        if self.booster.update(fobj=lambda _, __: (pull, np.ones_like(bend))):
            return False
        self._step(pull, bend)
        return True

    def _step(self, pull: Any, bend: Any) -> None:
        """Give the leaves of the last tree their Newton step."""
        tree = self.booster.current_iteration() - 1
        leaves = self._leaves(self.data, tree)
        n = int(leaves.max()) + 1
        sums = np.bincount(leaves, pull, n)
        curves = np.maximum(np.bincount(leaves, bend, n) + self.params["lambda_l2"], _LEAST_CURVATURE)
        values = np.where(np.abs(sums) > 0.0, -self.rate * sums / curves, 0.0)
        for leaf, value in enumerate(values.tolist()):
            self.booster.set_leaf_output(tree, leaf, value)
        self.scores += values[leaves]
        if self.watch is not None:
            # A leaf that no row of the training data is in has no value, nor do held-out rows fall into it.
            self.held_out += values[self._leaves(self.watch.data, tree)]

    def _leaves(self, data: RankingData, tree: int) -> NDArray[np.int64]:
        found = self.booster.predict(
            table_of(data),
            start_iteration=tree,
            num_iteration=1,
            pred_leaf=True,
            num_threads=self.params["num_threads"],
        )
        return np.asarray(found, dtype=np.int64).reshape(-1)

    def watched(self) -> float:
        """How good the held-out rows are ranked."""
        assert self.watch is not None
        if self.splits == "newton":
            value = self.watch.value
            found = self.booster.eval_valid(lambda scores, _: ("value", value(scores), True))
            return float(found[-1][2])
        return self.watch.value(self.held_out)

    def text(self, n_trees: int, shift: float) -> str:
        """The first trees as LightGBM writes them, the first one's leaves raised by `shift`."""
        if shift:
            for leaf in range(_leaves_of_first(self.booster)):
                value = self.booster.get_leaf_output(0, leaf)
                self.booster.set_leaf_output(0, leaf, value + shift)
        return str(self.booster.model_to_string(num_iteration=n_trees))


def grow_trees(grower: Growing, gradients: Callable[[Any], Any], n_trees: int, shift: float) -> Grown:
    """Grow up to n_trees trees; with a watch, keep those up to the best value of its measure.

    `shift` is what every score starts from; the first tree's leaves take it over.
    """
    curve: list[float] = []
    watch, kept = grower.watch, 0
    for number in range(1, n_trees + 1):
        grown = grower.grow(gradients)
        if not grown and not grower.draws:
            break
        kept = number
        if watch is not None:
            curve.append(grower.watched())
            best = int(np.argmax(curve)) + 1
            if watch.patience is not None and number - best >= watch.patience:
                break
    if curve:
        kept = int(np.argmax(curve)) + 1
    kept = max(kept, 1)
    return Grown(grower.text(kept, shift), curve, kept)


def _leaves_of_first(booster: Any) -> int:
    text = booster.model_to_string(num_iteration=1)
    return int(text.partition("num_leaves=")[2].partition("\n")[0])


def table_of(data: RankingData) -> Any:
    """Features as LightGBM takes them, without a copy where it can."""
    if not data.is_sparse:
        return data.values
    from scipy.sparse import csr_matrix

    assert data.columns is not None
    parts = data.values, data.columns.view(np.int32), data.row_offsets
    return csr_matrix(parts, shape=(data.n_rows, data.n_features))


def checked_params(given: Any) -> dict[str, Any]:
    """LightGBM's own parameters, by any of their names."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise InputError(f"params must be a dict of LightGBM's parameters, got {given!r:.60}")
    names = _all_names()
    checked = {}
    for name, value in given.items():
        main = names.get(name, name if not names else None)
        if main is None:
            near = get_close_matches(str(name), list(names), n=1)
            hint = f" (did you mean {near[0]}?)" if near else ""
            raise InputError(f"LightGBM has no parameter {name!r:.60}{hint}")
        if main in _OURS:
            raise InputError(f"params cannot hold {name!r}; that is said by {_OURS[main]}")
        checked[main] = value
    return checked


def _all_names() -> dict[str, str]:
    """Every name of every parameter, with its main name; nothing where LightGBM does not tell."""
    aliases: Any = getattr(load_lightgbm().basic, "_ConfigAliases", None)
    try:
        table = aliases._get_all_param_aliases()
    except AttributeError:
        return {}
    return {name: main for main, others in table.items() for name in [main, *others]}
