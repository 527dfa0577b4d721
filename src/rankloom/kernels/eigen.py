"""Eigenvalues and eigenvectors of a small symmetric matrix, by Jacobi's rotations.

    A <- J' A J, J turning two axes so that what A has between them becomes 0, for all pairs, until what is
    off the diagonal is nothing beside it (Golub & Van Loan, Matrix Computations, 8.5)

The same bits wherever it runs. LAPACK's depend on its threads, which also cost more than they bring at this
size.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rankloom.kernels.compile import kernel

SWEEPS = 30
ENOUGH = 1e-28  # the squares off the diagonal, beside all squares


@kernel(allocates=False)
def diagonalise(A: NDArray[np.float64], turns: NDArray[np.float64]) -> None:
    """Make A diagonal; the rows of `turns` become its eigenvectors, in no order."""
    n = len(A)
    for i in range(n):
        for j in range(n):
            turns[i, j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        off, whole = 0.0, 0.0
        for i in range(n):
            for j in range(n):
                whole += A[i, j] * A[i, j]
                if i != j:
                    off += A[i, j] * A[i, j]
        if off <= ENOUGH * whole:
            return
        for p in range(n - 1):
            for q in range(p + 1, n):
                if A[p, q] == 0.0:
                    continue
                theta = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = (1.0 if theta >= 0.0 else -1.0) / (abs(theta) + np.sqrt(theta * theta + 1.0))
                c = 1.0 / np.sqrt(t * t + 1.0)
                s = t * c
                for k in range(n):
                    left, right = A[k, p], A[k, q]
                    A[k, p], A[k, q] = c * left - s * right, s * left + c * right
                for k in range(n):
                    left, right = A[p, k], A[q, k]
                    A[p, k], A[q, k] = c * left - s * right, s * left + c * right
                    left, right = turns[p, k], turns[q, k]
                    turns[p, k], turns[q, k] = c * left - s * right, s * left + c * right
