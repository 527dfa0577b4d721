"""Jacobi's rotations beside LAPACK."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankloom.kernels.eigen import diagonalise


@pytest.mark.jit_free
@pytest.mark.bounds
@given(st.integers(1, 9), st.integers(0, 10**6), st.sampled_from([1e-12, 1.0, 1e12]))
def test_eigenvalues_and_vectors(n: int, seed: int, size: float) -> None:
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(n, int(rng.integers(1, n + 1)))) * rng.choice([0.0, 1.0, 1e-3], size=(n, 1))
    A = B @ B.T * size
    left, turns = A.copy(), np.empty((n, n))
    diagonalise(left, turns)
    np.testing.assert_allclose(turns @ turns.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose(
        turns.T @ np.diag(np.diag(left)) @ turns, A, atol=1e-12 * max(np.abs(A).max(), 1e-99)
    )
    wanted = np.linalg.eigvalsh(A)
    np.testing.assert_allclose(np.sort(np.diag(left)), wanted, atol=1e-12 * max(np.abs(wanted).max(), 1e-99))
