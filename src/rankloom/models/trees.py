"""Trees that LightGBM has grown: scores, explanations and importances, kept as LightGBM's own text.

score(x) = sum over trees of the leaf that x falls into  (+ the score of a base model)
         = their mean, for a random forest

LightGBM (`pip install rankloom[trees]`) is imported when a row is scored, not before: a model is loaded,
looked at and passed on without it.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.categories import check_categories
from rankloom.data.features import Features
from rankloom.data.row_texts import names_of
from rankloom.errors import InputError, MissingPackageError, ModelError
from rankloom.models.explanation import Explanation, check_top, column_name, in_caller_order, strongest
from rankloom.models.files import Content, damaged, part, with_parts
from rankloom.models.kept import as_json
from rankloom.models.scoring import check_fit, rows_of
from rankloom.models.tree_text import Forest, read_forest
from rankloom.models.values import ValueModel, checked_link, checked_range

KIND = "trees"
IMPORTANCES = ("gain", "split")
_VALUES_PER_THREAD = 1 << 20
_FACTS = {"link", "target_range", "feature_names", "about"}


class TreeModel(ValueModel):
    """Trees, perhaps on top of another model. Immutable; knows nothing of how it was learned.

    Features may be missing (NaN): LightGBM learns which way they go. Those that trees split by categories
    are whole numbers from 0.

    Args:
        trees: a LightGBM Booster, one of its estimators after fit, or a model text that LightGBM wrote. One
            score a row.
        base: a model of any kind, whose scores are added.
        link: "identity" or "logistic".
        target_range: (low, high) of the labels, where 0 and 1 of the linked score stand for low and high.
        feature_names: one name per feature, all different; None takes those the trees know, if any.
        about: facts to keep with the model, as JSON has them: method, parameters, measures.
    """

    __slots__ = ("_booster", "_forest", "base")

    base: Any
    _forest: Forest
    _booster: Any

    def __init__(
        self,
        trees: Any,
        *,
        base: Any = None,
        link: str = "identity",
        target_range: tuple[float, float] | None = None,
        feature_names: Any = None,
        about: Any = None,
    ) -> None:
        try:
            forest = read_forest(_text_of(trees))
        except ValueError as error:
            raise InputError(f"trees must be a model text of LightGBM: {error}") from error
        names = names_of(forest.names if feature_names is None else feature_names, forest.n_features)
        self._hold(
            base=_checked_base(base, forest.n_features),
            link=checked_link(link),
            target_range=checked_range(target_range),
            _forest=forest,
            _booster=None,
            _names=names,
            _about=as_json(about),
        )

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return self._forest.n_features

    @property
    def n_trees(self) -> int:
        """How many trees."""
        return self._forest.n_trees

    @property
    def categorical(self) -> tuple[int, ...]:
        """The columns that the trees split by categories."""
        return self._forest.categorical

    @property
    def needs_queries(self) -> bool:
        """Whether a row's score depends on the other rows of its query: a base model's may."""
        return self.base is not None and bool(self.base.needs_queries)

    @property
    def text(self) -> str:
        """The trees as LightGBM's text, which `lightgbm.Booster(model_str=...)` reads."""
        return self._forest.text

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""
        new = type(self).__new__(type(self))
        slots = ("base", "link", "target_range", "_forest", "_booster", "_names")
        held = {name: getattr(self, name) for name in slots}
        new._hold(**held, _about=as_json({**self.about, **facts}))
        return new

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; documents are ranked by it, the largest first.

        X is an array, a sparse matrix, a data frame or a RankingData. The result is the same bits for any
        number of threads.
        """
        rows = rows_of(X, allow_missing=True)
        check_fit(rows, self.n_features, self.feature_names)
        scores = rows.in_caller_order(self._predicted(rows.features, threads))
        return scores if self.base is None else scores + self.base.decision_function(X, threads)

    def _predicted(self, features: Features, threads: int | None = None, **how: Any) -> Any:
        """What LightGBM says of each row."""
        check_categories(features, self.categorical, self.feature_names)
        booster = self._opened()
        if not features.n_rows:
            return np.empty(0)
        exact = bool(how)  # contributions come in the type of the values
        return booster.predict(_table(features, exact), num_threads=useful_threads(features, threads), **how)

    def _opened(self) -> Any:
        if self._booster is None:
            lightgbm = load_lightgbm()
            try:
                booster = lightgbm.Booster(model_str=self.text)
            except lightgbm.basic.LightGBMError as error:
                raise ModelError(f"LightGBM cannot read the trees: {error}") from error
            self._hold(_booster=booster)
        return self._booster

    def explain(self, X: Any, top: int | None = None) -> Explanation:
        """How much each feature adds to each row's score: its Shapley value in the trees, by LightGBM.

        What the base model's features add is added to it; the bias is the mean score of the rows that the
        trees were grown on, and the base model's bias. With `top`, only so many features of each row are
        kept, the strongest.
        """
        check_top(top)
        rows = rows_of(X, allow_missing=True)
        check_fit(rows, self.n_features, self.feature_names)
        nothing = Features(np.zeros((1, self.n_features), dtype=np.float32), None, None, self.n_features)
        share = 1.0 / self.n_trees if self._forest.averaged else 1.0
        bias = share * float(self._predicted(nothing, pred_contrib=True)[0, -1])
        if rows.features.n_rows:
            found = self._predicted(rows.features, pred_contrib=True)[:, :-1] * share
        else:
            found = np.zeros((0, self.n_features))
        found = in_caller_order(rows, found)
        if self.base is not None:
            below = self.base.explain(X)
            found, bias = found + below.contributions, bias + below.bias
        if top is not None:
            found = strongest(found, top)
        return Explanation(bias, self.decision_function(X), _as_array(found), self.feature_names)

    def importances(self, kind: str = "gain", top: int | None = None) -> dict[str, float]:
        """How much each feature is used by the trees, by name ("column 0" where there are no names).

        "gain" is the total by which its splits lowered the loss in training, "split" how many there are. With
        `top`, only the largest, those first. A base model is not looked at.
        """
        if kind not in IMPORTANCES:
            raise InputError(f"kind must be one of {', '.join(IMPORTANCES)}, got {kind!r:.60}")
        check_top(top)
        found = self._forest.gains if kind == "gain" else self._forest.counts
        places = np.arange(self.n_features) if top is None else np.argsort(-found, kind="stable")[:top]
        names = self.feature_names
        return {column_name(names, place): float(found[place]) for place in places.tolist()}

    def content(self) -> Content:
        """What the model's file holds."""
        trees = np.frombuffer(self.text.encode(), dtype=np.uint8)
        own = Content(KIND, {**self._facts(), "about": self.about}, {"trees": trees})
        return own if self.base is None else with_parts(own, {"base": self.base.content()})

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds."""
        from rankloom.models.load import model_of

        facts = dict(content.facts)
        has_base = facts.pop("parts", None) is not None
        trees = content.arrays.get("trees")
        if set(facts) != _FACTS or trees is None or trees.dtype != np.uint8 or trees.ndim != 1:
            raise damaged(path, "a tree model has trees (bytes), " + ", ".join(sorted(_FACTS)))
        base = model_of(path, part(path, content, "base")) if has_base else None
        try:
            return cls(trees.tobytes().decode("ascii"), base=base, **facts)
        except ModelError:
            raise
        except (ValueError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        trees, features = self.n_trees, self.n_features
        parts = [f"{trees:,} tree{'' if trees == 1 else 's'}"]
        parts.append(f"{features:,} feature{'' if features == 1 else 's'}")
        if self.base is not None:
            parts.append(f"on top of {self.base!r}")
        return self._told(parts)


def load_lightgbm() -> Any:
    """The package, or what to do about its absence."""
    try:
        import lightgbm
    except ImportError as error:
        raise MissingPackageError('trees need LightGBM: pip install "rankloom[trees]"') from error
    return lightgbm


def useful_threads(features: Features, threads: int | None = None) -> int:
    """How many threads to give LightGBM: its threads wait for each other in a spin, so few rows get one."""
    from rankloom.kernels.threads import thread_count

    return min(thread_count(threads), 1 + features.values.size // _VALUES_PER_THREAD)


def _text_of(trees: Any) -> str:
    """A text, or that of a Booster, or of an estimator that holds one."""
    if isinstance(trees, str):
        return trees
    booster = trees if hasattr(trees, "model_to_string") else getattr(trees, "booster_", None)
    if booster is None:
        got = type(trees).__name__
        raise InputError(f"trees must be a LightGBM Booster, or the text of one, got {got}")
    return str(booster.model_to_string())


def _checked_base(base: Any, n_features: int) -> Any:
    """A model for the same features, or None."""
    if base is None:
        return None
    if not hasattr(base, "decision_function") or not hasattr(base, "content"):
        raise InputError(f"base must be a model, such as ranker.model_, got {type(base).__name__}")
    if base.n_features != n_features:
        raise InputError(
            f"base has {base.n_features:,} features and the trees {n_features:,}; they must agree"
        )
    return base


def _table(features: Features, exact: bool) -> Any:
    """The feature table as LightGBM takes it."""
    values = features.values.astype(np.float64) if exact else features.values
    if features.columns is None or features.row_offsets is None:
        return values
    from scipy.sparse import csr_matrix

    parts = values, features.columns.view(np.int32), features.row_offsets
    return csr_matrix(parts, shape=(features.n_rows, features.n_features))


def _as_array(table: Any) -> Any:
    """A table as NumPy's, or as SciPy's array, whatever it came as."""
    if isinstance(table, np.ndarray):
        return table
    from scipy.sparse import csr_array

    return csr_array(table)
