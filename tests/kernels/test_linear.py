"""Scores of a linear model: against NumPy and SciPy, row by row, and the same bits however rows are cut."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from rankloom.kernels.compile import as_kernel
from rankloom.kernels.linear import score_dense, score_sparse


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, float]:
    """A table with many zeros, weights and a bias."""
    seed, rows, width = draw(st.integers(0, 999)), draw(st.integers(0, 12)), draw(st.integers(0, 40))
    random = np.random.default_rng(seed)
    table = random.normal(size=(rows, width)).astype(np.float32)
    table[random.random(table.shape) < draw(st.sampled_from([0.0, 0.7, 1.0]))] = 0.0
    return table, random.normal(size=width), float(random.normal())


def dense(table: np.ndarray, weights: np.ndarray, bias: float) -> np.ndarray:
    scores = np.full(len(table), np.nan)
    score_dense(as_kernel(table, np.float32), as_kernel(weights, np.float64), bias, scores)
    return scores


def sparse(table: np.ndarray, weights: np.ndarray, bias: float) -> np.ndarray:
    rows = csr_array(table)
    scores = np.full(len(table), np.nan)
    parts = as_kernel(rows.data, np.float32), as_kernel(rows.indices, np.uint32)
    score_sparse(*parts, as_kernel(rows.indptr, np.int64), as_kernel(weights, np.float64), bias, scores)
    return scores


@pytest.mark.jit_free
@pytest.mark.bounds
@given(problems())
@settings(max_examples=60)
def test_scores_are_numpys_product(problem):
    table, weights, bias = problem
    exact = table.astype(np.float64) @ weights + bias
    np.testing.assert_allclose(dense(table, weights, bias), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(sparse(table, weights, bias), exact, rtol=1e-12, atol=1e-12)


@given(problems())
@settings(max_examples=30)
def test_a_row_alone_has_the_same_bits_as_among_others(problem):
    table, weights, bias = problem
    for score in (dense, sparse):
        together = score(table, weights, bias)
        alone = [score(table[row : row + 1], weights, bias)[0] for row in range(len(table))]
        assert together.tolist() == alone


def test_float32_values_are_summed_in_float64():
    """16,777,217 is the first whole number that float32 lacks."""
    table = np.array([[16_777_216.0, 1.0]], dtype=np.float32)
    assert dense(table, np.ones(2), 0.25)[0] == sparse(table, np.ones(2), 0.25)[0] == 16_777_217.25
