"""Features on a common scale, for rankers that mind: over all rows, or within each query.

The parameter `scale` of a ranker does the same, and keeps the scaling in the model.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from rankloom.data.ranking_data import RankingData
from rankloom.errors import InputError
from rankloom.models.scaling import KINDS, PER, SPARSE_KINDS, Scaling, learned_scaling
from rankloom.rankers.checks import one_of
from rankloom.rankers.validation import rows_to_score


class QueryScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Scale features column by column. A column that does not change becomes 0.

    Args:
        kind: "minmax" (to [0, 1]), "standard" (mean 0, deviation 1), "rank" (the share of other rows that a
            value is above), or what leaves zeros alone, and takes sparse data: "maxabs" (the largest
            absolute value 1) and "deviation" (deviation 1).
        per: "all" learns the scale from the rows of `fit`; "query" scales each query by its own rows, those
            of `transform`, which so needs their `qid` (or a RankingData).

    Attributes:
        scaling_: what was learned.
        n_features_in_: how many features.
        feature_names_in_: their names, if the data had some.
    """

    __metadata_request__fit = {"qid": True}  # noqa: RUF012
    __metadata_request__transform = {"qid": True}  # noqa: RUF012

    scaling_: Scaling
    n_features_in_: int

    def __init__(self, kind: str = "minmax", per: str = "all") -> None:
        self.kind, self.per = kind, per

    def fit(self, X: Any, y: Any = None, qid: Any = None) -> Self:  # noqa: ARG002
        """Learn the scale of each column; labels are not looked at."""
        one_of("kind", self.kind, KINDS)
        one_of("per", self.per, PER)
        data = self._data(X, qid)
        if not data.n_rows or not data.n_features:
            what = f"{data.n_features} feature(s)" if data.n_rows else "0 sample(s)"
            shape = f"(shape=({data.n_rows}, {data.n_features}))"
            raise InputError(f"X has {what} {shape} while a minimum of 1 is required.")
        self.scaling_ = learned_scaling(self.kind, self.per, data)
        self.n_features_in_ = data.n_features
        if data.feature_names is not None:
            self.feature_names_in_ = np.array(data.feature_names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        return self

    def transform(self, X: Any, qid: Any = None) -> Any:
        """The rows on the new scale, in the order given: float32, dense or sparse as they came.

        A RankingData becomes a RankingData.
        """
        check_is_fitted(self)
        data = self._data(X, qid)
        if data.n_features != self.n_features_in_:
            raise InputError(
                f"X has {data.n_features} features, but QueryScaler is expecting {self.n_features_in_} "
                "features as input; give it the features that it was fitted on"
            )
        self._check_names(data)
        if isinstance(X, RankingData):
            return self.scaling_.applied(data)
        if not data.is_sparse:
            return data.in_caller_order(self.scaling_.values(data))
        scaled = self.scaling_.applied(data).X
        return scaled.copy() if data.order is None else scaled[np.argsort(data.order)]

    def fit_transform(self, X: Any, y: Any = None, qid: Any = None) -> Any:
        """Learn the scale, and give the rows on it."""
        return self.fit(X, y, qid).transform(X, qid)

    def _data(self, X: Any, qid: Any) -> RankingData:
        if self.per == "query" and qid is None and not isinstance(X, RankingData):
            raise InputError(
                'per="query" scales each query by its own rows, so it must know them: pass qid beside X, or '
                "a RankingData; all rows of a query at once"
            )
        return rows_to_score(X, qid)

    def _check_names(self, data: RankingData) -> None:
        known = getattr(self, "feature_names_in_", None)
        if known is None or data.feature_names is None or tuple(known) == data.feature_names:
            return
        place = next(at for at, name in enumerate(known) if name != data.feature_names[at])
        raise InputError(
            "The feature names should match those that were passed during fit, in the same order: column "
            f"{place} was {known[place]!r}, and now it is {data.feature_names[place]!r}"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float32"]
        tags.input_tags.sparse = self.kind in SPARSE_KINDS
        return tags
