"""A model of another library: it scores here, and is kept by those who know how."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.models.kept import KeptModel, as_json
from rankloom.models.scoring import check_fit, rows_of


class ForeignModel(KeptModel):
    """A regressor after its fit, as a model. It cannot be saved: its file would have to be a pickle.

    Args:
        regressor: what has `predict`.
        n_features: how many features it has learned from.
        feature_names: one name per feature, or None.
        about: facts to keep with the model.
    """

    __slots__ = ("n_features", "regressor")

    n_features: int
    regressor: Any

    def __init__(
        self, regressor: Any, n_features: int, feature_names: tuple[str, ...] | None, about: Any = None
    ) -> None:
        self._hold(regressor=regressor, n_features=n_features, _names=feature_names, _about=as_json(about))

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""
        about = {**self.about, **facts}
        return type(self)(self.regressor, self.n_features, self.feature_names, about)

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:  # noqa: ARG002
        """The regressor's prediction of each row, in the caller's order; it has its own threads."""
        rows = rows_of(X, allow_missing=True)
        check_fit(rows, self.n_features, self.feature_names)
        if not rows.features.n_rows:
            return np.empty(0)
        table = rows.features.values if rows.features.row_offsets is None else _csr(rows.features)
        found = np.asarray(self.regressor.predict(table), dtype=np.float64)
        if found.shape not in ((rows.features.n_rows,), (rows.features.n_rows, 1)):
            raise InputError(
                f"a regressor must predict one number a row, got an array of shape {found.shape}"
            )
        return rows.in_caller_order(found.reshape(-1))

    def predict(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The same: a regressor's scores are its values."""
        return self.decision_function(X, threads)

    def values_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict` makes of scores."""
        return scores

    def explain(self, X: Any, top: int | None = None) -> NoReturn:  # noqa: ARG002
        """Not known: only the regressor's own library could say."""
        raise InputError(f"only its own library could explain a {type(self.regressor).__name__}")

    def content(self) -> NoReturn:
        """There is none."""
        name = type(self.regressor).__name__
        raise InputError(
            f"a {name} cannot be kept in a model file: that would be a pickle, which runs code when it is "
            "loaded; keep it as its own library says, or take a linear regressor or one of LightGBM"
        )

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.regressor, self.n_features, self.feature_names, self.about)

    def __repr__(self) -> str:
        return f"ForeignModel({self.n_features:,} features, {self.regressor!r:.60})"


def _csr(features: Any) -> Any:
    """Sparse rows as SciPy has them."""
    from rankloom.data.sparse import as_csr_array

    return as_csr_array(features)
