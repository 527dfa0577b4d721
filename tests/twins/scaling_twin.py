"""Every scaling the slow and obvious way: one column of one query at a time, in Python's own numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np


def scaled_column(kind: str, column: Sequence[float]) -> list[float]:
    """One column over the rows that share a scale."""
    n = len(column)
    if not n:
        return []
    low, high, mean = min(column), max(column), math.fsum(column) / n
    deviation = math.sqrt(math.fsum((x - mean) ** 2 for x in column) / n)
    largest = max(abs(x) for x in column)
    flat = low == high
    if kind == "minmax":
        return [0.0 if flat else (x - low) / (high - low) for x in column]
    if kind == "standard":
        return [0.0 if flat else (x - mean) / deviation for x in column]
    if kind == "deviation":
        return [0.0 if flat else x / deviation for x in column]
    if kind == "maxabs":
        return [0.0 if not largest else x / largest for x in column]
    shares = ((sum(o < x for o in column) + (sum(o == x for o in column) - 1) / 2) / (n - 1) for x in column)
    return [0.0] * n if flat else list(shares)


def scaled_table(kind: str, table: np.ndarray, offsets: Sequence[int]) -> np.ndarray:
    """Each query on its own scale."""
    result = np.zeros(table.shape)
    for start, stop in itertools.pairwise(offsets):
        for column in range(table.shape[1]):
            result[start:stop, column] = scaled_column(kind, table[start:stop, column].tolist())
    return result
