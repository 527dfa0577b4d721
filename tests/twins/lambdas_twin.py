"""Lambdas the slow and obvious way: sort, swap every pair, measure again, add up."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from twins import measures_twin


def measured(name: str, **told: Any) -> Callable[[list[float]], float]:
    """A measure of labels in ranked order; 0 where it is not defined."""
    how = {**measures_twin.USUAL, **told}
    return lambda ranked: measures_twin.of_list(name, list(ranked), how) or 0.0


def lambdas(
    labels: Any,
    scores: Any,
    measure: Callable[[list[float]], float] | None,
    *,
    sigma: float = 1.0,
    truncation: int | None = None,
    weights: Any = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Gradient of the cost and w of one query; `measure` None is RankNet."""
    n = len(labels)
    weights = [1.0] * n if weights is None else weights
    order = sorted(range(n), key=lambda row: (-scores[row], row))
    ranked = [labels[row] for row in order]
    pull, bend = np.zeros(n), np.zeros(n)
    for i in range(n):
        for j in range(i + 1, n):
            if ranked[i] == ranked[j] or (truncation is not None and i >= truncation):
                continue
            swapped = list(ranked)
            swapped[i], swapped[j] = ranked[j], ranked[i]
            size = 1.0 if measure is None else abs(measure(swapped) - measure(ranked))
            better, worse = (order[i], order[j]) if ranked[i] > ranked[j] else (order[j], order[i])
            size *= weights[better] * weights[worse]
            rho = 1.0 / (1.0 + math.exp(sigma * (scores[better] - scores[worse])))
            pull[better] -= sigma * size * rho
            pull[worse] += sigma * size * rho
            bend[better] += sigma**2 * size * rho * (1.0 - rho)
            bend[worse] += sigma**2 * size * rho * (1.0 - rho)
    return pull, bend


def cost(
    labels: Any, scores: Any, measure: Callable[[list[float]], float] | None, order: Any, sigma: float
) -> float:
    """Sum of |delta Z| log(1 + e^(-sigma (s_better - s_worse))), the ranking held fixed."""
    ranked = [labels[row] for row in order]
    total = 0.0
    for i in range(len(ranked)):
        for j in range(i + 1, len(ranked)):
            if ranked[i] == ranked[j]:
                continue
            swapped = list(ranked)
            swapped[i], swapped[j] = ranked[j], ranked[i]
            size = 1.0 if measure is None else abs(measure(swapped) - measure(ranked))
            better, worse = (order[i], order[j]) if ranked[i] > ranked[j] else (order[j], order[i])
            total += size * np.logaddexp(0.0, -sigma * (scores[better] - scores[worse]))
    return float(total)
