"""A model and the scaling of its features, as one: it takes rows as they are, and cannot forget to scale.

score(x) = score of the inner model for the scaled x

Where a linear model follows a scaling by columns, the two are one linear model, which `with_scaling` gives.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.explanation import Explanation
from rankloom.models.files import Content, damaged, part, with_parts
from rankloom.models.kept import KeptModel
from rankloom.models.linear import LinearModel
from rankloom.models.scaling import KINDS, PER, Scaling
from rankloom.models.scoring import Rows, check_fit

KIND = "scaled"
_ARRAYS = ("shift", "factor", "knots")


class ScaledModel(KeptModel):
    """A model of any kind behind a scaling of features. Facts and names are the inner model's.

    Args:
        inner: the model for scaled rows.
        scaling: a `QueryScaler` after fit, or its `scaling_`.
    """

    __slots__ = ("inner", "scaling")

    inner: Any
    scaling: Scaling

    def __init__(self, inner: Any, scaling: Any) -> None:
        scaling = getattr(scaling, "scaling_", scaling)
        if not isinstance(scaling, Scaling):
            raise InputError(f"scaling must be a QueryScaler that was fitted, got {type(scaling).__name__}")
        if not hasattr(inner, "decision_function") or not hasattr(inner, "content"):
            raise InputError(f"inner must be a model, such as ranker.model_, got {type(inner).__name__}")
        if inner.n_features != scaling.n_features:
            raise InputError(
                f"the model has {inner.n_features:,} features and the scaling {scaling.n_features:,}; they "
                "must be learned from the same data"
            )
        self._hold(inner=inner, scaling=scaling)

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return self.scaling.n_features

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per feature, or None."""
        names: tuple[str, ...] | None = self.inner.feature_names
        return names

    @property
    def about(self) -> dict[str, Any]:
        """The facts kept with the model, as a new copy."""
        return dict(self.inner.about)

    @property
    def needs_queries(self) -> bool:
        """Whether a row's score depends on the other rows of its query."""
        return self.scaling.per == "query" or bool(self.inner.needs_queries)

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""
        return type(self)(self.inner.with_about(**facts), self.scaling)

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; documents are ranked by it, the largest first.

        X is as for any model, but a RankingData if the scaling is per query.
        """
        scores: NDArray[np.float64] = self.inner.decision_function(self._scaled(X, threads), threads)
        return scores

    def predict(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The value of each row, as the inner model says it."""
        return self.values_of(self.decision_function(X, threads))

    def values_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict` makes of scores."""
        values: NDArray[np.float64] = self.inner.values_of(scores)
        return values

    def explain(self, X: Any, top: int | None = None) -> Explanation:
        """How much each feature, scaled, adds to each row's score, as the inner model explains it."""
        explanation: Explanation = self.inner.explain(self._scaled(X, None), top)
        return explanation

    def _scaled(self, X: Any, threads: int | None) -> RankingData:
        if not isinstance(X, RankingData):
            if self.scaling.per == "query":
                raise InputError(
                    "the model scales each query by its own rows, so it must know them: pass a RankingData, "
                    "or, to a ranker, qid; all rows of a query at once"
                )
            X = RankingData(X)
        check_fit(Rows(X.features, X.order, X.feature_names), self.n_features, self.feature_names)
        return self.scaling.applied(X, threads)

    def content(self) -> Content:
        """What the model's file holds."""
        own = self.scaling._asdict()
        arrays = {name: own[name] for name in _ARRAYS if own[name] is not None}
        facts = {name: own[name] for name in own if name not in _ARRAYS}
        return with_parts(Content(KIND, facts, arrays), {"inner": self.inner.content()})

    @classmethod
    def from_content(cls, path: Any, content: Content) -> Self:
        """The model that a file holds."""
        from rankloom.models.load import model_of

        inner = model_of(path, part(path, content, "inner"))
        facts = {name: value for name, value in content.facts.items() if name != "parts"}
        arrays = {name: content.arrays[name] for name in content.arrays if "." not in name}
        try:
            return cls(inner, _checked(facts, arrays))
        except (ValueError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        return f"ScaledModel({self.scaling.kind} per {self.scaling.per}, {self.inner!r})"


def with_scaling(model: Any, scaling: Scaling) -> Any:
    """The model for rows as they are, where the given one is for scaled rows.

    score = w . ((x - shift) factor) + b = (w factor) . x + (b - (w factor) . shift)
    """
    if type(model) is not LinearModel or scaling.factor is None or scaling.shift is None:
        return ScaledModel(model, scaling)
    weights = model.weights * scaling.factor
    return LinearModel(
        weights,
        model.bias - float(weights @ scaling.shift),
        link=model.link,
        target_range=model.target_range,
        feature_names=model.feature_names,
        about=model.about,
    )


def without_scaling(model: Any, scaling: Scaling) -> Any:
    """The model for scaled rows that `with_scaling` made this one of.

    A feature whose factor is 0 is 0 in all scaled rows, whatever its weight.
    """
    if isinstance(model, ScaledModel):
        return model.inner
    assert scaling.factor is not None
    assert scaling.shift is not None
    factor, there = scaling.factor, scaling.factor != 0.0
    weights = np.divide(model.weights, factor, out=np.zeros(model.n_features), where=there)
    bias = model.bias + float(model.weights @ scaling.shift)
    return LinearModel(weights, bias, feature_names=model.feature_names)


def _checked(facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Scaling:
    """A scaling as a file holds it, if it is one."""
    held: dict[str, Any] = {**facts, **arrays}
    scaling = Scaling(**held)
    kind, per, width = scaling.kind, scaling.per, scaling.n_features
    if kind not in KINDS or per not in PER or type(width) is not int or width < 0:
        raise ValueError("a scaling has a kind, whom it is per, and a number of features")
    expected = () if per == "query" else ("knots",) if kind == "rank" else ("shift", "factor")
    if set(arrays) != set(expected):
        raise ValueError(f"a scaling by {kind} per {per} has {' and '.join(expected) or 'no arrays'}")
    for name, array in arrays.items():
        shape = array.shape[1:] if name == "knots" else array.shape
        if array.dtype != np.float64 or shape != (width,) or not np.isfinite(array).all() or not array.size:
            raise ValueError(f"{name} must be finite numbers, one by feature")
    if "knots" in arrays and (np.diff(arrays["knots"], axis=0) < 0.0).any():
        raise ValueError("knots must rise")
    return scaling
