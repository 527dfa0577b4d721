"""Scores of a linear model, one sum per row; and the way back, from a number per row to one per feature.

    dense    score(i) = bias + sum over j of weights[j] x[i, j]
    sparse   the same over the stored values of row i

Values are float32, weights and sums float64. A row's score depends on nothing but the row: not on its
neighbours, nor on how rows are cut into blocks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel


@kernel(fast_sums=True, allocates=False)
def score_dense(
    X: NDArray[np.float32], weights: NDArray[np.float64], bias: float, scores: NDArray[np.float64]
) -> None:
    """Write the score of every row of X to `scores`."""
    for row in range(np.uint64(X.shape[0])):
        total = 0.0
        for column in range(np.uint64(X.shape[1])):
            total += weights[column] * X[row, column]
        scores[row] = total + bias


@kernel(fast_sums=True, allocates=False)
def score_sparse(
    values: NDArray[np.float32],
    columns: NDArray[np.uint32],
    row_offsets: NDArray[np.int64],
    weights: NDArray[np.float64],
    bias: float,
    scores: NDArray[np.float64],
) -> None:
    """Write the score of every row to `scores`; row i is values[row_offsets[i]:row_offsets[i+1]]."""
    for row in range(len(scores)):
        total = 0.0
        for entry in range(np.uint64(row_offsets[row]), np.uint64(row_offsets[row + 1])):
            total += weights[columns[entry]] * values[entry]
        scores[row] = total + bias


@kernel(fast_sums=True, allocates=False)
def add_dense(X: NDArray[np.float32], pulls: NDArray[np.float32], total: NDArray[np.float64]) -> None:
    """total += sum over rows of pull x row, in double precision."""
    for row in range(np.uint64(X.shape[0])):
        pull = np.float64(pulls[row])
        if pull != 0.0:
            for column in range(np.uint64(X.shape[1])):
                total[column] += pull * X[row, column]


@kernel(allocates=False)
def add_sparse(
    values: NDArray[np.float32],
    columns: NDArray[np.uint32],
    row_offsets: NDArray[np.int64],
    pulls: NDArray[np.float32],
    total: NDArray[np.float64],
) -> None:
    """As `add_dense`; row i is values[row_offsets[i]:row_offsets[i+1]]."""
    for row in range(len(pulls)):
        pull = np.float64(pulls[row])
        for entry in range(np.uint64(row_offsets[row]), np.uint64(row_offsets[row + 1])):
            total[columns[entry]] += pull * values[entry]


@kernel(fast_sums=True, allocates=False)
def dot(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """a . b in this thread: a linear algebra library may wake others, which spin on after it."""
    total = 0.0
    for j in range(np.uint64(len(a))):
        total += a[j] * b[j]
    return total
