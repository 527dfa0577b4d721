from __future__ import annotations

import numpy as np
import pytest

from rankloom.kernels import vectors
from rankloom.kernels.compile import kernel
from rankloom.kernels.simplex import solve_simplex


@kernel
def masked(masks, at, values, out):
    vectors.masked_sums(masks, np.uint64(at), values, out)


@kernel
def running(width, tile, values, digits):
    zero = np.uint64(0)
    if width == 8:
        vectors.running_sums_8(tile, zero, values, zero, digits, zero, vectors.STEP)
    elif width == 16:
        vectors.running_sums_16(tile, zero, values, zero, digits, zero, vectors.STEP)
    else:
        vectors.running_sums_32(tile, zero, values, zero, digits, zero, vectors.STEP)


@pytest.mark.jit_free
def test_a_bit_says_whether_a_value_counts():
    draw = np.random.default_rng(0)
    masks, values, out = draw.integers(0, 2**32, 40, dtype=np.uint32), draw.normal(size=32), np.empty(32)
    masked(masks, 3, values, out)
    for c in range(32):
        wanted = sum(values[j] for j in range(32) if (int(masks[3 + j]) >> c) & 1)
        assert out[c] == pytest.approx(wanted)


@pytest.mark.jit_free
@pytest.mark.parametrize("width", [8, 16, 32])
def test_running_sums_are_of_digits_from_each_on(width):
    draw = np.random.default_rng(0)
    tile, values = np.zeros(5 * width), draw.normal(size=4)
    tile[:width] = before = draw.normal(size=width)
    digits = np.array([0, width - 1, 3, 3], dtype=np.uint8)
    running(width, tile, values, digits)
    for row in range(5):
        for c in range(width):
            wanted = before[c] + sum(values[r] for r in range(row) if digits[r] >= c)
            assert tile[row * width + c] == pytest.approx(wanted)


@pytest.mark.jit_free
def test_the_least_of_a_square_over_a_simplex():
    """1/2 a.a - b.a with sum 1: b moved down until what is above 0 has sum 1."""
    a = np.array([0.0, 0.0, 1.0])
    left = solve_simplex(np.eye(3), np.array([1.0, 0.6, 0.1]), a, 1e-12, 1000)
    assert left <= 1e-12
    assert a.tolist() == pytest.approx([0.7, 0.3, 0.0])
