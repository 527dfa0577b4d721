"""What every model can do, whatever kind it is: what rankers, the command line and other models count on."""

from __future__ import annotations

import os
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from rankloom.models.files import Content


class Model(Protocol):
    """What was learned. Immutable, and knows nothing of how it was learned."""

    @property
    def n_features(self) -> int:
        """How many features the model has."""

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """One name per feature, or None."""

    @property
    def needs_queries(self) -> bool:
        """Whether a row's score depends on the other rows of its query, so that X must be a RankingData."""

    @property
    def about(self) -> dict[str, Any]:
        """The facts kept with the model, as a new copy."""

    def with_about(self, **facts: Any) -> Self:
        """The same model with these facts added to, or in place of, those it has."""

    def decision_function(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The score of each row of X, in the caller's order; the same bits for any number of threads."""

    def predict(self, X: Any, threads: int | None = None) -> NDArray[np.float64]:
        """The value of each row."""

    def values_of(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """What `predict` makes of scores."""

    def content(self) -> Content:
        """What the model's file holds; `from_content` of its class is the way back."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, whole or not at all; `rankloom.load` reads it."""
