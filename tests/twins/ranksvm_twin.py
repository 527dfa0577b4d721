"""RankSVM pair by pair: every pair of P written out, as the paper's A (Section 2.2)."""

from __future__ import annotations

from itertools import pairwise, product
from typing import Any, NamedTuple

import numpy as np

import rankloom as rl


class Twin(NamedTuple):
    """What the problem is at w, with v."""

    hinges: float
    squares: float
    hinge_gradient: Any
    gradient: Any
    product: Any


def pairs_of(data: rl.RankingData, adjacent: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Better row, worse row and weight of each pair, query by query."""
    y, rows = np.asarray(data.y), data.weights
    found = []
    for query, (start, stop) in enumerate(pairwise(data.offsets.tolist())):
        labels = sorted(set(y[start:stop].tolist()))
        share = 1.0 if data.query_weights is None else float(data.query_weights[query])
        for i, j in product(range(start, stop), repeat=2):
            apart = labels.index(y[i]) - labels.index(y[j])
            if apart == 1 or (apart > 1 and not adjacent):
                found.append((i, j, share * (1.0 if rows is None else rows[i] * rows[j])))
    better, worse, weights = (np.array(column) for column in zip(*found, strict=True))
    return better.astype(int), worse.astype(int), weights.astype(float)


def differences(data: rl.RankingData, adjacent: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """x_i - x_j of each pair, and its weight."""
    better, worse, weights = pairs_of(data, adjacent)
    X = (data.X.toarray() if data.is_sparse else np.asarray(data.X)).astype(float)
    return X[better] - X[worse], weights


def at(data: rl.RankingData, w: np.ndarray, v: np.ndarray, adjacent: bool = False) -> Twin:
    """Losses, gradients and the Hessian of the squares times v."""
    D, c = differences(data, adjacent)
    margin = 1.0 - D @ w
    on, hinge = margin > 0.0, np.maximum(margin, 0.0)
    return Twin(
        float(c @ hinge),
        float(c @ hinge**2),
        -D.T @ (c * on),
        -2.0 * D.T @ (c * hinge),
        2.0 * D.T @ (c * on * (D @ v)),
    )
