"""A linear model: what most rankers here learn.

score(x) = weights . x + bias
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.data.columns import as_column, frozen, number_column
from rankloom.data.row_texts import names_of
from rankloom.errors import InputError
from rankloom.models.explanation import Explanation, check_top, contributions, strongest
from rankloom.models.files import Content, damaged
from rankloom.models.kept import as_json, finite
from rankloom.models.scoring import check_fit, linear_scores, rows_of
from rankloom.models.values import ValueModel, checked_link, checked_range

KIND = "linear"


class LinearModel(ValueModel):
    """Weights, a bias, and what `predict` makes of a score. Immutable; knows nothing of how it was learned.

    Args:
        weights: one number per feature.
        bias: added to every score; it changes values, never a ranking.
        link: "identity" or "logistic".
        target_range: (low, high) of the labels, where 0 and 1 of the linked score stand for low and high.
        feature_names: one name per feature, all different.
        about: facts to keep with the model, as JSON has them: method, parameters, measures.
    """

    __slots__ = ("bias", "weights")

    weights: NDArray[np.float64]
    bias: float

    def __init__(
        self,
        weights: Any,
        bias: float = 0.0,
        *,
        link: str = "identity",
        target_range: tuple[float, float] | None = None,
        feature_names: Any = None,
        about: Any = None,
    ) -> None:
        column = as_column(weights, "weights")
        own = number_column(column, "weights", len(column))
        self._hold(
            weights=frozen(own.copy()),
            bias=finite(bias, "bias"),
            link=checked_link(link),
            target_range=checked_range(target_range),
            _names=names_of(feature_names, len(own)),
            _about=as_json(about),
        )

    @property
    def n_features(self) -> int:
        """How many features the model has."""
        return len(self.weights)

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; documents are ranked by it, the largest first.

        X is an array, a sparse matrix, a data frame or a RankingData. The result is the same bits for any
        number of threads.
        """
        rows = rows_of(X)
        check_fit(rows, self.n_features, self.feature_names)
        return linear_scores(rows, self.weights, self.bias, threads)

    def explain(self, X: Any, top: int | None = None) -> Explanation:
        """How much each feature adds to each row's score: weights[j] * x[j], and the bias beside them.

        With `top`, only so many features of each row are kept, the strongest.
        """
        check_top(top)
        rows = rows_of(X)
        check_fit(rows, self.n_features, self.feature_names)
        scores = linear_scores(rows, self.weights, self.bias, None)
        found = contributions(rows, self.weights)
        if top is not None:
            found = strongest(found, top)
        return Explanation(self.bias, scores, found, self.feature_names)

    def named_weights(self, top: int | None = None) -> dict[str, float]:
        """Weights by feature name ("column 0" where there are no names); with `top`, only the largest, those
        first.
        """
        check_top(top)
        places = np.arange(self.n_features)
        if top is not None:
            places = np.argsort(-np.abs(self.weights), kind="stable")[:top]
        names = self.feature_names
        return {
            f"column {place}" if names is None else names[place]: float(self.weights[place])
            for place in places.tolist()
        }

    def content(self) -> Content:
        """What the model's file holds."""
        facts = {"bias": self.bias, **self._facts(), "about": self.about}
        return Content(KIND, facts, {"weights": self.weights})

    @classmethod
    def from_content(cls, path: Any, content: Content) -> LinearModel:
        """The model that a file holds."""
        expected = {"bias", "link", "target_range", "feature_names", "about"}
        weights = content.arrays.get("weights")
        if set(content.facts) != expected or set(content.arrays) != {"weights"}:
            raise damaged(path, "a linear model has weights, " + ", ".join(sorted(expected)))
        if weights is None or weights.dtype != np.float64 or weights.ndim != 1:
            raise damaged(path, "weights must be a list of float64")
        try:
            return cls(weights, **content.facts)
        except (InputError, TypeError) as error:
            raise damaged(path, str(error)) from error

    def __repr__(self) -> str:
        nonzero = int(np.count_nonzero(self.weights))
        parts = [f"{self.n_features:,} feature{'' if self.n_features == 1 else 's'}"]
        if nonzero < self.n_features:
            parts[0] += f" ({nonzero:,} not 0)"
        parts.append(f"bias {self.bias:g}")
        return self._told(parts)
