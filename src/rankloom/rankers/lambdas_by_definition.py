"""Lambdas of a measure that is any function of labels in ranked order: each pair is swapped and measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError


def fill_by_definition(
    lambdas: Any,
    measure: Callable[[NDArray[np.float64]], float],
    scores: NDArray[np.float64],
    first: int,
    last: int,
    found: Any,
) -> None:
    """Fill `found` for queries first..last, last excluded: n^2 calls of the measure for one of n rows."""
    offsets = lambdas.offsets
    for query in range(first, last):
        rows = slice(int(offsets[query]), int(offsets[query + 1]))
        parts = (lambdas.labels[rows], scores[rows], lambdas.weights[rows] * lambdas.query_weights[query])
        pull, bend = of_query(measure, *parts, lambdas.weights[rows], lambdas.sigma, lambdas.truncation)
        found.lambdas[rows], found.weights[rows] = pull, bend


def of_query(
    measure: Callable[[NDArray[np.float64]], float],
    labels: NDArray[np.float64],
    scores: NDArray[np.float64],
    own: NDArray[np.float64],
    other: NDArray[np.float64],
    sigma: float,
    truncation: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """One query's lambdas and weights; a pair weighs own[i] other[j]."""
    order = np.argsort(-scores, kind="stable")
    ranked = labels[order].copy()
    pull, bend = np.zeros(len(labels)), np.zeros(len(labels))
    value = _number(measure, ranked)
    for i in range(min(truncation, len(ranked))):
        for j in range(i + 1, len(ranked)):
            if ranked[i] == ranked[j]:
                continue
            ranked[i], ranked[j] = ranked[j], ranked[i]
            size = abs(_number(measure, ranked) - value)
            ranked[i], ranked[j] = ranked[j], ranked[i]
            better, worse = (order[i], order[j]) if ranked[i] > ranked[j] else (order[j], order[i])
            rho = 0.5 - 0.5 * np.tanh(0.5 * sigma * (scores[better] - scores[worse]))
            size *= own[better] * other[worse]
            pull[better] -= sigma * size * rho
            pull[worse] += sigma * size * rho
            bend[[better, worse]] += sigma * sigma * size * rho * (1.0 - rho)
    return pull, bend


def _number(measure: Callable[[NDArray[np.float64]], float], ranked: NDArray[np.float64]) -> float:
    try:
        value = float(measure(ranked.copy()))
    except (TypeError, ValueError) as error:
        raise InputError(f"a measure must return a number for labels in ranked order: {error}") from error
    if not np.isfinite(value):
        raise InputError(f"a measure must return a finite number, got {value} for labels {ranked[:10]}")
    return value
