"""The fast flips and resamples against one number after the other."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankloom.kernels.compile import as_kernel
from rankloom.kernels.resampling import count_extreme_flips, resampled_means
from twins import resampling_twin as twin

pytestmark = [pytest.mark.jit_free, pytest.mark.bounds]

SEEDS = st.integers(0, 2**64 - 1)
WHOLE = st.lists(st.integers(-50, 50), min_size=1, max_size=140)  # sums of these have no rounding
NO_WEIGHTS = np.zeros(0)


def floats(values: list[int] | list[float]) -> np.ndarray:
    return as_kernel(values, np.float64)


def means_of(values: np.ndarray, weights: np.ndarray, seed: int, first: int, last: int) -> list[float]:
    means = np.full(last, np.nan)
    resampled_means(values, weights, np.uint64(seed), first, last, means)
    assert np.isnan(means[:first]).all()
    return means[first:].tolist()


@settings(max_examples=40)
@given(WHOLE, SEEDS, st.integers(0, 5), st.integers(0, 6), st.integers(0, 200))
def test_flips_are_the_twins(values: list[int], seed: int, first: int, more: int, least: int) -> None:
    counted = count_extreme_flips(floats(values), np.uint64(seed), first, first + more, float(least))
    sums = [twin.flip_sum(values, seed, flip) for flip in range(first, first + more)]
    assert counted == sum(abs(total) >= least for total in sums)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 63, 64, 65, 128, 129])
def test_every_value_has_its_own_sign(n: int) -> None:
    """Powers of two: a sum is that far from 0 only if each value kept or lost its sign as the twin says."""
    for start in range(0, n, 50):
        values = [0.0] * n
        for place in range(start, min(start + 50, n)):
            values[place] = 2.0 ** (place - start)
        size = abs(twin.flip_sum(values, 99, 3))
        for least, expected in ((size, 1), (math.nextafter(size, math.inf), 0)):
            assert count_extreme_flips(floats(values), np.uint64(99), 3, 4, least) == expected


@settings(max_examples=40)
@given(WHOLE, SEEDS, st.integers(0, 5), st.integers(0, 4))
def test_resamples_are_the_twins(values: list[int], seed: int, first: int, more: int) -> None:
    means = means_of(floats(values), NO_WEIGHTS, seed, first, first + more)
    assert means == [twin.resampled_mean(values, [], seed, r) for r in range(first, first + more)]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 9)), min_size=1, max_size=60), SEEDS)
def test_weighted_resamples_are_the_twins(pairs: list[tuple[int, int]], seed: int) -> None:
    values, weights = [d * w for d, w in pairs], [w for _, w in pairs]
    means = means_of(floats(values), floats(weights), seed, 2, 5)
    assert means == [twin.resampled_mean(values, weights, seed, r) for r in range(2, 5)]


def test_resamples_draw_every_query_alike() -> None:
    """1,000 resamples of 10: each query is drawn about 1,000 times (deviation 30)."""
    counts = np.bincount([i for r in range(1000) for i in twin.resample(10, 5, r)], minlength=10)
    assert counts.sum() == 10_000
    assert np.abs(counts - 1000).max() < 120


def test_compiled_once() -> None:
    count_extreme_flips(floats([1.0]), np.uint64(0), 0, 1, 0.0)
    means_of(floats([1.0, 2.0]), NO_WEIGHTS, 0, 0, 1)
    for function in (count_extreme_flips, resampled_means):
        assert len(getattr(function, "signatures", [()])) == 1
