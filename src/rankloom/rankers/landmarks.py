"""Similarity to landmarks as features (Balcan & Blum 2006; Sculley 2010, Section 3.3).

    phi(x) = (k(x, x_1), ..., k(x, x_n)) / sqrt(n)          x_1 .. x_n rows of the training data, at random

A linear ranker on phi(x) is a non-linear one on x. The division keeps |phi(x)| <= 1 where |k| <= 1, so that
steps are as large as they are on features of that size, whatever n is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted, validate_data

from rankloom.errors import InputError
from rankloom.rankers.checks import number, one_of, whole

KERNELS = ("rbf", "laplacian", "polynomial", "sigmoid", "cosine", "linear")
_WITH_GAMMA = ("rbf", "laplacian", "polynomial", "sigmoid")
_CELLS_PER_BLOCK = 1 << 22


class Landmarks(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Features that say how similar a row is to each of `n` rows of the training data.

    Args:
        kernel: "rbf", "laplacian", "polynomial", "sigmoid", "cosine", "linear", or a function of two rows.
        n: how many landmarks; all rows where there are fewer.
        gamma: of rbf, laplacian, polynomial and sigmoid; None is 1 / (features x variance of X).
        degree: of the polynomial.
        coef0: of polynomial and sigmoid.
        seed: the same seed and data give the same landmarks.

    Attributes:
        landmarks_: the rows chosen.
        gamma_: the gamma in use.
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], float] = "rbf",
        n: int = 100,
        *,
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1.0,
        seed: int = 0,
    ) -> None:
        self.kernel, self.n, self.gamma = kernel, n, gamma
        self.degree, self.coef0, self.seed = degree, coef0, seed

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Choose the landmarks; labels are not looked at."""
        if not callable(self.kernel):
            one_of("kernel", self.kernel, KERNELS)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64)
        rows = X.shape[0]
        random = np.random.default_rng(whole("seed", self.seed, 0))
        chosen = np.sort(random.choice(rows, size=min(whole("n", self.n, 1), rows), replace=False))
        self.landmarks_ = X[chosen]
        self.gamma_ = _usual_gamma(X) if self.gamma is None else number("gamma", self.gamma, 0.0)
        return self

    def transform(self, X: Any) -> NDArray[np.float32]:
        """The similarity of each row to each landmark, divided by the square root of their number."""
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        n = self.landmarks_.shape[0]
        similar = np.empty((X.shape[0], n), dtype=np.float32)
        step = max(1, _CELLS_PER_BLOCK // max(n, X.shape[1]))
        for start in range(0, X.shape[0], step):
            block = self._similarity(X[start : start + step])
            similar[start : start + step] = block / np.sqrt(n)
        if not np.isfinite(similar).all():
            raise InputError(
                "the kernel gave values that are no float32 numbers; scale X, or take a smaller gamma"
            )
        return similar

    def _similarity(self, X: Any) -> NDArray[np.float64]:
        options: dict[str, Any] = {}
        if self.kernel in _WITH_GAMMA:
            options["gamma"] = self.gamma_
        if self.kernel in ("polynomial", "sigmoid"):
            options["coef0"] = self.coef0
        if self.kernel == "polynomial":
            options["degree"] = self.degree
        found: NDArray[np.float64] = pairwise_kernels(X, self.landmarks_, metric=self.kernel, **options)
        return found

    @property
    def _n_features_out(self) -> int:
        return int(self.landmarks_.shape[0])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float32"]
        return tags


def _usual_gamma(X: Any) -> float:
    """1 / (features x variance of all entries)."""
    mean = float(X.mean())
    square = float(X.multiply(X).mean()) if hasattr(X, "multiply") else float((X * X).mean())
    variance = max(square - mean * mean, 0.0)
    return 1.0 / (X.shape[1] * variance) if variance > 0.0 else 1.0
