"""A ranker with a closed form: ridge regression on labels, centred within each query."""

from __future__ import annotations

import numpy as np

from rankloom.data.ranking_data import RankingData
from rankloom.models.linear import LinearModel
from rankloom.rankers.base import Ranker


class Toy(Ranker):
    """Least squares on what is left of features and labels without their query's (weighted) mean."""

    def __init__(self, lam: float = 1.0, measure: str = "ndcg@10") -> None:
        self.lam = lam
        self.measure = measure

    def _fit(self, data: RankingData) -> LinearModel:
        X = data.X.toarray() if data.is_sparse else data.X
        X, y = X.astype(np.float64), np.asarray(data.y)
        weights = np.ones(data.n_rows) if data.weights is None else data.weights
        for start, stop in zip(data.offsets[:-1], data.offsets[1:], strict=True):
            share = weights[start:stop] / max(weights[start:stop].sum(), 1e-300)
            X[start:stop] -= share @ X[start:stop]
            y = np.concatenate((y[:start], y[start:stop] - share @ y[start:stop], y[stop:]))
        square = (X.T * weights) @ X + self.lam * np.eye(data.n_features)
        return LinearModel(np.linalg.solve(square, (X.T * weights) @ y), feature_names=data.feature_names)
