from __future__ import annotations

import numpy as np
import pytest

from rankloom.kernels import vectors
from rankloom.kernels.compile import kernel
from rankloom.kernels.simplex import solve_simplex


@kernel
def masked(masks, at, n, values, first, out):
    vectors.masked_sums(masks, np.uint64(at), np.uint64(n), values, np.uint64(first), out)


@kernel
def running(width, tile, values, items, digits):
    n, o, first = np.uint64(len(digits) - 1), np.uint64(2), np.uint64(1)
    if width == 8:
        vectors.running_sums_8(tile, n, values, o, items, digits, first)
    elif width == 16:
        vectors.running_sums_16(tile, n, values, o, items, digits, first)
    else:
        vectors.running_sums_32(tile, n, values, o, items, digits, first)


@kernel
def dots(four, values, listed, width, place, v, z):
    k, base = np.uint64(1), np.uint64(10)
    if four:
        vectors.dots_4(values, listed, k, np.uint64(width), place, base, v, z)
    else:
        vectors.dots_1(values, listed, k, np.uint64(width), place, base, v, z)


@kernel
def add(eight, values, listed, width, place, u, sums):
    k, base = np.uint64(1), np.uint64(10)
    if eight:
        vectors.add_8(values, listed, k, np.uint64(width), place, base, u, sums)
    else:
        vectors.add_1(values, listed, k, np.uint64(width), place, base, u, sums)


@pytest.mark.jit_free
@pytest.mark.parametrize("n", [2, 7, 31, 32])
def test_a_bit_says_whether_a_value_counts(n):
    draw = np.random.default_rng(0)
    masks, values, out = (
        draw.integers(0, 2**32, 40, dtype=np.uint32),
        draw.normal(size=34),
        draw.normal(size=36),
    )
    before = out.copy()
    masked(masks, 3, n, values, 2, out)
    assert out[[0, 1, 34, 35]].tolist() == before[[0, 1, 34, 35]].tolist()
    for c in range(32):
        wanted = before[2 + c] + sum(values[2 + j] for j in range(n) if (int(masks[3 + j]) >> c) & 1)
        assert out[2 + c] == pytest.approx(wanted)


@pytest.mark.jit_free
@pytest.mark.parametrize("width", [8, 16, 32])
def test_running_sums_are_of_digits_from_each_on(width):
    draw = np.random.default_rng(0)
    tile, values = np.zeros(5 * width), draw.normal(size=9)
    tile[:width] = before = draw.normal(size=width)
    items = np.array([5, 6, 0, 3, 4], dtype=np.uint32)
    digits = np.array([1, 0, width - 1, 3, 3], dtype=np.uint8)
    running(width, tile, values, items, digits)
    for row in range(5):
        for c in range(width):
            wanted = before[c] + sum(values[2 + items[1 + r]] for r in range(row) if digits[1 + r] >= c)
            assert tile[row * width + c] == pytest.approx(wanted)


@pytest.mark.jit_free
@pytest.mark.parametrize("width", [8, 9, 15, 16, 46])
def test_rows_times_a_vector_and_added_up(width):
    """X has no value beyond its last, v and the sums are packed: all columns count once."""
    draw = np.random.default_rng(width)
    X = draw.normal(size=(12, width)).astype(np.float32)
    listed = np.array([0, 11, 2, 3, 5, 6, 1, 9, 10], dtype=np.uint32)
    place = (10 + draw.permutation(12)).astype(np.uint32)
    columns, size = vectors.packed_places(width), vectors.packed_size(width)
    v, u, packed = draw.normal(size=width), draw.normal(size=12), np.zeros(size)
    packed[columns] = v
    for many, count in ((False, 1), (True, 4)):
        z = np.full(12, np.nan)
        dots(many, X.reshape(-1), listed, width, place, packed, z)
        rows = listed[1 : 1 + count]
        assert z[place[rows] - 10] == pytest.approx(X[rows] @ v)
        assert np.isnan(z).sum() == 12 - count
    for many, count in ((False, 1), (True, 8)):
        before = draw.normal(size=size)
        sums = before.copy()
        add(many, X.reshape(-1), listed, width, place, u, sums)
        rows = listed[1 : 1 + count]
        assert sums[columns] == pytest.approx(before[columns] + u[place[rows] - 10] @ X[rows])


@pytest.mark.parametrize("width", [1, 7, 8, 9, 46])
def test_every_column_has_its_place_in_a_packed_vector(width):
    places = vectors.packed_places(width)
    assert len(set(places.tolist())) == width
    assert places.max() < vectors.packed_size(width)


@pytest.mark.jit_free
def test_the_least_of_a_square_over_a_simplex():
    """1/2 a.a - b.a with sum 1: b moved down until what is above 0 has sum 1."""
    a = np.array([0.0, 0.0, 1.0])
    left = solve_simplex(np.eye(3), np.array([1.0, 0.6, 0.1]), a, 1e-12, 1000)
    assert left <= 1e-12
    assert a.tolist() == pytest.approx([0.7, 0.3, 0.0])
