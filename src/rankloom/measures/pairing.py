"""Two systems' values query by query: checked, cleaned, and without the queries that cannot be compared."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankloom.errors import InputError
from rankloom.measures.significance import differences

Values = NDArray[np.float64]

_LARGEST = 1e100  # beyond, sums and squares of values may be no numbers any more


class Pair(NamedTuple):
    """Both systems' values, their clean differences, and weights (the greatest is 1) unless all are equal."""

    a: Values
    b: Values
    difference: Values
    weights: Values | None
    n_skipped: int


def pair_up(a: Any, b: Any, weights: Any, names: tuple[str, str]) -> Pair:
    """Pair two arrays; queries where either value is NaN, or the weight is 0, are left out and counted."""
    first, second = (_values(values, f"values of {name}") for values, name in zip((a, b), names, strict=True))
    if len(first) != len(second):
        raise InputError(
            "values must be of the same queries, got "
            f"{len(first)} for {names[0]} and {len(second)} for {names[1]}"
        )
    weight = None if weights is None else _weights(weights, len(first))
    kept = ~(np.isnan(first) | np.isnan(second))
    if weight is not None:
        kept &= weight > 0
        weight = _scaled(weight[kept])
    first, second = first[kept], second[kept]
    return Pair(first, second, differences(first, second), weight, int(len(kept) - kept.sum()))


def _values(given: Any, what: str) -> Values:
    try:
        values = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be numbers, one a query: {error}") from error
    if values.ndim != 1:
        raise InputError(f"{what} must be one a query, got an array of {values.ndim} dimensions")
    wrong = np.flatnonzero(np.abs(values) > _LARGEST)
    if len(wrong):
        raise InputError(
            f"{what} must be finite and below 1e100 (NaN where a query has none), got {values[wrong[0]]} at "
            f"position {wrong[0]}"
        )
    return values


def _weights(given: Any, n_queries: int) -> Values:
    weights = _values(given, "query weights")
    if len(weights) != n_queries:
        raise InputError(f"query weights must be one a query: {n_queries}, got {len(weights)}")
    if n_queries and not weights.any():
        raise InputError("query weights must not all be 0")
    wrong = np.flatnonzero(~(weights >= 0))
    if len(wrong):
        raise InputError(f"query weights must be 0 or more, got {weights[wrong[0]]} at position {wrong[0]}")
    return weights


def _scaled(weights: Values) -> Values | None:
    """Weights over the greatest of them; None where all are equal, since then there is nothing to weigh."""
    if not len(weights) or weights.min() == weights.max():
        return None
    scaled: Values = weights / weights.max()
    return scaled
